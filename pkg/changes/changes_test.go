package changes_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const (
	ann  = "ann"
	uuid = "0b0f5a52-7b0e-4c6e-9d3e-2f2f0c1f3a11"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a table with the consumer, under a clock that the test moves.
type fixture struct {
	t        *testing.T
	now      time.Time
	store    *memory.Store
	fault    func(memory.Call) error
	used     map[string]table.Totals
	appended []changes.Appended
	consumer *changes.Consumer
}

func newFixture(t *testing.T) *fixture {
	w := &fixture{t: t, now: noon, used: map[string]table.Totals{}}
	w.store = memory.New(func() time.Time { return w.now }, memory.Options{
		Fault: func(c memory.Call) error {
			if w.fault == nil {
				return nil
			}
			return w.fault(c)
		},
		Observer: func(u table.Consumption) {
			w.used[u.Op] = w.used[u.Op].Plus(table.Totals{Calls: 1, ReadUnits: u.ReadUnits, WriteUnits: u.WriteUnits})
		},
		Witnessed: true,
	})
	t.Cleanup(func() { require.Empty(t, w.store.Tampered(), "what was read is not to be changed") })
	w.consumer = w.another()
	return w
}

// another returns a second worker.
func (w *fixture) another() *changes.Consumer {
	return changes.New(changes.Config{
		Store: w.store, Now: func() time.Time { return w.now }, Random: rand.NewChaCha8([32]byte{}),
		Appended: func(_ context.Context, of []changes.Appended) { w.appended = append(w.appended, of...) },
	})
}

// taskID returns the id of a task by its number.
func taskID(n int) string { return fmt.Sprintf("task_%08d%s", n, uuid[8:]) }

// task returns the record of a change of a task: to the version, with a ttl where lapsing.
func (w *fixture) task(user, id string, version int64, lapsing bool) change.Change {
	ref := entity.Ref{Type: product.TypeTask, ID: id}
	it := entity.ItemKey(user, ref).Item()
	it[entity.AttrType], it[entity.AttrVersion] = item.String(ref.Type), item.Int(version)
	if lapsing {
		it[entity.AttrTTL] = item.Int(w.now.Add(time.Hour).Unix())
	}
	return change.Change{
		Kind: change.Modified, Type: product.Task(), User: user, Ref: ref, Key: it.Key(), New: it, Version: version,
		Created: w.now,
	}
}

// removed returns the record of the removal of a task that had the version.
func (w *fixture) removed(id string, version int64, kind change.Kind) change.Change {
	c := w.task(ann, id, version, false)
	c.Kind, c.Old, c.New, c.Version = kind, c.New, nil, version+1
	return c
}

// head returns the record of a commit to a repository.
func (w *fixture) head(at repository.Address, revisionID string) change.Change {
	row := at.HeadKey().Item()
	row[repository.AttrHeadRevisionID] = item.String(revisionID)
	return change.Change{Kind: change.Modified, User: at.User, Key: row.Key(), New: row, Created: w.now}
}

// apply delivers the records in one batch, and requires that all are done.
func (w *fixture) apply(batch ...change.Change) []change.Outcome {
	w.t.Helper()
	outcomes := w.consumer.Apply(w.t.Context(), batch)
	require.Len(w.t, outcomes, len(batch))
	for _, o := range outcomes {
		require.NoError(w.t, o.Err)
		require.Equal(w.t, change.Done, o.Verdict)
	}
	return outcomes
}

// log returns the rows of the user's log, oldest first.
func (w *fixture) log(user string) (rows []changelog.Row) {
	w.t.Helper()
	for row, err := range changelog.Rows(w.t.Context(), w.store, changelog.Read{User: user, From: 1}) {
		require.NoError(w.t, err)
		rows = append(rows, row)
	}
	return rows
}

// texts returns the entries of each row of the user's log.
func (w *fixture) texts(user string) (out [][]string) {
	w.t.Helper()
	for _, row := range w.log(user) {
		var of []string
		for _, e := range row.Entries {
			of = append(of, e.String())
		}
		out = append(out, of)
	}
	return out
}

func TestConsumer_announcesEachThingAsFarAsItHasCome(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	early, later := repository.NewRevisionID(noon, uuid), repository.NewRevisionID(noon.Add(time.Second), uuid)
	meta := w.task(ann, ann, 0, false)
	meta.Type, meta.Ref = product.UserMeta(), entity.Ref{Type: entity.TypeUserMeta, ID: ann}
	w.apply(
		w.task(ann, "task_a", 1, false), w.task(ann, "task_a", 3, false), w.task(ann, "task_a", 2, false),
		w.task(ann, "task_b", 2, true), w.task(ann, "task_b", 2, false),
		w.removed("task_c", 4, change.Removed), w.removed("task_d", 5, change.Expired),
		meta,
		w.head(repository.Address{User: ann}, later), w.head(repository.Address{User: ann}, early),
		w.head(repository.Address{User: ann, Date: "2026-03-02"}, early),
		w.task("bob", "task_a", 9, false),
	)
	require.Equal(t, [][]string{{
		"TASK task_a 3", "TASK task_b 2!", "TASK task_c 5", "TASK task_d 6", "USER_META ann 0", "VALUES " + later,
		"PLAN 2026-03-02 " + early,
	}}, w.texts(ann))
	require.Equal(t, [][]string{{"TASK task_a 9"}}, w.texts("bob"))
	require.Equal(t, 8, changes.Count(w.appended))
	row := w.log(ann)[0]
	require.True(t, row.First)
	require.Equal(t, noon, row.At)
	require.Equal(t, noon.Add(90*24*time.Hour), row.Until)
	require.NotEqual(t, row.X, w.log("bob")[0].X)
}

func TestConsumer_numbersRowsOneAfterAnother(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for n := range 20 {
		w.now = w.now.Add(time.Minute)
		w.apply(w.task(ann, taskID(n), 1, false))
	}
	for i, row := range w.log(ann) {
		require.EqualValues(t, i+1, row.N)
		require.Equal(t, i == 0, row.First)
	}
	require.Len(t, w.log(ann), 20)
}

func TestConsumer_appendsNothingForARepetition(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	batch := []change.Change{
		w.task(ann, "task_a", 1, false), w.removed("task_b", 1, change.Removed), w.task(ann, "task_c", 2, true),
	}
	for _, o := range w.apply(batch...) {
		require.False(t, o.Already)
	}
	for _, o := range w.apply(batch...) {
		require.True(t, o.Already)
	}
	outcomes := w.apply(batch[0], w.task(ann, "task_a", 1, true), w.task(ann, "task_c", 2, false))
	require.Equal(t, []bool{false, false, true}, []bool{outcomes[0].Already, outcomes[1].Already, outcomes[2].Already})
	require.Equal(t, [][]string{{"TASK task_a 1", "TASK task_b 2", "TASK task_c 2!"}, {"TASK task_a 1!"}}, w.texts(ann))
}

// TestConsumer_announcesThatAPlanWasDeleted: after its last revision, also where the record comes first or twice, and
// before the first revision of a new plan.
func TestConsumer_announcesThatAPlanWasDeleted(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	at := repository.Address{User: ann, Date: "2026-03-02"}
	last, again := repository.NewRevisionID(noon, uuid), repository.NewRevisionID(noon.Add(time.Second), uuid)
	gone := w.head(at, last)
	gone.Kind, gone.Old, gone.New = change.Removed, gone.New, nil
	entry := "PLAN 2026-03-02 " + last[:len(last)-32] + strings.Repeat("f", 32)
	w.apply(w.head(at, last), gone)
	w.apply(gone, w.head(at, last))
	w.apply(w.head(at, again), gone)
	require.Equal(t, [][]string{{entry}, {"PLAN 2026-03-02 " + again}}, w.texts(ann))
}

func TestConsumer_makesNoCallForWhatNoLogNames(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	row := func(key item.Key) change.Change {
		return change.Change{Kind: change.Modified, User: ann, Key: key, New: key.Item(), Created: w.now}
	}
	at := repository.Address{User: ann}
	w.apply(
		row(entity.TimerKey(ann, "task_a", 1)), row(device.ChangeKey(ann, 1)), row(device.WatchKey(ann)),
		row(at.LogKey(repository.NewRevisionID(noon, uuid))), row(at.HeadKey()), w.head(at, "x"),
	)
	require.Empty(t, w.used)
	require.Empty(t, w.appended)
}

// A day is replayed: each record is in a row before the newest ones.
func TestConsumer_comparesLateRecordsWithAllRowsSinceTheirTime(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var records []change.Change
	for n := range 100 {
		w.now = w.now.Add(10 * time.Minute)
		records = append(records, w.task(ann, taskID(n), 1, false))
		w.now = w.now.Add(time.Second)
		w.apply(records[n])
	}
	w.now = w.now.Add(2 * time.Hour)
	for some := range slices.Chunk(records, 7) {
		w.apply(some...)
	}
	require.Len(t, w.log(ann), 100)
	undated := records[0]
	undated.Created = time.Time{}
	w.apply(undated)
	require.Len(t, w.log(ann), 100, "a record without a time is compared with every row")
}

func TestConsumer_marksTheFirstRowBehindAGapThatTTLMayHaveMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait  time.Duration
		sweep []int64
		want  map[int64]bool // of each row that is there, whether it is first
	}{
		"79 days":                    {79 * day, nil, map[int64]bool{1: true, 2: false, 3: false}},
		"80 days":                    {80 * day, nil, map[int64]bool{1: true, 2: false, 3: true}},
		"the newest row is swept":    {91 * day, []int64{2}, map[int64]bool{1: true, 2: true}},
		"the oldest row is swept":    {91 * day, []int64{1}, map[int64]bool{2: false, 3: true}},
		"both are swept":             {91 * day, []int64{1, 2}, map[int64]bool{1: true}},
		"neither is swept in a year": {365 * day, nil, map[int64]bool{1: true, 2: false, 3: true}},
	} {
		w := newFixture(t)
		w.apply(w.task(ann, "task_a", 1, false))
		w.apply(w.task(ann, "task_b", 1, false))
		w.now = w.now.Add(c.wait)
		for _, n := range c.sweep {
			require.NoError(t, w.store.Delete(t.Context(), table.Delete{Key: device.ChangeKey(ann, n)}))
		}
		w.apply(w.task(ann, "task_c", 1, false))
		is := map[int64]bool{}
		for _, row := range w.log(ann) {
			is[row.N] = row.First
		}
		require.Equal(t, c.want, is, name)
	}
}

