package changelog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const uuid = "0b0f5a52-7b0e-4c6e-9d3e-2f2f0c1f3a11"

func revision(at time.Time) string { return repository.NewRevisionID(at, uuid) }

func entryOf(t *testing.T, text string) changelog.Entry {
	t.Helper()
	e, err := changelog.ParseEntry(text)
	require.NoError(t, err)
	require.Equal(t, text, e.String())
	return e
}

func TestEntry_isReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]changelog.Entry{
		"TASK task_" + uuid + " 3":   {Ref: entity.Ref{Type: "TASK", ID: "task_" + uuid}, Version: 3},
		"TASK task_" + uuid + " 3!":  {Ref: entity.Ref{Type: "TASK", ID: "task_" + uuid}, Version: 3, Lapsing: true},
		"USER_META ann 0":            {Ref: entity.Ref{Type: "USER_META", ID: "ann"}},
		"VALUES " + revision(noon):   changelog.Head(repository.Address{User: "ann"}, revision(noon)),
		"LATER_TYPE later_1 7":       {Ref: entity.Ref{Type: "LATER_TYPE", ID: "later_1"}, Version: 7},
		"INSTANCE inst_20260101_a 2": {Ref: entity.Ref{Type: "INSTANCE", ID: "inst_20260101_a"}, Version: 2},
		"PLAN 2026-01-23 " + revision(noon): changelog.Head(repository.Address{User: "ann", Date: "2026-01-23"},
			revision(noon)),
	} {
		require.Equal(t, want, entryOf(t, text))
	}
}

func TestParseEntry_refusesWhatIsNoEntry(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "TASK", "TASK task_1", "TASK task_1 x", "TASK task_1 -1", "TASK task_1 +1", "TASK task_1 01", "TASK task_1 1!!",
		"TASK  1", " task_1 1", "TASK task_1 1 ", "VALUES", "VALUES rev_1", "VALUES " + revision(noon) + " 1",
		"VALUES u " + revision(noon), "PLAN 2026-02-30 " + revision(noon), "PLAN 2026-01-23 rev_1", "PLAN 2026-01-23",
		"TASK task_1 99999999999999999999",
	} {
		_, err := changelog.ParseEntry(text)
		require.ErrorIs(t, err, changelog.ErrEntry, text)
	}
}

func FuzzParseEntry(f *testing.F) {
	for _, text := range []string{"TASK task_1 3!", "VALUES " + revision(noon), "PLAN 2026-01-23 " + revision(noon)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := changelog.ParseEntry(text); err == nil {
			require.Equal(t, text, e.String())
		}
	})
}

func TestEntry_saysMoreTheFurtherItsThingHasCome(t *testing.T) {
	t.Parallel()
	for _, rising := range [][]string{
		{"TASK task_1 2", "TASK task_1 2!", "TASK task_1 3", "TASK task_1 10", "TASK task_1 10!"},
		{"VALUES " + revision(noon), "VALUES " + revision(noon.Add(time.Second))},
	} {
		for i, a := range rising {
			for j, b := range rising {
				require.Equal(t, i-j > 0, entryOf(t, a).Compare(entryOf(t, b)) > 0, "%s, %s", a, b)
				require.Equal(t, i == j, entryOf(t, a).Compare(entryOf(t, b)) == 0, "%s, %s", a, b)
			}
		}
	}
}

// entries returns so many entries of events.
func entries(n int) []changelog.Entry {
	out := make([]changelog.Entry, n)
	for i := range out {
		out[i] = changelog.Entry{Ref: entity.Ref{Type: "EVENT", ID: fmt.Sprintf("evt_%036d", i)}, Version: 1}
	}
	return out
}

func TestRow_isReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		row := changelog.NewRow(7, entries(3), 0x00ab, first, noon.Add(time.Millisecond))
		it := row.Item("ann")
		require.Equal(t, item.Key{PK: "USER#ann", SK: "CHANGE#000000000007"}, it.Key())
		require.Equal(t, "00000000000000ab", it.Str("x"))
		require.Equal(t, noon.Add(90*24*time.Hour).Unix(), it.Int(entity.AttrTTL))
		require.Equal(t, first, it.Has("first"))
		read, err := changelog.ParseRow(it)
		require.NoError(t, err)
		require.Equal(t, item.Size(it), read.Size)
		read.Size = 0
		require.Equal(t, row, read)
	}
	require.Panics(t, func() { changelog.NewRow(1, nil, 0, false, noon).Item("ann") })
	require.Panics(t, func() { changelog.NewRow(1, entries(101), 0, false, noon).Item("ann") })
	require.Panics(t, func() { changelog.NewRow(0, entries(1), 0, false, noon).Item("ann") })
}

