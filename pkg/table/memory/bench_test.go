package memory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const (
	benchUsers = 100
	benchRows  = 1000 // of each user
)

func benchUser(i int) string { return fmt.Sprint("user", i%benchUsers) }

// benchRow is about as large as an event, and stands in two indexes.
func benchRow(user string, i int) item.Item {
	it := entity.ItemKey(user, entity.Ref{Type: product.TypeEvent, ID: fmt.Sprintf("evt_%06d", i)}).Item()
	for _, name := range []string{
		entity.AttrTitle, product.AttrStartUtc, product.AttrEndUtc, product.AttrStartTzid, product.AttrEndTzid,
		entity.AttrStatus, entity.AttrCreatedAt, entity.AttrUpdatedAt, entity.AttrType, "description", "location", "color",
	} {
		it[name] = item.String("some text of usual length")
	}
	it[entity.AttrVersion] = item.Int(1)
	it[entity.AttrTags] = item.Strings("home", "work")
	it[item.AttrGSI1PK] = item.String(entity.AgendaPK(user, 2030))
	it[item.AttrGSI1SK] = item.String(fmt.Sprintf("2030-%06d", i))
	it[item.AttrGSI3PK] = item.String(entity.UserPK(user))
	it[item.AttrGSI3SK] = item.String(fmt.Sprintf("%06d", i))
	return it
}

func benchStore(b *testing.B) *memory.Store {
	b.Helper()
	store := memory.New(start, memory.Options{Shards: 4})
	for u := range benchUsers {
		rows := make([]item.Item, benchRows)
		for i := range rows {
			rows[i] = benchRow(benchUser(u), i)
		}
		require.NoError(b, store.Load(b.Context(), rows))
	}
	store.Feed().Trim(start().AddDate(1, 0, 0))
	b.ReportAllocs()
	b.ResetTimer()
	return store
}

func BenchmarkGet(b *testing.B) {
	store := benchStore(b)
	key := benchRow(benchUser(7), 500).Key()
	for b.Loop() {
		if _, err := store.Get(b.Context(), key); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	store := benchStore(b)
	n := 0
	for b.Loop() {
		n++
		row := benchRow(benchUser(n), benchRows+n)
		if err := store.Put(b.Context(), table.Put{Item: row, If: table.NotExists()}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	store := benchStore(b)
	n, key := 0, benchRow(benchUser(7), 500).Key()
	for b.Loop() {
		n++
		_, err := store.Update(b.Context(), table.Update{
			Key: key, Set: item.Item{entity.AttrVersion: item.Int(int64(n + 1))},
			If: table.Exists(),
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkQuery reads a week of an agenda: 50 rows of an index.
func BenchmarkQuery(b *testing.B) {
	store := benchStore(b)
	q := table.Query{
		Index: table.YearView, Partition: entity.AgendaPK(benchUser(7), 2030),
		Range: table.Range{From: "2030-000400", To: "2030-000449"},
	}
	for b.Loop() {
		page, err := store.Query(b.Context(), q)
		if err != nil || len(page.Items) != 50 {
			b.Fatal(err, len(page.Items))
		}
	}
}

// BenchmarkTransact moves a row and its ledger row on, as a projection does.
func BenchmarkTransact(b *testing.B) {
	store := benchStore(b)
	n := 0
	for b.Loop() {
		n++
		user := benchUser(n)
		err := store.Transact(b.Context(),
			table.Update{
				Key: entity.LedgerKey(user, "bench", "item"), Set: item.Item{entity.AttrVersion: item.Int(int64(n))},
				If: table.OrNoRow(table.Less(entity.AttrVersion, item.Int(int64(n)))),
			},
			table.Update{Key: entity.MetaKey(user), Set: item.Item{product.AttrStatsVersion: item.Int(int64(n))}},
		)
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFeed writes and reads a record.
func BenchmarkFeed(b *testing.B) {
	store := memory.New(start, memory.Options{})
	shards, err := store.Feed().Shards(b.Context())
	require.NoError(b, err)
	after, n := "", 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		row := benchRow("u", n%benchRows)
		row[entity.AttrVersion] = item.Int(int64(n))
		if err := store.Put(b.Context(), table.Put{Item: row}); err != nil {
			b.Fatal(err)
		}
		slice, err := store.Feed().Read(b.Context(), shards[0].ID, after, 100)
		if err != nil || len(slice.Records) != 1 {
			b.Fatal(err, len(slice.Records))
		}
		after = slice.Records[0].Sequence
	}
}