// Another worker appends between a worker's read and its write, so often.
func TestConsumer_goesOnBehindARowOfAnotherWorker(t *testing.T) {
	t.Parallel()
	for _, rivals := range []int{1, 4, 5} {
		w := newFixture(t)
		rival, left := w.another(), rivals
		w.fault = func(c memory.Call) error {
			if c.Op != "Put" || c.Stage != memory.Before || left == 0 {
				return nil
			}
			left--
			fault := w.fault
			w.fault = nil
			rival.Apply(t.Context(), []change.Change{w.task(ann, taskID(left), 1, false)})
			w.fault = fault
			return nil
		}
		outcomes := w.consumer.Apply(t.Context(), []change.Change{
			w.task(ann, "task_a", 1, false), w.task("bob", "task_a", 1, false), w.task(ann, "task_b", 1, false),
		})
		contended := change.Done
		if rivals == 5 {
			contended = change.Retry
		}
		require.Equal(t, []change.Verdict{contended, change.Done, contended},
			[]change.Verdict{outcomes[0].Verdict, outcomes[1].Verdict, outcomes[2].Verdict}, "%d rivals", rivals)
		require.Len(t, w.texts("bob"), 1, "another user's log does not wait")
		w.apply(w.task(ann, "task_a", 1, false), w.task(ann, "task_b", 1, false))
		texts := w.texts(ann)
		require.Len(t, texts, rivals+1)
		require.Equal(t, []string{"TASK task_a 1", "TASK task_b 1"}, texts[rivals])
	}
}