func TestRow_ofAHundredEventsIsFiveWriteUnits(t *testing.T) {
	t.Parallel()
	row := changelog.NewRow(7, entries(changelog.MaxEntries), 1, true, noon).Item(uuid)
	require.LessOrEqual(t, item.Size(row), 5<<10)
}

func TestRow_isOldTenDaysBeforeItsEnd(t *testing.T) {
	t.Parallel()
	row := changelog.NewRow(1, entries(1), 1, false, noon)
	require.False(t, row.Old(noon.Add(changelog.Trusted-time.Second)))
	require.True(t, row.Old(noon.Add(changelog.Trusted)))
	row.Until = time.Time{}
	require.True(t, row.Old(noon), "no reader relies on a row without ttl")
}

func TestParseRow_saysWhatIsDamagedAndReadsTheRest(t *testing.T) {
	t.Parallel()
	whole := changelog.NewRow(7, entries(2), 1, false, noon).Item("ann")
	for name, damage := range map[string]item.Value{
		"SK": item.String("CHANGE#7"), "ttl": nil, "x": item.String("1"), "at": item.Int(3), "e": item.List{},
	} {
		it := whole.Clone()
		it.Set(name, damage)
		row, err := changelog.ParseRow(it)
		require.ErrorIs(t, err, changelog.ErrRow, name)
		require.Equal(t, name != "SK", row.N == 7)
	}
	it := whole.Clone()
	it["e"] = item.List{item.Int(1), item.String("TASK task_1 3"), item.String("TASK")}
	row, err := changelog.ParseRow(it)
	require.ErrorIs(t, err, changelog.ErrRow)
	require.Equal(t, []changelog.Entry{entryOf(t, "TASK task_1 3")}, row.Entries)
}

// logOf returns a store with so many rows of a log, between rows that are none.
func logOf(t *testing.T, rows, entriesOfEach int, units *float64) *memory.Store {
	t.Helper()
	store := memory.New(func() time.Time { return noon }, memory.Options{
		Observer: func(u table.Consumption) { *units += u.ReadUnits },
	})
	all := []item.Item{device.WatchKey("ann").Item(), entity.ColdKey("ann", "task_1").Item()}
	for n := range rows {
		all = append(all, changelog.NewRow(int64(n+1), entries(entriesOfEach), uint64(n), n == 0, noon).Item("ann"))
	}
	require.NoError(t, store.Load(t.Context(), all))
	*units = 0
	return store
}

func numbers(t *testing.T, store table.Reader, read changelog.Read, most int) []int64 {
	t.Helper()
	var out []int64
	for row, err := range changelog.Rows(t.Context(), store, read) {
		require.NoError(t, err)
		if out = append(out, row.N); len(out) == most {
			break
		}
	}
	return out
}

func TestRows_goUpFromANumberAndDownFromTheNewest(t *testing.T) {
	t.Parallel()
	var units float64
	store := logOf(t, 1200, 1, &units)
	up := numbers(t, store, changelog.Read{User: "ann", From: 3}, 0)
	require.Len(t, up, 1198)
	require.True(t, slices.IsSorted(up))
	require.EqualValues(t, 3, up[0])
	down := numbers(t, store, changelog.Read{User: "ann"}, 0)
	require.Len(t, down, 1200)
	slices.Reverse(down)
	require.True(t, slices.IsSorted(down))
	require.Empty(t, numbers(t, store, changelog.Read{User: "bob"}, 0))
	require.Empty(t, numbers(t, store, changelog.Read{User: "ann", From: 1201}, 0))
}

