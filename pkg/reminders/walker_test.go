package reminders_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/queue"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// setupWalk has that many floating tasks with a reminder, and the consumer has handled their records.
func setupWalk(t *testing.T, items int) *fixture {
	t.Helper()
	w := setup(t)
	for n := range items {
		w.create(fmt.Sprintf("task_%04d", n), fmt.Sprintf(floatingTask, "2025-12-02T09:00:00", "0"))
	}
	w.runUntilIdle()
	require.Equal(t, items, w.counts[reminders.Scheduled])
	return w
}

// zones are those between which a client changes.
var zones = []string{"Europe/Berlin", "America/New_York", "Asia/Tokyo"}

// changeZone changes the zone and applies the record.
func (w *fixture) changeZone(n int) {
	w.Helper()
	w.moveTo(zones[n%len(zones)])
	for _, o := range w.consumer.Apply(w.Context(), w.records()) {
		require.NoError(w, o.Err)
	}
}

func (w *fixture) cursor() item.Item {
	w.Helper()
	rows := w.rows(entity.ItemPrefix(entity.RowZone))
	require.NotEmpty(w, rows)
	return rows[len(rows)-1]
}

// The lane's part of a walk is a few calls, however many items the user has.
func TestConsumer_setsOffAWalkInAFewCalls(t *testing.T) {
	t.Parallel()
	skipUncounted(t)
	for _, items := range []int{1, 600} {
		w := setupWalk(t, items)
		w.moveTo("Europe/Berlin")
		records := w.records()
		require.LessOrEqual(t, w.reading(records...).calls, 8, "cursor, settings, a page of each type, cursor")
		require.Equal(t, items, w.counts[reminders.Scheduled], "no item is touched")
		require.Len(t, w.queue.Waiting(), 1)
		require.Equal(t, 1, w.carryOut())
		require.Equal(t, 2*items, w.counts[reminders.Scheduled])
		require.True(t, w.cursor().Bool("done"))
		w.requireExact()
	}
}

func TestConsumer_setsOffNoWalkThatFindsNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, "2025-12-02T09:00:00Z", "0"))
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.runUntilIdle()
	w.changeZone(0)
	w.except("mst_1", "20251203", `{"title":"x"}`)
	w.runUntilIdle()
	w.patchSeries("mst_1", `{"startUtc":"2025-12-01T16:00:00Z","endUtc":null}`)
	w.deliver(w.records()...)
	require.Empty(t, w.queue.Waiting())
	require.Zero(t, w.ids)
	require.Empty(t, append(w.rows(entity.ItemPrefix(entity.RowZone)), w.rows(entity.ItemPrefix(entity.RowSeries))...))
}

// A worker that died between its two calls left a cursor without a message. So each delivery of the record puts one,
// until the walk is done.
func TestConsumer_putsAMessageOnEachDeliveryUntilTheWalkIsDone(t *testing.T) {
	t.Parallel()
	w := setupWalk(t, 3)
	w.moveTo("Europe/Berlin")
	records := w.records()
	for n := 1; n <= 3; n++ {
		require.NoError(t, w.consumer.Apply(t.Context(), records)[0].Err)
		require.Len(t, w.queue.Waiting(), n)
	}
	require.Equal(t, 3, w.carryOut())
	require.Equal(t, 6, w.counts[reminders.Scheduled], "the second and the third find the cursor at its end")
	require.NoError(t, w.consumer.Apply(t.Context(), records)[0].Err)
	require.Empty(t, w.queue.Waiting())
	w.requireExact()
}

func TestConsumer_leavesARecordWhoseMessageWasNotPut(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]change.Verdict{
		queue.ErrUnavailable: change.Retry, queue.ErrThrottled: change.Retry, queue.ErrInvalid: change.Poison,
	} {
		w := setupWalk(t, 1)
		config := w.config()
		config.Queue = refusingQueue{cause}
		w.moveTo("Europe/Berlin")
		outcome := reminders.New(config).Apply(t.Context(), w.records())[0]
		require.Equal(t, want, outcome.Verdict)
		require.ErrorIs(t, outcome.Err, cause)
	}
}

type refusingQueue struct{ error }

func (q refusingQueue) Put(context.Context, queue.Message) error { return q.error }

// Law: K changes over N items put at most 2 N + 50 schedules, whatever the order in which records and messages come:
// one whole walk, the first puts, and what pages of overtaken walks were open.
func TestWalker_putsABoundedNumberOfSchedulesForAnyNumberOfChanges(t *testing.T) {
	t.Parallel()
	skipUncounted(t)
	for _, c := range []struct{ changes, items int }{{100, 300}, {10, 300}, {10, 1000}} {
		t.Run(fmt.Sprint(c.changes, " over ", c.items), func(t *testing.T) {
			t.Parallel()
			w := setupWalk(t, c.items)
			w.slowly()
			for n := range c.changes {
				w.changeZone(n)
				if n == 0 { // the first walk has reached its second page
					w.callOnce(t)
				}
			}
			w.carryOut()
			w.runUntilIdle()
			require.LessOrEqual(t, w.counts[reminders.Scheduled], 2*c.items+4*50, "with the first puts")
			require.GreaterOrEqual(t, w.counts[reminders.Scheduled], 2*c.items)
			w.requireExact()
		})
	}
}