// The answer of a write is lost. The records come again, and the row is found by its entries.
func TestConsumer_findsTheRowWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	lost := fmt.Errorf("lost: %w", table.ErrUnavailable)
	w.fault = func(c memory.Call) error {
		if c.Op == "Put" && c.Stage == memory.After {
			return lost
		}
		return nil
	}
	record := w.task(ann, "task_a", 1, false)
	outcome := w.consumer.Apply(t.Context(), []change.Change{record})[0]
	require.Equal(t, change.Retry, outcome.Verdict)
	require.ErrorIs(t, outcome.Err, lost)
	w.fault = nil
	require.True(t, w.apply(record)[0].Already)
	require.Len(t, w.log(ann), 1)
}

func TestConsumer_parksWhatTheStoreRefusesForGoodAndRetriesTheRest(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]change.Verdict{
		table.ErrInvalid: change.Poison, table.ErrThrottled: change.Retry, table.ErrUnavailable: change.Retry,
	} {
		for _, op := range []string{"Put", "Query"} {
			w := newFixture(t)
			w.fault = func(c memory.Call) error {
				if c.Op == op {
					return err
				}
				return nil
			}
			outcome := w.consumer.Apply(t.Context(), []change.Change{w.task(ann, "task_a", 1, false)})[0]
			require.Equal(t, want, outcome.Verdict)
			require.ErrorIs(t, outcome.Err, err)
		}
	}
	w := newFixture(t)
	w.consumer.Random = bytes.NewReader(nil)
	outcome := w.consumer.Apply(t.Context(), []change.Change{w.task(ann, "task_a", 1, false)})[0]
	require.Equal(t, change.Retry, outcome.Verdict)
	require.Empty(t, w.log(ann))
}

