package dynamo_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/internal/wiretest"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// fixture is a table of its own on the engine.
type fixture struct {
	endpoint string
	name     string
	client   *dynamodb.Client
	store    *dynamo.Store
	guard    *wiretest.Guard
}

func setup(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{
		endpoint: enginetest.Start(t), name: enginetest.TableName(t),
		guard: wiretest.NewGuard(t, nil, service()).Also(complete),
	}
	b.client = client(b.endpoint, enginetest.Transport())
	schema := table.ProductSchema()
	schema.Name = b.name
	_, err := b.client.CreateTable(t.Context(), dynamo.CreateInput(schema))
	require.NoError(t, err)
	_, err = b.client.UpdateTimeToLive(t.Context(), dynamo.TTLInput(schema))
	require.NoError(t, err)
	b.store = b.through(enginetest.Transport())
	return b
}

// through is a store on the same table with a transport of its own, behind a guard.
func (b *fixture) through(transport http.RoundTripper) *dynamo.Store {
	return dynamo.New(client(b.endpoint, b.guard.Transport(transport)), dynamo.WithTable(b.name))
}

// row returns the row at the key, or nil.
func (b *fixture) row(t *testing.T, n int) item.Item {
	t.Helper()
	it, err := b.store.Get(t.Context(), rowKey(n))
	if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	require.NoError(t, err)
	return it
}

func TestCreateInput_createsTheTableOfTheSchema(t *testing.T) {
	t.Parallel()
	b := setup(t)
	out, err := b.client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &b.name})
	require.NoError(t, err)
	require.Equal(t, types.StreamViewTypeNewAndOldImages, out.Table.StreamSpecification.StreamViewType)
	require.Len(t, out.Table.AttributeDefinitions, 10)
	projections := map[string]types.ProjectionType{}
	for _, index := range out.Table.GlobalSecondaryIndexes {
		projections[*index.IndexName] = index.Projection.ProjectionType
	}
	require.Equal(t, map[string]types.ProjectionType{
		"GSI1-YearView": "ALL", "GSI2-RecurrenceLookup": "ALL", "GSI3-TaskStatus": "ALL", "GSI4-CrossLinks": "KEYS_ONLY",
	}, projections)
	ttl, err := b.client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &b.name})
	require.NoError(t, err)
	require.Equal(t, "ttl", *ttl.TimeToLiveDescription.AttributeName)
}

func TestStore_hasAnErrorForAMissingTable(t *testing.T) {
	t.Parallel()
	store := dynamo.New(client(enginetest.Start(t), nil), dynamo.WithTable(enginetest.TableName(t)))
	_, err := store.Get(t.Context(), rowKey(1))
	requireOnly(t, dynamo.ErrNoTable, err)
}

func TestStore_returnsARowAsItWasWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		it := item.Item(rapid.MapOfN(rapid.StringN(1, 20, 60), valueOf(3), 0, 6).Draw(r, "row"))
		it[item.AttrPK], it[item.AttrSK] = item.String("p"), item.String("s")
		require.NoError(r, b.store.Put(t.Context(), table.Put{Item: it}))
		back, err := b.store.Get(t.Context(), it.Key())
		require.NoError(r, err)
		require.True(r, it.Equal(back), "wrote %v, read %v", it, back)
	})
}

func TestRepeated_recognisesAnyRowWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	attributes := rapid.MapOfN(rapid.StringN(1, 20, 60), valueOf(2), 0, 8)
	for seed := range 30 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			it := item.Item(attributes.Example(seed))
			it[item.AttrPK], it[item.AttrSK] = item.String("p"), item.String(fmt.Sprint(seed))
			store := b.through(losing(1, nil))
			require.NoError(t, store.Put(t.Context(), table.Put{Item: it, If: table.NotExists()}))
		})
	}
}

// valueOf draws any value that the service takes, nested to the depth.
func valueOf(depth int) *rapid.Generator[item.Value] {
	text := rapid.StringN(0, 20, 60)
	number := rapid.Map(rapid.Int64(), func(n int64) string { return string(item.Int(n)) })
	blob := rapid.SliceOfN(rapid.Byte(), 1, 20)
	kinds := []*rapid.Generator[item.Value]{
		rapid.Map(text, func(s string) item.Value { return item.String(s) }),
		rapid.Map(number, func(s string) item.Value { return item.Number(s) }),
		rapid.Map(rapid.Bool(), func(b bool) item.Value { return item.Bool(b) }),
		rapid.Just[item.Value](item.Null{}),
		rapid.Map(rapid.SliceOfNDistinct(rapid.StringN(1, 20, 60), 1, 5, rapid.ID[string]),
			func(s []string) item.Value { return item.StringSet(s) }),
		rapid.Map(rapid.SliceOfNDistinct(number, 1, 5, rapid.ID[string]),
			func(s []string) item.Value { return item.NumberSet(s) }),
		rapid.Map(blob, func(b []byte) item.Value { return item.Binary(b) }),
		rapid.Map(blob, func(b []byte) item.Value { return item.BinarySet{b} }),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(valueOf(depth-1), 0, 4), func(l []item.Value) item.Value { return item.List(l) }),
			rapid.Map(rapid.MapOfN(text.Filter(func(s string) bool { return s != "" }), valueOf(depth-1), 0, 4),
				func(m map[string]item.Value) item.Value { return item.Map(m) }))
	}
	return rapid.OneOf(kinds...)
}

