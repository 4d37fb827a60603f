package transfer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/command"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/tabletest"
	"nexus/pkg/transfer"
)

func TestService_takesAnAccountAlong(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.live("ann")
	here.live("bob")
	file := here.export("ann")
	before := here.dump()
	there.now = noon.Add(time.Hour)
	law := tabletest.NewLaw(there.rows, there.registry)
	there.on(law)
	report, err := there.take("zoe", file)
	require.NoError(t, err)
	require.Equal(t, transfer.Report{
		Items: 10, Archived: 1, Gone: 1, Revisions: 7, Cleaned: []transfer.Cleaned{}, Missing: []transfer.Missing{},
	}, report)
	require.Equal(t, content(t, file), content(t, there.export("zoe")))
	require.Empty(t, law.Broken())
	require.Equal(t, before, here.dump(), "an export writes nothing")
	for _, row := range there.dump() {
		require.NotContains(t, row, "#ann")
	}
}

func TestService_hasTheFormOfTheDocument(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("ann")
	files := unzip(t, f.export("ann"))
	var names []string
	for name := range files {
		name, _, _ = strings.Cut(name, "note_")
		if dir, _, ok := strings.Cut(name, "rev_"); ok {
			name = dir + "rev"
		}
		names = append(names, name)
	}
	require.Subset(t, names, []string{
		"manifest.json", "settings.json", "items/0001.ndjson", "archive/0001.ndjson", "gone.ndjson", "values/log.ndjson",
		"values/rev", "plans/2026-03-02/log.ndjson", "plans/2026-03-02/rev", "plans/2026-03-03/log.ndjson",
		"readable/calendar.ics", "readable/notes/", "readable/plans/2026-03-02.md", "readable/values.md",
	})
	for name, text := range files {
		require.NotContains(t, text, "USER#", name)
		require.NotContains(t, text, `"ann"`, name)
	}
	require.Contains(t, files["items/0001.ndjson"], "X-MOOD")
	require.NotContains(t, files["items/0001.ndjson"], "dueSetAt")
	require.NotContains(t, files["settings.json"], "stats")
}

func TestService_saysOfEachThingWhyItIsLeftOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("ann")
	var manifest transfer.Manifest
	require.NoError(t, json.Unmarshal([]byte(unzip(t, f.export("ann"))["manifest.json"]), &manifest))
	whats, whys := map[string]bool{}, map[string]bool{}
	for _, one := range manifest.LeftOut {
		whats[one.What], whys[one.Why] = true, true
	}
	require.Len(t, whats, len(manifest.LeftOut), "each thing once")
	require.Len(t, whys, len(manifest.LeftOut), "each with a reason of its own")
	require.Contains(t, manifest.LeftOut, transfer.LeftOut{
		What: "a delivery, with the item's title",
		Why:  "it says what has rung in this account, and nothing rings a second time in another",
	})
}

func TestImport_ofARequestedInstantIsThatOfTheImport(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.live("ann")
	there.now = noon.Add(48 * time.Hour)
	_, err := there.take("zoe", here.export("ann"))
	require.NoError(t, err)
	asked := 0
	require.NoError(t, there.rows.Walk(t.Context(), 0, 1, func(row item.Item) error {
		if row.Has(product.AttrDueSetAt) {
			asked++
			require.Equal(t, "2026-03-04T12:00:00Z", row.Str(product.AttrDueSetAt), row.Key())
		}
		return nil
	}))
	require.Equal(t, 9, asked)
}

// An hour occurs twice, and a reminder counts from the second. No rule means that hour, but its user set it.
func TestImport_takesAFirstTriggerInTheSecondOfTwoHours(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.do("ann", -1, command.Create{Type: product.Reminder(), Fields: fields{
		"title": "Ring", "triggerUtc": "2026-10-25T01:42:00Z", "tzid": "Europe/London", "rrule": "FREQ=WEEKLY",
	}})
	_, err := there.take("zoe", here.export("ann"))
	require.NoError(t, err)
}