// callOnce has the walker work on the first message until its time is up, and puts what is left back.
func (w *fixture) callOnce(t *testing.T) {
	t.Helper()
	m, _ := w.queue.Begin(w.queue.Ready()[0].ID)
	require.NoError(t, w.walker.Handle(t.Context(), m.Body))
	w.queue.Done(m.ID)
}

// A walk is overtaken in the middle of a page. The page's items have lost their reminders since, and no record but
// their own names the offsets: the walk reconciles them, and only then ends.
func TestWalker_finishesTheOpenPageOfAnOvertakenWalk(t *testing.T) {
	t.Parallel()
	w := setupWalk(t, 120)
	w.moveTo("Europe/Berlin")
	message := w.setOff(w.records()[0])
	held := &heldScheduler{scheduler: w.scheduler, before: func() {
		w.edit("task_0000", func(it item.Item) { delete(it, "reminderMinutes") })
		w.moveTo("Asia/Tokyo")
		records := w.records()
		require.NoError(t, w.consumer.Apply(t.Context(), records[:1])[0].Err) // of the task: its schedule is deleted
	}}
	require.ErrorIs(t, w.slowWalker(held).Handle(t.Context(), message), schedule.ErrUnavailable)
	require.Contains(t, w.schedules(), "task_0000 -0 02T08:00", "that of the old snapshot")
	before := w.counts[reminders.Scheduled]
	require.NoError(t, w.walker.Handle(t.Context(), message))
	require.NotContains(t, w.schedules(), "task_0000 -0 02T08:00")
	require.True(t, w.cursor().Bool("done"))
	require.LessOrEqual(t, w.counts[reminders.Scheduled]-before, 100, "the page, left by the other worker and open")
	require.Len(t, w.queue.Waiting(), 1, "its own message, which the test gave to the walker itself")
	w.deliver(w.history...)
	require.Len(t, w.schedules(), 119)
	w.requireExact()
}

// A change of another setting raises the version of USER_META. It ends no walk.
func TestWalker_isNotOvertakenByAChangeOfAnotherSetting(t *testing.T) {
	t.Parallel()
	w := setupWalk(t, 60)
	w.moveTo("Europe/Berlin")
	w.setOff(w.records()[0])
	w.editMeta(func(it item.Item) { it.Map("preferences")["theme"] = item.String("light") })
	w.carryOut()
	for _, line := range w.schedules() {
		require.Contains(t, line, "02T08:00")
	}
	w.requireExact()
}

// A release before this one changes the zone without the version of the change. Its walk is not overtaken by a change
// before it, and overtakes none.
func TestWalker_isOvertakenByNoChangeWithoutItsVersion(t *testing.T) {
	t.Parallel()
	for _, has := range []int64{0, 1} {
		w := setupWalk(t, 60)
		w.moveTo("Asia/Tokyo")
		w.runUntilIdle()
		w.editMeta(func(it item.Item) { it["defaultTzid"] = item.String("Europe/Berlin") })
		meta, err := w.store.Get(t.Context(), entity.MetaKey(user))
		require.NoError(t, err)
		meta = meta.Clone()
		delete(meta, "zoneVersion")
		if has > 0 {
			meta["zoneVersion"] = item.Int(has)
		}
		require.NoError(t, w.store.Put(t.Context(), table.Put{Item: meta}))
		w.deliver(w.records()...)
		for _, line := range w.schedules() {
			require.Contains(t, line, "02T08:00")
		}
		w.requireExact()
	}
}

// Two changes in one second: the zone's instant cannot tell them apart, its version does.
func TestWalker_isOvertakenByAChangeInTheSameSecond(t *testing.T) {
	t.Parallel()
	w := setupWalk(t, 3)
	w.changeZone(0)
	w.changeZone(1)
	first, second := w.queue.Waiting()[0], w.queue.Waiting()[1]
	require.NoError(t, w.walker.Handle(t.Context(), first.Body))
	require.Equal(t, 3, w.counts[reminders.Scheduled])
	require.NoError(t, w.walker.Handle(t.Context(), second.Body))
	require.Equal(t, 6, w.counts[reminders.Scheduled])
	w.requireExact()
}

// A record of a change that another has overtaken sets off nothing, unless its walk was begun.
func TestConsumer_setsOffNoWalkThatWasOvertakenBefore(t *testing.T) {
	t.Parallel()
	w := setupWalk(t, 3)
	for n := range 3 {
		w.moveTo(zones[n])
	}
	records := w.records()
	for _, o := range w.consumer.Apply(t.Context(), records) {
		require.NoError(t, o.Err)
	}
	require.Len(t, w.queue.Waiting(), 1)
	require.Len(t, w.rows(entity.ItemPrefix(entity.RowZone)), 1)
	w.carryOut()
	w.requireExact()
}