func TestQuery_endsAPageAtOneMegabyteAndGoesOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var big []item.Item
	for n := range 30 {
		big = append(big, row(n, strings.Repeat("x", 100_000)))
	}
	require.NoError(t, b.store.Load(t.Context(), big))
	q := table.Query{Partition: rowKey(0).PK}
	n, err := b.store.Count(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, 30, n)
	var read []item.Item
	pages := 0
	for {
		page, err := b.store.Query(t.Context(), q)
		require.NoError(t, err)
		read = append(read, page.Items...)
		pages++
		if len(page.Next) == 0 {
			break
		}
		q.Start = page.Next
	}
	require.Len(t, read, 30)
	require.GreaterOrEqual(t, pages, 3)
	require.True(t, slices.IsSortedFunc(read, func(a, b item.Item) int {
		return strings.Compare(a.Key().SK, b.Key().SK)
	}))
}

func TestPut_refusesARowThatIsTooLarge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.guard.RefuseViolations()
	huge := table.Put{Item: row(1, strings.Repeat("x", 500_000))}
	requireOnly(t, table.ErrInvalid, b.store.Put(t.Context(), huge))
	requireOnly(t, table.ErrInvalid, b.store.Transact(t.Context(), huge, table.Check{Key: rowKey(2)}))
	requireOnly(t, table.ErrInvalid, b.store.Load(t.Context(), []item.Item{huge.Item}))
}

func TestWalker_coversTheWholeTableInSegments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.store.Load(t.Context(), rows(70)))
	walker := dynamo.NewWalker(b.client, dynamo.WithTable(b.name))
	seen := map[item.Key]int{}
	for segment := range 3 {
		require.NoError(t, walker.Walk(t.Context(), segment, 3, func(it item.Item) error {
			seen[it.Key()]++
			return nil
		}))
	}
	require.Len(t, seen, 70)
	for key, times := range seen {
		require.Equal(t, 1, times, key)
	}
	stop := errors.New("stop")
	calls := 0
	err := walker.Walk(t.Context(), 0, 1, func(item.Item) error { calls++; return stop })
	require.ErrorIs(t, err, stop)
	require.Equal(t, 1, calls)
	require.ErrorIs(t, walker.Walk(t.Context(), 3, 3, nil), table.ErrInvalid)
	require.ErrorIs(t, walker.Walk(t.Context(), 0, 0, nil), table.ErrInvalid)
	require.ErrorIs(t, walker.Walk(t.Context(), 0, 1_000_001, nil), table.ErrInvalid)
}

func TestWithObserver_reportsWhatEachIndexConsumed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var mu sync.Mutex
	var seen []table.Consumption
	store := dynamo.New(b.client, dynamo.WithTable(b.name), dynamo.WithObserver(func(u table.Consumption) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, u)
	}))
	it := row(1, "x")
	it[item.AttrGSI1PK], it[item.AttrGSI1SK] = item.String("p"), item.String("s")
	require.NoError(t, store.Put(t.Context(), table.Put{Item: it}))
	_, err := store.Get(t.Context(), rowKey(1))
	require.NoError(t, err)
	require.Equal(t, []table.Consumption{
		{Op: "Put", Rows: 1, WriteUnits: 2, IndexWriteUnits: map[table.Index]float64{table.YearView: 1}},
		{Op: "Get", Rows: 1, ReadUnits: 1},
	}, seen)
}

func TestStore_letsOneOfManyWritersAtOneVersionWin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.store.Put(t.Context(), table.Put{Item: versioned(1, 1)}))
	const writers = 8
	results := make([]error, writers)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			_, results[i] = b.store.Update(t.Context(), table.Update{
				Key: rowKey(1), Set: item.Item{entity.AttrVersion: item.Int(2)}, If: table.AtVersion(1),
			})
		})
	}
	group.Wait()
	won := 0
	for _, err := range results {
		var failed *table.ConditionError
		if err == nil {
			won++
		} else {
			require.ErrorAs(t, err, &failed)
		}
	}
	require.Equal(t, 1, won)
}