func TestImport_needsAnEmptyAccount(t *testing.T) {
	t.Parallel()
	here := newFixture(t)
	here.live("ann")
	file := here.export("ann")
	for name, begin := range map[string]func(f *fixture){
		"an item": func(f *fixture) {
			f.do("zoe", -1, command.Create{Type: product.Note(), Fields: fields{"title": "x"}})
		},
		"a deleted item": func(f *fixture) {
			made := f.do("zoe", -1, command.Create{Type: product.Note(), Fields: fields{"title": "x"}})
			f.do("zoe", 1, command.Delete{Type: product.Note(), ID: made.Ref.ID})
		},
		"an archived item": func(f *fixture) { f.archived("zoe", "task_1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed") },
		"a tree":           func(f *fixture) { f.grow("zoe") },
		"a ledger": func(f *fixture) {
			require.NoError(f, f.rows.Put(f.Context(), table.Put{Item: item.Item{
				"PK": item.String("USER#zoe"), "SK": item.String("LEDGER#stats#note_1"),
			}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			begin(f)
			before := f.dump()
			_, err := f.take("zoe", file)
			require.ErrorIs(t, err, transfer.ErrNotEmpty)
			require.Equal(t, before, f.dump())
		})
	}
}

func TestImport_overSettingsIsAChangeOfThem(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.live("ann")
	there.do("zoe", 0, command.UpdateMe{Patch: fields{"preferences": fields{"theme": "light"}}})
	_, err := there.take("zoe", here.export("ann"))
	require.NoError(t, err)
	row, err := there.rows.Get(t.Context(), item.Key{PK: "USER#zoe", SK: "USER_META#zoe"})
	require.NoError(t, err)
	require.Equal(t, "Europe/Paris", row.Str("defaultTzid"))
	require.Equal(t, "dark", row.Map("preferences").Str("theme"))
	require.Equal(t, int64(2), row.Int("version"))
}

func TestImport_ofTheSameFileAgainHasNoEffect(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.live("ann")
	file := here.export("ann")
	_, err := there.take("zoe", file)
	require.NoError(t, err)
	var note string
	require.NoError(t, there.rows.Walk(t.Context(), 0, 1, func(row item.Item) error {
		if row.Has("noteId") {
			note = row.Str("noteId")
		}
		return nil
	}))
	there.do("zoe", 1, command.Delete{Type: product.Note(), ID: note})
	before := there.dump()
	report, err := there.take("zoe", file)
	require.NoError(t, err)
	require.True(t, report.Again)
	require.Equal(t, before, there.dump())
	here.do("ann", -1, command.Create{Type: product.Note(), Fields: fields{"title": "x"}})
	_, err = there.take("zoe", here.export("ann"))
	require.ErrorIs(t, err, transfer.ErrNotEmpty)
}

// errCrash ends a worker at a call.
var errCrash = errors.New("crash")

// failingStore is a store whose calls fail from the n-th write on: the n-th has taken effect or not.
type failingStore struct {
	table.Store
	left  int
	after bool // the last write takes effect
}

func (m *failingStore) call(write func() error) error {
	if m.left--; m.left < 0 {
		return errCrash
	}
	if m.left == 0 {
		if m.after {
			return errors.Join(write(), errCrash)
		}
		return errCrash
	}
	return write()
}

func (m *failingStore) Put(ctx context.Context, p table.Put) error {
	return m.call(func() error { return m.Store.Put(ctx, p) })
}

func (m *failingStore) Update(ctx context.Context, u table.Update) (it item.Item, err error) {
	return it, m.call(func() error { it, err = m.Store.Update(ctx, u); return err })
}

func (m *failingStore) Transact(ctx context.Context, actions ...table.Action) error {
	return m.call(func() error { return m.Store.Transact(ctx, actions...) })
}

func (m *failingStore) Load(ctx context.Context, rows []item.Item) error {
	return m.call(func() error { return m.Store.Load(ctx, rows) })
}

func TestImport_endsTheSameAfterACrashAtAnyWrite(t *testing.T) {
	t.Parallel()
	here := newFixture(t)
	here.live("ann")
	// A tree whose rows do not fit into one transaction is announced by a draft.
	var ops []any
	for i := range 60 {
		ops = append(ops, fmt.Sprint(i))
	}
	here.growWide("ann", len(ops))
	file := here.export("ann")
	whole := newFixture(t)
	_, err := whole.take("zoe", file)
	require.NoError(t, err)
	want := whole.dump()
	crashes := 0
	for n := 1; ; n++ {
		for _, after := range []bool{false, true} {
			there := newFixture(t)
			there.on(&failingStore{Store: there.rows, left: n, after: after})
			_, err := there.take("zoe", file)
			if err == nil {
				require.Greater(t, crashes, 20)
				return
			}
			require.ErrorIs(t, err, errCrash)
			crashes++
			there.on(there.rows)
			_, err = there.take("zoe", file)
			require.NoError(t, err, "crash at write %d", n)
			require.Equal(t, want, there.dump(), "crash at write %d, after %t", n, after)
		}
	}
}

func TestImport_ofAnotherFileWaitsForTheEndOfTheFirst(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.live("ann")
	file := here.export("ann")
	there.on(&failingStore{Store: there.rows, left: 5})
	_, err := there.take("zoe", file)
	require.ErrorIs(t, err, errCrash)
	there.on(there.rows)
	here.do("ann", -1, command.Create{Type: product.Note(), Fields: fields{"title": "x"}})
	_, err = there.take("zoe", here.export("ann"))
	require.ErrorIs(t, err, transfer.ErrOtherFile)
	_, err = there.take("zoe", file)
	require.NoError(t, err)
}

func TestService_takesAPrunedHistoryAlong(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.live("ann")
	base, err := here.values.Open(t.Context(), "ann")
	require.NoError(t, err)
	action := base.State.Edges[0].ChildNodeID
	head := base.Head.RevID
	for _, kind := range []values.OperationKind{values.OpDelete, values.OpForget} {
		made, err := here.values.Commit(t.Context(), "ann", values.Commit{
			ParentRevID: head, Message: "m", Source: values.SourceDailyUpdate,
			Operations: []values.Operation{{Kind: kind, NodeID: action}},
		})
		require.NoError(t, err)
		head = made.RevID
	}
	_, err = here.values.Prune(t.Context(), "ann", revision.Pruning{Keep: revision.Keep{Last: 2}})
	require.NoError(t, err)
	_, err = here.plans.Prune(t.Context(), "ann", "2026-03-02", revision.Pruning{Keep: revision.Keep{Last: 1}})
	require.NoError(t, err)
	file := here.export("ann")
	require.Contains(t, unzip(t, file)["values/log.ndjson"], "oldestRevId")
	law := tabletest.NewLaw(there.rows, there.registry)
	there.on(law)
	_, err = there.take("zoe", file)
	require.NoError(t, err)
	require.Empty(t, law.Broken())
	require.Equal(t, content(t, file), content(t, there.export("zoe")))
	_, err = there.values.Revision(t.Context(), "zoe", base.Head.RevID)
	var pruned *revision.PrunedError
	require.ErrorAs(t, err, &pruned)
}

func TestImport_keepsTheLimitsOfAUser(t *testing.T) {
	t.Parallel()
	here := newFixture(t)
	here.live("ann")
	file := here.export("ann")
	for quota, number := range map[string]int{
		limit.Content: 5, limit.Notes: 0, limit.Exceptions: 2, limit.Gone: 1, limit.Series: 0, limit.Plans: 1,
		limit.TreeRevisions: 3, limit.PlanRevisions: 1,
	} {
		there := newFixture(t)
		there.Limits = limit.Default()
		there.Limits[quota] = number
		_, err := there.take("zoe", file)
		var refused *transfer.FileError
		require.ErrorAs(t, err, &refused, quota)
		require.Contains(t, err.Error(), quota)
		require.Empty(t, there.dump())
		there.Limits[quota]++
		_, err = there.take("zoe", file)
		require.NoError(t, err, quota)
	}
}

func TestService_doesNothingForAnAccountThatIsGone(t *testing.T) {
	t.Parallel()
	here := newFixture(t)
	here.live("ann")
	file := here.export("ann")
	gone := errors.New("gone")
	here.Fence = func(context.Context, string) error { return gone }
	_, err := here.Export(t.Context(), "ann", io.Discard, blobmemory.New(nil), "", nil)
	require.ErrorIs(t, err, gone)
	there := newFixture(t)
	there.FenceImport = here.Fence
	_, err = there.take("zoe", file)
	require.ErrorIs(t, err, gone)
	require.Empty(t, there.dump())
}

// An import ends with counting what the copies hold, before it counts as done: after a failure the same file goes on.
func TestService_countsTheCopiesAtTheEnd(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.live("ann")
	file, counted, fails := here.export("ann"), 0, true
	there.CountCopies = func(ctx context.Context, user string) error {
		require.Equal(t, "zoe", user)
		copies, _, err := there.archive.List(ctx, user, 10, nil)
		require.NoError(t, err)
		require.Len(t, copies, 1)
		if counted++; fails {
			return table.ErrUnavailable
		}
		return nil
	}
	_, err := there.take("zoe", file)
	require.ErrorIs(t, err, table.ErrUnavailable)
	fails = false
	report, err := there.take("zoe", file)
	require.NoError(t, err)
	require.False(t, report.Again)
	require.Equal(t, 2, counted)
	report, err = there.take("zoe", file)
	require.NoError(t, err)
	require.True(t, report.Again)
	require.Equal(t, 2, counted)
}
