package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
)

func TestReadPayload_saysWhatItsScheduleIsFor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "60"))
	w.runUntilIdle()
	name := reminders.ScheduleName(user, "task_1", 60)
	subject, err := reminders.ReadPayload(w.registry, w.scheduler.named(name).Payload)
	require.NoError(t, err)
	require.Equal(t, reminders.Subject{
		User: user, Type: w.registry.ByName("TASK"), ID: "task_1", OffsetMinutes: 60, Due: noon.Add(time.Hour),
	}, subject)
	require.Equal(t, name, subject.Name())
	var malformed *reminders.PayloadError
	subject, err = reminders.ReadPayload(w.registry, []byte(`{"userId":"ann"}`))
	require.ErrorAs(t, err, &malformed)
	require.Equal(t, reminders.Subject{}, subject)
}

func TestWanted_changesNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "0,60"))
	w.runUntilIdle()
	typ := w.registry.ByName("TASK")
	due := reminders.Subject{User: user, Type: typ, ID: "task_1", OffsetMinutes: 60, Due: noon.Add(time.Hour)}
	wanted := func() (names []string, late []reminders.Subject) {
		schedules, late, err := w.consumer.Wanted(t.Context(), user, typ, "task_1")
		require.NoError(t, err)
		for _, s := range schedules {
			require.Equal(t, w.scheduler.named(s.Name), s)
			names = append(names, s.Name)
		}
		return names, late
	}
	start, before := reminders.ScheduleName(user, "task_1", 0), reminders.ScheduleName(user, "task_1", 60)
	names, late := wanted()
	require.Equal(t, []string{start, before}, names)
	require.Empty(t, late)
	w.to(noon.Add(90 * time.Minute))
	names, late = wanted()
	require.Equal(t, []string{start}, names)
	require.Equal(t, []reminders.Subject{due}, late)
	require.Empty(t, w.published())

	require.NoError(t, w.consumer.Reconcile(t.Context(), user, typ, "task_1", 60))
	require.Equal(t, []string{"task_1 -60 01T13:00"}, w.published())
	_, late = wanted()
	require.Empty(t, late)

	w.create("mst_1", fmt.Sprintf(dailyAt, "15"))
	schedules, late, err := w.consumer.Wanted(t.Context(), user, w.registry.ByName("MASTER"), "mst_1")
	require.NoError(t, err)
	require.Empty(t, late)
	require.Len(t, schedules, 1)
	require.Equal(t, "2025-12-01T13:45:00Z", at(schedules[0].At))

	w.create("task_2", `{"title":"t","dueUtc":"2025-12-01T14:00:00","reminderMinutes":[15]}`)
	w.editMeta(func(it item.Item) { it["defaultTzid"] = item.String("Nowhere/Atlantis") })
	_, _, err = w.consumer.Wanted(t.Context(), user, typ, "task_2")
	require.ErrorContains(t, err, "Nowhere/Atlantis")
}

func TestInStep_matchesAScheduleFoundWithTheOneWanted(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "0,60"))
	w.runUntilIdle()
	wanted := w.scheduler.named(reminders.ScheduleName(user, "task_1", 60))
	other := w.scheduler.named(reminders.ScheduleName(user, "task_1", 0))
	for name, c := range map[string]struct {
		by   time.Duration
		want bool
	}{
		"at the instant": {0, true}, "a second before": {-time.Second, false},
		"as late as one that is nearly due": {61 * time.Second, true}, "later": {62 * time.Second, false},
	} {
		found := wanted
		found.At = wanted.At.Add(c.by)
		require.Equal(t, c.want, reminders.InStep(found, wanted, w.registry), name)
	}
	found := wanted
	found.Payload = other.Payload
	require.False(t, reminders.InStep(found, wanted, w.registry), "it says something else")
	epoch := schedule.Schedule{Name: wanted.Name, At: time.Time{}, Payload: []byte(`{}`)}
	require.False(t, reminders.InStep(epoch, epoch, w.registry), "it says nothing")
}

// A repair takes up what did not move for ten minutes: no invocation lasts so long.
func TestOverdue_findsWhatDidNotMoveForTenMinutes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.now = noon.Add(24 * time.Hour)
	for name, c := range map[string]struct {
		state string
		age   time.Duration // of the delivery; none if negative
		want  bool
	}{
		"for ten minutes": {"pending", 10 * time.Minute, false},
		"for longer":      {"pending", 10*time.Minute + time.Second, true},
		"never begun":     {"pending", -1, true}, "sent": {"sent", time.Hour, false}, "sent, of no time": {"sent", -1, false},
	} {
		row := item.Item{"state": item.String(c.state)}
		if c.age >= 0 {
			row.SetTime("firedAt", w.now.Add(-c.age))
		}
		require.Equal(t, c.want, w.notifier.Overdue(row), name)
	}
	life := 30 * 24 * time.Hour
	cursor := func(age time.Duration, isDone bool) item.Item {
		return item.Item{"ttl": item.Int(w.now.Add(life - age).Unix()), "done": item.Bool(isDone)}
	}
	require.False(t, w.consumer.Stalled(cursor(10*time.Minute, false)))
	require.True(t, w.consumer.Stalled(cursor(10*time.Minute+time.Second, false)))
	require.False(t, w.consumer.Stalled(cursor(time.Hour, true)))
}

