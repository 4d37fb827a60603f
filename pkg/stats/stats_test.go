package stats_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table/memory"
)

const user = "ann"

var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

// fixture is the projection on a store of its own.
type fixture struct {
	*testing.T
	store    *memory.Store
	consumer change.Consumer
}

func setup(t *testing.T) *fixture {
	clock := func() time.Time { return noon }
	b := &fixture{T: t, store: memory.New(clock, memory.Options{})}
	b.consumer = projection.NewConsumer(stats.Projection(), b.store, clock)
	return b
}

func someItem(t *testing.T, typ *entity.Type, id, fields string) item.Item {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(fields))
	d.UseNumber()
	doc := map[string]any{}
	require.NoError(t, d.Decode(&doc))
	parsed, errs := typ.Parse(doc)
	require.Empty(t, errs)
	merged, errs := typ.Merge(nil, parsed)
	require.Empty(t, errs)
	it := typ.NewItem(user, id, merged, noon, nil)
	require.Empty(t, typ.Validate(it))
	return it
}

// apply hands over a change that was just made.
func (b *fixture) apply(typ *entity.Type, before, after item.Item) {
	b.Helper()
	c := change.Change{Kind: change.Modified, Type: typ, User: user, Old: before, New: after, Created: noon}
	it := after
	switch {
	case before == nil:
		c.Kind = change.Inserted
	case after == nil:
		c.Kind, it = change.Removed, before
		c.Version = 1
	}
	c.Key, c.Ref, c.Version = it.Key(), typ.Ref(it), c.Version+it.Int(entity.AttrVersion)
	for _, o := range b.consumer.Apply(context.Background(), []change.Change{c}) {
		require.NoError(b, o.Err)
	}
}

// open is where the item stands among those that the clock moves.
func (b *fixture) open(id string) string {
	b.Helper()
	row, err := b.store.Get(b.Context(), entity.LedgerKey(user, stats.Name, id))
	require.NoError(b, err)
	return row.Str(item.AttrGSI3SK)
}

func (b *fixture) totals() item.Item {
	b.Helper()
	meta, err := b.store.Get(b.Context(), entity.MetaKey(user))
	require.NoError(b, err)
	return meta.Map(product.AttrStats)
}

func TestStats_countASeriesOnceUntilItsLastOccurrenceStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, open string }{
		"without end": {`"startUtc":"2025-01-06T14:00:00Z","startTzid":"America/New_York","rrule":"FREQ=WEEKLY"`,
			"OPEN#EVENT#Z#9999-12-31T23:59:59Z"},
		"ending": {
			`"startUtc":"2025-01-06T14:00:00Z","startTzid":"America/New_York","rrule":"FREQ=WEEKLY;COUNT=20"`,
			"OPEN#EVENT#Z#2025-05-19T13:00:00Z"},
		"floating": {`"startUtc":"2025-01-06T09:00:00","rrule":"FREQ=WEEKLY;COUNT=20"`, "OPEN#EVENT#F#2025-05-19T09:00:00Z"},
		"floating, without end": {`"startUtc":"2025-01-06T09:00:00","rrule":"FREQ=WEEKLY"`,
			"OPEN#EVENT#F#9999-12-31T23:59:59Z"},
		"whole days": {`"isAllDay":true,"startDate":"2025-01-06","rrule":"FREQ=WEEKLY;COUNT=2"`,
			"OPEN#EVENT#F#2025-01-13T00:00:00Z"},
		"cancelled": {`"startUtc":"2025-01-06T14:00:00Z","startTzid":"UTC","rrule":"FREQ=WEEKLY","status":"CANCELLED"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			it := someItem(t, product.Master(), "mst_1", `{"title":"x",`+c.fields+`}`)
			b.apply(product.Master(), nil, it)
			require.Equal(t, c.open, b.open("mst_1"))
			require.Equal(t, int64(1), b.totals().Int("totalEvents"))
			require.Equal(t, item.FormatInstant(noon), b.totals().Str("lastEventCreated"))
		})
	}
}

func TestStats_countNoOccurrenceAsAnEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	master := someItem(t, product.Master(), "mst_1",
		`{"title":"x","startUtc":"2025-01-06T14:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY"}`)
	b.apply(product.Master(), nil, master)
	fields := item.Item{"masterId": item.String("mst_1"), "recurrenceId": item.String("2025-12-02T14:00:00Z"),
		"isAllDay": item.Bool(false),
		"startUtc": item.String("2025-12-02T16:00:00Z"), "startTzid": item.String("UTC"),
		"modifiedFields": item.List{item.String("startUtc")}}
	instance := product.Instance().NewItem(user, "inst_20251202_1", fields, noon, nil)
	b.apply(product.Instance(), nil, instance)
	counted := master.Clone() // the series' count of such writes: bookkeeping
	counted["exceptionsVersion"], counted["hasExceptions"] = item.Int(1), item.Bool(true)
	b.apply(product.Master(), master, counted)
	require.Equal(t, int64(1), b.totals().Int("totalEvents"))
	_, err := b.store.Get(t.Context(), entity.LedgerKey(user, stats.Name, "inst_20251202_1"))
	require.Error(t, err, "nothing is contributed, so nothing is kept")

	cancelled := counted.Clone()
	cancelled["status"], cancelled["version"] = item.String("CANCELLED"), item.Int(2)
	b.apply(product.Master(), counted, cancelled)
	require.Empty(t, b.open("mst_1"))
	require.Equal(t, int64(1), b.totals().Int("totalEvents"), "it is there, but not to come")
	b.apply(product.Master(), cancelled, nil)
	b.apply(product.Instance(), instance, nil)
	require.Zero(t, b.totals().Int("totalEvents"))
}