func TestRows_costWhatIsRead(t *testing.T) {
	t.Parallel()
	var units float64
	store := logOf(t, 100, changelog.MaxEntries, &units) // 5 KB each
	for name, c := range map[string]struct {
		read changelog.Read
		rows int
		want float64
	}{
		"nothing new, eventually consistent": {changelog.Read{User: "ann", From: 100, Eventual: true}, 0, 1},
		"the newest row alone":               {changelog.Read{User: "ann", Page: 1}, 1, 2},
		"the newest sixteen":                 {changelog.Read{User: "ann"}, changelog.Newest, 20},
		"one row more":                       {changelog.Read{User: "ann"}, changelog.Newest + 1, 20 + 39},
		"a user without a log":               {changelog.Read{User: "bob"}, 0, 1},
	} {
		units = 0
		numbers(t, store, c.read, c.rows)
		require.InDelta(t, c.want, units, 1, name)
	}
	// The watch, which is there, makes no page longer: a read that looks for it reads one row more.
	var until time.Time
	units = 0
	numbers(t, store, changelog.Read{User: "ann", OpenUntil: &until}, changelog.Newest)
	require.InDelta(t, 20, units, 1)
	small := logOf(t, 1, 1, &units)
	numbers(t, small, changelog.Read{User: "ann", From: 1, Eventual: true}, 0)
	require.InDelta(t, 0.5, units, 0, "nothing new")
}

func TestRows_meetTheWatchBeforeTheNewestRow(t *testing.T) {
	t.Parallel()
	var units float64
	store := logOf(t, 40, 1, &units)
	require.NoError(t, store.Put(t.Context(), table.Put{Item: device.ChangeKey("bob", 1).Item()}))
	until := noon.Add(time.Hour)
	for name, c := range map[string]struct {
		ttl  item.Value // nil: none
		user string
		want time.Time
	}{
		"open":          {item.Int(until.Unix()), "ann", until},
		"without a ttl": {nil, "ann", time.Unix(0, 0)},
		"damaged":       {item.String("x"), "ann", time.Unix(0, 0)},
		"of no user":    {nil, "bob", time.Time{}},
	} {
		watch := device.WatchKey("ann").Item()
		watch.Set("ttl", c.ttl)
		require.NoError(t, store.Put(t.Context(), table.Put{Item: watch}))
		got := noon // of an earlier read
		units = 0
		for row, err := range changelog.Rows(t.Context(), store, changelog.Read{User: c.user, OpenUntil: &got}) {
			require.True(t, c.user == "bob" || err == nil)
			require.True(t, c.want.Equal(got), "%s: %s before row %d", name, got, row.N)
			if row.N == 25 { // sixteen rows
				break
			}
		}
		require.InDelta(t, 1, units, 0, "%s: one page", name)
	}
	require.Len(t, numbers(t, store, changelog.Read{User: "ann"}, 0), 40)
	require.Len(t, numbers(t, store, changelog.Read{User: "ann", From: 1}, 0), 40)
	require.Len(t, numbers(t, store, changelog.Read{User: "ann", Page: 1}, 1), 1)
}

// brokenStore fails after the first page.
type brokenStore struct {
	table.Reader
	pages int
}

func (s *brokenStore) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if s.pages++; s.pages > 1 {
		return table.Page{}, table.ErrThrottled
	}
	return s.Reader.Query(ctx, q)
}

func TestRows_endWithTheStoresErrorAndGoOnBehindADamagedRow(t *testing.T) {
	t.Parallel()
	var units float64
	store := logOf(t, 20, 1, &units)
	damaged := device.ChangeKey("ann", 5)
	_, err := store.Update(t.Context(), table.Update{Key: damaged, Set: item.Item{"e": item.String("x")}})
	require.NoError(t, err)
	var errs []string
	read := 0
	for row, err := range changelog.Rows(t.Context(), &brokenStore{Reader: store}, changelog.Read{User: "ann", From: 1}) {
		read++
		if err != nil {
			errs = append(errs, fmt.Sprint(row.N, " ", strings.Contains(err.Error(), damaged.SK)))
			last := row.N == 0
			require.Equal(t, !last, slices.Contains([]int64{5}, row.N))
			if last {
				require.ErrorIs(t, err, table.ErrThrottled)
			}
		}
	}
	require.Equal(t, 17, read)
	require.Equal(t, []string{"5 true", "0 false"}, errs)
}