// A delivery of no time that is pending is driven: nothing says that its call is still at work.
func TestOverdue_findsADeliveryOfNoTime(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.advance(2 * time.Hour)
	row := w.rows(entity.DeliveryPrefix("rem_1"))[0].Clone()
	delete(row, "firedAt")
	began, err := w.notifier.Redrive(t.Context(), row)
	require.NoError(t, err)
	require.False(t, began, "it was sent")
	row["state"] = item.String("pending")
	_, err = w.notifier.Redrive(t.Context(), row)
	require.ErrorContains(t, err, "an instant is missing")
}

// stalledWalk is the cursor of a walk that died after its first page's list.
func stalledWalk(w *fixture, prefix string) item.Item {
	w.Helper()
	message := w.setOff(w.records()[0])
	cursor := func() item.Item { return w.rows(entity.ItemPrefix(prefix))[0] }
	for step := 1; len(cursor().Map("open")) == 0; step++ {
		require.Less(w, step, 200)
		w.fault.at, w.fault.die, w.fault.steps = step, true, 0
		require.Error(w, w.fault.under(func() error { return w.walker.Handle(w.Context(), message) }))
	}
	w.fault.at = 0
	row := cursor()
	require.False(w, row.Bool("done"))
	return row
}

func TestResume_endsAWalkFromItsCursor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin  func(w *fixture)
		prefix string
		want   []string
	}{
		"of a change of zone": {func(w *fixture) {
			w.create("task_1", fmt.Sprintf(floatingTask, "2025-12-02T09:00:00", "0"))
			w.runUntilIdle()
			w.moveTo("Europe/Berlin")
		}, entity.RowZone, []string{"task_1 -0 02T08:00"}},
		"of a change of a series": {func(w *fixture) {
			w.create("mst_1", fmt.Sprintf(dailyAt, ""))
			w.except("mst_1", "20251203", `{"reminderMinutes":[5]}`)
			w.runUntilIdle()
			w.patchSeries("mst_1", `{"startUtc":"2025-12-01T16:00:00Z","endUtc":null}`)
		}, entity.RowSeries, []string{"inst_20251203_1 -5 03T15:55"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			c.begin(w)
			cursor := stalledWalk(w, c.prefix)
			w.to(w.now.Add(11 * time.Minute))
			require.True(t, w.consumer.Stalled(cursor))
			require.NoError(t, w.consumer.Resume(t.Context(), cursor))
			require.Equal(t, c.want, w.schedules())
			require.True(t, w.rows(entity.ItemPrefix(c.prefix))[0].Bool("done"))
			w.requireExact()
		})
	}
}

func TestResume_refusesARowThatIsNoCursor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, key := range []item.Key{
		{PK: "FEED#x", SK: "ZONE#2"}, {PK: "USER#ann", SK: "ZONE#"}, {PK: "USER#ann", SK: "ZONE#two"},
		{PK: "USER#ann", SK: "SERIES#mst_1#two"}, {PK: "USER#ann", SK: "TASK#2"},
	} {
		require.ErrorIs(t, w.consumer.Resume(t.Context(), key.Item()), reminders.ErrCursor, key)
		require.Empty(t, w.rows(""))
	}
}

func TestNew_refusesAnIncompleteConfiguration(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, leaveOut := range map[string]func(c *reminders.Config){
		"store": func(c *reminders.Config) { c.Store = nil }, "registry": func(c *reminders.Config) { c.Registry = nil },
		"scheduler": func(c *reminders.Config) { c.Scheduler = nil }, "bus": func(c *reminders.Config) { c.Bus = nil },
		"clock": func(c *reminders.Config) { c.Now = nil }, "log": func(c *reminders.Config) { c.Log = nil },
	} {
		c := w.consumer.Config
		leaveOut(&c)
		require.PanicsWithValue(t, "reminders: incomplete configuration", func() { reminders.New(c) }, name)
		require.PanicsWithValue(t, "reminders: incomplete configuration", func() { reminders.NewNotifier(c) }, name)
		require.PanicsWithValue(t, "reminders: incomplete configuration", func() { reminders.NewRepairer(c) }, name)
		require.PanicsWithValue(t, "reminders: incomplete configuration", func() { reminders.NewWalker(c) }, name)
	}
	for name, leaveOut := range map[string]func(c *reminders.Config){
		"queue": func(c *reminders.Config) { c.Queue = nil }, "ids": func(c *reminders.Config) { c.NewID = nil },
	} {
		c := w.consumer.Config
		leaveOut(&c)
		require.PanicsWithValue(t, "reminders: incomplete configuration", func() { reminders.New(c) }, name)
		require.PanicsWithValue(t, "reminders: incomplete configuration", func() { reminders.NewWalker(c) }, name)
		require.NotPanics(t, func() { reminders.NewNotifier(c) }, name)
		require.NotPanics(t, func() { reminders.NewRepairer(c) }, name)
	}
	c := w.consumer.Config
	c.Observe = nil
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "60"))
	for _, o := range reminders.New(c).Apply(t.Context(), w.records()) {
		require.Equal(t, change.Outcome{}, o, "no caller needs to watch")
	}
}