// What is left goes behind all other messages of the user, under a name of its own.
func TestWalker_putsWhatIsLeftBehindAllOthers(t *testing.T) {
	t.Parallel()
	w := setupWalk(t, 400)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.except("mst_1", "20251203", `{"reminderMinutes":[5]}`)
	w.runUntilIdle()
	w.slowly()
	w.changeZone(0)
	w.patchSeries("mst_1", `{"startUtc":"2025-12-01T16:00:00Z","endUtc":null}`)
	for _, o := range w.consumer.Apply(t.Context(), w.records()) {
		require.NoError(t, o.Err)
	}
	cursorOf := func(m queue.Message) string {
		var job struct{ UserID, Cursor string }
		require.NoError(t, json.Unmarshal(m.Body, &job))
		require.Equal(t, user, job.UserID)
		return job.Cursor[:4]
	}
	require.Equal(t, "ZONE", cursorOf(w.queue.Ready()[0]))
	w.callOnce(t)
	waiting := w.queue.Waiting()
	require.Len(t, waiting, 2)
	require.Equal(t, []string{"SERI", "ZONE"}, []string{cursorOf(waiting[0]), cursorOf(waiting[1])})
	require.Equal(t, waiting[0].Group, waiting[1].Group)
	require.NotContains(t, waiting[0].Group, user)
	w.carryOut()
	w.requireExact()
}

func TestWalker_refusesABodyThatIsNoWalks(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for body, field := range map[string]string{
		`[]`: "", `{}`: "userId", `{"userId":"a#b","cursor":"ZONE#1"}`: "userId", `{"userId":"ann"}`: "cursor",
		`{"userId":"ann","cursor":"ZONE#x"}`: "cursor", `{"userId":"ann","cursor":"TASK#task_1"}`: "cursor",
	} {
		err := w.walker.Handle(t.Context(), []byte(body))
		var wrong *reminders.PayloadError
		require.True(t, errors.As(err, &wrong), "%s: %v", body, err)
		require.Equal(t, field, wrong.Field, body)
	}
	require.Empty(t, w.rows(""))
}

// The cursor of a message has outlived its ttl: the walk begins again.
func TestWalker_beginsAgainWithoutItsCursor(t *testing.T) {
	t.Parallel()
	w := setupWalk(t, 3)
	w.moveTo("Europe/Berlin")
	message := w.setOff(w.records()[0])
	delete(w.revisions, w.cursor().Key())
	require.NoError(t, w.store.Delete(t.Context(), table.Delete{Key: w.cursor().Key()}))
	require.NoError(t, w.walker.Handle(t.Context(), message))
	require.Equal(t, 6, w.counts[reminders.Scheduled])
	require.True(t, w.cursor().Bool("done"))
	w.requireExact()
}

// Verification names a walk whose message was lost, ten minutes after it was set off, and carries it out.
func TestResume_carriesOutAWalkWhoseMessageWasLost(t *testing.T) {
	t.Parallel()
	w := setupWalk(t, 3)
	w.moveTo("Europe/Berlin")
	w.setOff(w.records()[0])
	require.False(t, w.consumer.Stalled(w.cursor()))
	w.to(w.now.Add(11 * time.Minute))
	require.True(t, w.consumer.Stalled(w.cursor()))
	require.NoError(t, w.consumer.Resume(t.Context(), w.cursor()))
	require.False(t, w.consumer.Stalled(w.cursor()))
	w.requireExact()
}

// A walk of a user whose account is gone is done, and touches nothing.
func TestWalker_leavesTheItemsOfAUserWhoIsGone(t *testing.T) {
	t.Parallel()
	w := setupWalk(t, 3)
	w.moveTo("Europe/Berlin")
	message := w.setOff(w.records()[0])
	config := w.config()
	for _, c := range []struct {
		isGone bool
		err    error
	}{{true, nil}, {false, table.ErrUnavailable}} {
		config.IsGone = func(_ context.Context, of string) (bool, error) {
			require.Equal(t, user, of)
			return c.isGone, c.err
		}
		require.ErrorIs(t, reminders.NewWalker(config).Handle(t.Context(), message), c.err)
		require.Equal(t, 3, w.counts[reminders.Scheduled])
	}
}

// No change of zone, before or after, ends the walk of a series.
func TestWalker_carriesOutTheWalkOfASeriesAfterAChangeOfZone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, ""))
	w.except("mst_1", "20251203", `{"reminderMinutes":[5]}`)
	w.moveTo("Europe/Berlin")
	w.runUntilIdle()
	w.patchSeries("mst_1", `{"startUtc":"2025-12-01T16:00:00Z","endUtc":null}`)
	w.runUntilIdle()
	require.Equal(t, []string{"inst_20251203_1 -5 03T15:55"}, w.schedules())
	w.requireExact()
}
