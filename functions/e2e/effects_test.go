package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

// requireSchedules holds the scheduler against what must be in it: the instants of calls, by schedule name.
func (w *fixture) requireSchedules(want map[string]time.Time) {
	w.Helper()
	have := map[string]string{}
	for name, s := range w.services.waiting() {
		have[name] = s.ScheduleExpression
		require.Equal(w, group, s.GroupName)
		require.Equal(w, "UTC", s.ScheduleExpressionTimezone)
		require.Equal(w, "NONE", s.ActionAfterCompletion)
		require.Equal(w, [3]string{targetARN, roleARN, deadLetter},
			[3]string{s.Target.Arn, s.Target.RoleArn, s.Target.DeadLetterConfig.Arn})
	}
	expressions := map[string]string{}
	for name, at := range want {
		expressions[name] = at.UTC().Format(scheduleForm)
	}
	require.Equal(w, expressions, have)
}

// requireEvent returns the one event of a type, after checking it against the schema beside the payloads.
func (w *fixture) requireEvent(detailType string) map[string]any {
	w.Helper()
	events := w.services.events(detailType)
	require.Len(w, events, 1)
	require.Equal(w, busName, events[0].EventBusName)
	require.Equal(w, "nexus", events[0].Source)
	detail := object(w.T, events[0].Detail)
	requireSchema(w.T, detailType, detail)
	require.Equal(w, user, detail["userId"])
	return detail
}

func TestEffects_keepTheSchedulesOfATaskAndArchiveIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Effects)
	name := reminders.ScheduleName(user, taskID, 30)

	f.handled(w.happen("stream-task-created"))
	w.requireSchedules(map[string]time.Time{name: w.moved(present.Add(2*time.Hour + 30*time.Minute))})

	f.handled(w.happen("stream-task-completed"))
	w.requireSchedules(nil)
	timer := w.row(entity.TimerKey(user, taskID, 2))
	require.NotNil(t, timer)
	require.Equal(t, w.moved(present.Add(-time.Hour)).Unix(), timer.Int(entity.AttrTTL))

	f.handled(w.happen("stream-timer-expired"))
	task := w.item(product.TypeTask, taskID)
	require.Equal(t, product.StatusArchived, task.Str(entity.AttrStatus))
	require.EqualValues(t, 3, task.Int(entity.AttrVersion))

	f.handled(w.happen("stream-task-archived"))
	detail := w.requireEvent("TaskArchived")
	require.Equal(t, taskID, detail["itemId"])
	require.EqualValues(t, 3, detail["version"])
	copied := archive + "/archive/" + user + "/" + taskID + "/3.json"
	require.Equal(t, []string{copied}, w.services.stored())
	require.Contains(t, w.services.content(copied), "Water the plants")
	task = w.item(product.TypeTask, taskID)
	updated, _ := task.Time(entity.AttrUpdatedAt)
	require.Equal(t, updated.Add(7*24*time.Hour).Unix(), task.Int(entity.AttrTTL))
	require.NotNil(t, w.row(entity.ColdKey(user, taskID)))

	f.handled(w.happen("stream-task-deleted"))
	require.Empty(t, w.services.stored())
	require.Nil(t, w.row(entity.ColdKey(user, taskID)))
}

func TestEffects_expireNothingWithoutAStoredCopy(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.services.breakDown("objects", true)
	f := w.start(env.Effects)
	payload := w.happen("stream-task-archived")
	require.Contains(t, string(f.succeed(payload)), `"itemIdentifier"`)
	require.False(t, w.item(product.TypeTask, taskID).Has(entity.AttrTTL))

	w.services.breakDown("objects", false)
	f.handled(payload)
	require.True(t, w.item(product.TypeTask, taskID).Has(entity.AttrTTL))
	w.requireEvent("TaskArchived")
}

func TestEffects_followAReminderAndAChangeOfZone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Effects)
	fixed, floating := reminders.ScheduleName(user, fixedID, 0), reminders.ScheduleName(user, floatingID, 0)
	reading := w.moved(present.Add(20 * time.Hour)) // of the floating one, in UTC before there is a USER_META

	f.handled(w.happen("stream-reminder-created"))
	w.requireSchedules(map[string]time.Time{fixed: w.moved(present.Add(2 * time.Hour)), floating: reading})

	f.handled(w.happen("stream-reminder-snoozed"))
	w.requireSchedules(map[string]time.Time{fixed: w.moved(present.Add(30 * time.Minute)), floating: reading})

	f.handled(w.happen("stream-reminder-deleted"))
	w.requireSchedules(map[string]time.Time{floating: reading})

	f.handled(w.happen("stream-zone-changed")) // to India, half past five hours before UTC
	w.requireSchedules(map[string]time.Time{floating: reading})
	require.Equal(t, 1, w.carryOutWalks())
	w.requireSchedules(map[string]time.Time{floating: reading.Add(-5*time.Hour - 30*time.Minute)})

	for _, name := range []string{
		"stream-reminder-created", "stream-reminder-snoozed", "stream-reminder-deleted", "stream-zone-changed",
	} {
		f.handled(w.now(name)) // delivered again, after everything has happened
	}
	require.Zero(t, w.carryOutWalks(), "the walk is done")
	w.requireSchedules(map[string]time.Time{floating: reading.Add(-5*time.Hour - 30*time.Minute)})
}

func TestEffects_announceExpiryAndRestoreUnderOneDeliveryID(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Effects)
	f.handled(w.happen("stream-item-expired"))
	detail := w.requireEvent("ItemExpired")
	require.Equal(t, dismissedID, detail["itemId"])
	require.EqualValues(t, 3, detail["version"])

	f.handled(w.happen("stream-item-restored"))
	require.EqualValues(t, 4, w.requireEvent("ItemRestored")["version"])

	f.handled(w.now("stream-item-expired"))
	events := w.services.events("ItemExpired")
	require.Len(t, events, 2)
	require.JSONEq(t, events[0].Detail, events[1].Detail)
}

func TestEffects_parkForEachConsumerWhatTheyCannotDecode(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Effects)
	f.handled(w.happen("stream-undecodable"))
	stored := w.services.stored()
	consumers := []string{"archive/", "reminders/", "webhooks/"}
	require.Len(t, stored, len(consumers))
	for i, consumer := range consumers {
		require.True(t, strings.HasPrefix(stored[i], parking+"/"+consume.ParkedPrefix+consumer), "%s", stored[i])
	}
}