// A damaged row counts with what can be read of it. A row under a foreign key does not count.
func TestConsumer_appendsBehindADamagedRow(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.apply(w.task(ann, "task_a", 1, false), w.task(ann, "task_b", 1, false))
	_, err := w.store.Update(t.Context(), table.Update{Key: device.ChangeKey(ann, 1), Set: item.Item{
		"e": item.List{item.String("TASK task_a 1"), item.Int(1)},
	}, Remove: []string{entity.AttrTTL}})
	require.NoError(t, err)
	foreign := item.Key{PK: entity.UserPK(ann), SK: "CHANGE#x"}
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: foreign.Item()}))
	w.apply(w.task(ann, "task_a", 1, false), w.task(ann, "task_b", 1, false))
	second, err := w.store.Get(t.Context(), device.ChangeKey(ann, 2))
	require.NoError(t, err)
	row, err := changelog.ParseRow(second)
	require.NoError(t, err)
	require.Equal(t, "TASK task_b 1", row.Entries[0].String())
	require.Len(t, row.Entries, 1)
	require.True(t, row.First, "no reader relies on a row without ttl")
}

func TestConsumer_announcesForARepairAsForRecords(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.apply(w.task(ann, "task_a", 2, false))
	var entries []changelog.Entry
	for _, text := range []string{"TASK task_a 1", "TASK task_b 1", "TASK task_b 2!"} {
		e, err := changelog.ParseEntry(text)
		require.NoError(t, err)
		entries = append(entries, e)
	}
	for range 2 {
		require.NoError(t, w.consumer.Announce(t.Context(), ann, entries))
		require.Equal(t, [][]string{{"TASK task_a 2"}, {"TASK task_b 2!"}}, w.texts(ann))
	}
	w.fault = func(memory.Call) error { return table.ErrThrottled }
	require.ErrorIs(t, w.consumer.Announce(t.Context(), ann, entries), table.ErrThrottled)
}

func TestConsumer_writesSeveralLogsAtOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	store := memory.New(func() time.Time { return noon }, memory.Options{})
	consumer := changes.New(changes.Config{
		Store: store, Now: func() time.Time { return noon }, AtOnce: 8, Random: constant{},
	})
	var batch []change.Change
	for n := range 200 {
		batch = append(batch, w.task(fmt.Sprintf("user%d", n%50), taskID(n), 1, false))
	}
	for _, o := range consumer.Apply(t.Context(), batch) {
		require.NoError(t, o.Err)
	}
	for n := range 50 {
		row, err := store.Get(t.Context(), device.ChangeKey(fmt.Sprintf("user%d", n), 1))
		require.NoError(t, err)
		parsed, err := changelog.ParseRow(row)
		require.NoError(t, err)
		require.Len(t, parsed.Entries, 4)
	}
}

// constant gives the same bits to everybody, at any time.
type constant struct{}

func (constant) Read(p []byte) (int, error) { return len(p), nil }

func TestConsumer_isOneThatTakesBatches(t *testing.T) {
	t.Parallel()
	var c change.Consumer = newFixture(t).consumer
	_, takes := c.(change.BatchConsumer)
	require.True(t, takes)
	require.Equal(t, "changes", c.Name())
}
