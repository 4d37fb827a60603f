package reminders_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
)

func TestNotifier_firesOnceMoreForASnoozeAfterFiring(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.advance(65 * time.Minute)
	w.snooze("rem_1", noon.Add(90*time.Minute))
	w.runUntilIdle()
	require.Equal(t, []string{"rem_1 -0 01T13:30"}, w.schedules())
	w.advance(time.Hour)

	require.Equal(t, []string{"rem_1 -0 01T13:00", "rem_1 -0 01T13:30"}, w.published())
	it := w.item("rem_1")
	require.Equal(t, "PENDING", it.Str("status"))
	require.False(t, it.Has("snoozeState"))
	require.Equal(t, "2025-12-01T13:30:00Z", it.Str("lastFiredUtc"))
	require.Equal(t, "2025-12-01T13:05:00Z", it.Str("dueSetAt"), "only commands move dueSetAt")
	require.Equal(t, "2025-12-01T13:00:00Z", it.Str("GSI1SK"), "the index key follows the status")
	require.Equal(t, int64(4), it.Int("version"))
	last := w.bus.details(t)[1]
	require.Equal(t, "2025-12-01T13:00:00Z", last.OccurrenceUtc, "a snooze announces its occurrence")
	w.requireExact()
}

func TestNotifier_skipsTheTriggerOfAReminderSnoozedBeforeIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(2*time.Hour))))
	w.runUntilIdle()
	w.snooze("rem_1", noon.Add(time.Hour))
	w.advance(70 * time.Minute)
	require.Equal(t, []string{"rem_1 -0 01T13:00"}, w.published())
	require.Empty(t, w.schedules())

	w.set("rem_1", "triggerUtc", item.String(at(noon.Add(100*time.Minute))))
	w.advance(3 * time.Hour)
	require.Equal(t, []string{"rem_1 -0 01T13:00", "rem_1 -0 01T13:40"}, w.published(),
		"a new trigger counts, also one before the old")
	w.requireExact()
}

func TestNotifier_allowsASecondSnoozeBeforeTheTrigger(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(2*time.Hour))))
	w.runUntilIdle()
	w.snooze("rem_1", noon.Add(time.Hour))
	w.advance(65 * time.Minute)
	w.snooze("rem_1", noon.Add(80*time.Minute))
	w.advance(24 * time.Hour)
	require.Equal(t, []string{"rem_1 -0 01T13:00", "rem_1 -0 01T13:20"}, w.published())
	w.requireExact()
}

func TestNotifier_keepsASnoozeMadeDuringADelivery(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.advance(65 * time.Minute)
	w.snooze("rem_1", noon.Add(90*time.Minute))
	w.runUntilIdle()
	payload := w.scheduler.named(reminders.ScheduleName(user, "rem_1", 0)).Payload
	w.now = noon.Add(90 * time.Minute)
	for step := 1; len(w.bus.Events()) == 1; step++ {
		w.fault.at, w.fault.die, w.fault.steps = step, true, 0
		require.Error(t, w.fault.under(func() error { return w.notifier.Handle(t.Context(), payload) }))
	}
	w.snooze("rem_1", noon.Add(2*time.Hour))
	require.NoError(t, w.notifier.Handle(t.Context(), payload))
	require.Equal(t, "SNOOZED", w.item("rem_1").Str("status"))
	w.advance(24 * time.Hour)
	require.Equal(t, []string{"rem_1 -0 01T13:00", "rem_1 -0 01T13:30", "rem_1 -0 01T14:00"}, w.published())
	w.requireExact()
}

func TestNotifier_replacesATriggerByALaterSnooze(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.runUntilIdle()
	w.snooze("rem_1", noon.Add(2*time.Hour))
	w.advance(24 * time.Hour)
	require.Equal(t, []string{"rem_1 -0 01T14:00"}, w.published())
	w.requireExact()
}

func TestNotifier_repeatsADeliveryAfterACrashBeforeSent(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.runUntilIdle()
	payload := w.scheduler.named(reminders.ScheduleName(user, "rem_1", 0)).Payload
	w.now = noon.Add(time.Hour)
	for step := 1; len(w.bus.Events()) == 0; step++ {
		w.fault.at, w.fault.die, w.fault.steps = step, true, 0
		require.Error(t, w.fault.under(func() error { return w.notifier.Handle(t.Context(), payload) }))
	}
	deliveries := w.rows(entity.DeliveryPrefix("rem_1"))
	require.Len(t, deliveries, 1)
	require.Equal(t, "pending", deliveries[0].Str("state"))

	w.set("rem_1", "title", item.String("Another title"))
	w.remove("rem_1")
	require.NoError(t, w.notifier.Handle(t.Context(), payload))
	w.runUntilIdle()
	require.Len(t, w.bus.Events(), 2)
	require.Equal(t, w.bus.Events()[0], w.bus.Events()[1], "the event is as the delivery has it, without the item")
	w.requireExact()
}

func TestNotifier_dropsACallForSomethingElseAndReconciles(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *fixture){
		"moved on":       func(w *fixture) { w.set("task_1", "dueUtc", item.String(at(noon.Add(5*time.Hour)))) },
		"moved back":     func(w *fixture) { w.set("task_1", "dueUtc", item.String(at(noon.Add(-5*time.Hour)))) },
		"done":           func(w *fixture) { w.set("task_1", "status", item.String("COMPLETED")) },
		"gone":           func(w *fixture) { w.remove("task_1") },
		"another offset": func(w *fixture) { w.set("task_1", "reminderMinutes", item.Ints(15)) },
		"reopened too late": func(w *fixture) {
			w.set("task_1", "status", item.String("COMPLETED"))
			w.now = w.now.Add(time.Second)
			w.set("task_1", "status", item.String("BACKLOG"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "60"))
			w.runUntilIdle()
			w.now = noon.Add(time.Hour)
			change(w)
			for _, payload := range w.scheduler.due(w.now) {
				require.NoError(t, w.notifier.Handle(t.Context(), payload))
			}
			require.Equal(t, 1, w.counts[reminders.Dropped])
			w.runUntilIdle()
			require.Empty(t, w.published())
			w.requireExact()
		})
	}
}

func TestNotifier_changesNothingForAnEarlyRepeatedOrDeletedCall(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.runUntilIdle()
	payload := w.scheduler.named(reminders.ScheduleName(user, "rem_1", 0)).Payload
	require.NoError(t, w.notifier.Handle(t.Context(), payload))
	require.Empty(t, w.published())
	require.Equal(t, []string{"rem_1 -0 01T13:00"}, w.schedules())
	w.advance(2 * time.Hour)
	for range 3 {
		require.NoError(t, w.notifier.Handle(t.Context(), payload))
	}
	require.Len(t, w.bus.Events(), 1)
	w.requireExact()
}

func TestNotifier_storesADeliveryForThirtyDays(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.editMeta(func(it item.Item) { it.Map("preferences")["enableSoundNotifications"] = item.Bool(false) })
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(2*time.Hour)), "15"))
	w.advance(3 * time.Hour)
	deliveries := w.rows(entity.DeliveryPrefix("evt_1"))
	require.Len(t, deliveries, 1)
	delivery := deliveries[0].Str("deliveryId")
	fired := noon.Add(105 * time.Minute)
	require.Equal(t, item.Item{
		"PK": item.String("USER#ann"), "SK": item.String("FIRED#evt_1#15#2025-12-01T14:00:00Z#2025-12-01T13:45:00Z"),
		"state": item.String("sent"), "deliveryId": item.String(delivery), "title": item.String("Standup"),
		"itemType": item.String("EVENT"), "itemId": item.String("evt_1"), "itemVersion": item.Int(1),
		"offsetMinutes": item.Int(15), "occurrenceUtc": item.String("2025-12-01T14:00:00Z"),
		"dueUtc": item.String("2025-12-01T13:45:00Z"), "firedAt": item.String(at(fired)), "notifyBrowser": item.Bool(true),
		"notifySound": item.Bool(false),
		"ttl":         item.Int(fired.AddDate(0, 0, 30).Unix()),
	}, deliveries[0])
	require.Equal(t, []reminders.ReminderDue{{
		DeliveryID: delivery, UserID: "ann", OccurredAt: "2025-12-01T13:45:00Z", ItemType: "EVENT", ItemID: "evt_1",
		Title: "Standup", OccurrenceUtc: "2025-12-01T14:00:00Z", DueUtc: "2025-12-01T13:45:00Z", OffsetMinutes: 15,
		Notify: reminders.Notify{Browser: true},
	}}, w.bus.details(t))
}

func TestReadPayload_namesTheMalformedField(t *testing.T) {
	t.Parallel()
	w := setup(t)
	valid := `{"userId":"ann","itemType":"TASK","itemId":"task_1","offsetMinutes":5,` +
		`"occurrenceUtc":"2025-12-01T14:00:00Z","dueUtc":"2025-12-01T13:55:00Z"}`
	require.NoError(t, w.notifier.Handle(t.Context(), []byte(valid)))
	for _, c := range []struct{ field, old, new string }{
		{"", valid, `not JSON`},
		{"", valid, `[]`},
		{"", valid, `"` + strings.Repeat("x", 70_000) + `"`},
		{"userId", `"ann"`, `"ann#2025"`},
		{"userId", `"ann"`, `7`},
		{"userId", `"userId":"ann",`, ``},
		{"itemType", `"TASK"`, `"NOTE"`},
		{"itemType", `"TASK"`, `"USER_META"`},
		{"itemType", `"TASK"`, `"TIMER"`},
		{"itemId", `"task_1"`, `"evt_1"`},
		{"itemId", `"task_1"`, `"task_1#2"`},
		{"itemId", `"TASK","itemId":"task_1"`, `"INSTANCE","itemId":"inst_1"`},
		{"itemId", `"TASK","itemId":"task_1"`, `"INSTANCE","itemId":"inst_20251301_1"`},
		{"itemId", `"TASK","itemId":"task_1"`, `"INSTANCE","itemId":"inst_20251201_a#b"`},
		{"offsetMinutes", `5,`, `-1,`},
		{"offsetMinutes", `5,`, `40321,`},
		{"offsetMinutes", `"offsetMinutes":5,`, ``},
		{"offsetMinutes", `5,`, `1e30,`},
		{"occurrenceUtc", `"2025-12-01T14:00:00Z"`, `"2025-12-01T14:00:00"`},
		{"dueUtc", `,"dueUtc":"2025-12-01T13:55:00Z"`, ``},
	} {
		err := w.notifier.Handle(t.Context(), []byte(strings.Replace(valid, c.old, c.new, 1)))
		var malformed *reminders.PayloadError
		require.ErrorAs(t, err, &malformed, c.new)
		require.Equal(t, c.field, malformed.Field, c.new)
		begins := "payload field " + c.field + " "
		if c.field == "" {
			begins = "payload "
		}
		require.True(t, strings.HasPrefix(err.Error(), begins) && !strings.Contains(err.Error(), "  "), err)
	}
}

func TestReadPayload_takesAPayloadAtItsLimits(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const longest = `{"userId":"ann","itemType":"TASK","itemId":"task_1","offsetMinutes":40320,` +
		`"occurrenceUtc":"2025-12-29T13:00:00Z","dueUtc":"2025-12-01T13:00:00Z"}`
	full := longest + strings.Repeat(" ", schedule.MaxPayload-len(longest))
	require.NoError(t, w.notifier.Handle(t.Context(), []byte(full)))
	var malformed *reminders.PayloadError
	require.ErrorAs(t, w.notifier.Handle(t.Context(), []byte(full+" ")), &malformed)
}

func TestRedrive_takesUpADeliveryAfterTenMinutes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.runUntilIdle()
	payload := w.scheduler.due(noon.Add(time.Hour))[0]
	w.now = noon.Add(time.Hour)
	for step := 1; len(w.bus.Events()) == 0; step++ {
		w.fault.at, w.fault.die, w.fault.steps = step, true, 0
		require.Error(t, w.fault.under(func() error { return w.notifier.Handle(t.Context(), payload) }))
	}
	w.now = w.now.Add(10 * time.Minute)
	began, err := w.notifier.Redrive(t.Context(), w.rows(entity.DeliveryPrefix("rem_1"))[0])
	require.NoError(t, err)
	require.False(t, began)
	w.now = w.now.Add(time.Second)
	began, err = w.notifier.Redrive(t.Context(), w.rows(entity.DeliveryPrefix("rem_1"))[0])
	require.NoError(t, err)
	require.True(t, began)
	w.runUntilIdle()
	require.Len(t, w.published(), 1)
	w.requireExact()

	row := w.rows(entity.DeliveryPrefix("rem_1"))[0].Clone()
	row["state"], row["deliveryId"] = item.String("pending"), item.String("")
	w.now = w.now.Add(time.Hour)
	_, err = w.notifier.Redrive(t.Context(), row)
	require.ErrorContains(t, err, "damaged row")
}

// schema is as much of JSON Schema as the event's uses.
type schema struct {
	Ref        string `json:"$ref"`
	Type       string
	Pattern    string
	Required   []string
	Properties map[string]schema
	Defs       map[string]schema `json:"$defs"`
	Minimum    float64
	Maximum    *float64
	MinLength  int
	MaxLength  *int
}

func (s schema) check(t *testing.T, root schema, at string, v any) {
	t.Helper()
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = root.Defs[name]
	}
	switch s.Type {
	case "object":
		members, ok := v.(map[string]any)
		require.True(t, ok, at)
		for _, name := range s.Required {
			require.Contains(t, members, name, at)
		}
		for name, member := range members {
			require.Contains(t, s.Properties, name, at)
			s.Properties[name].check(t, root, at+"/"+name, member)
		}
	case "string":
		require.IsType(t, "", v, at)
		require.Regexp(t, regexp.MustCompile(s.Pattern), v, at)
		require.GreaterOrEqual(t, len([]rune(v.(string))), s.MinLength, at)
		require.True(t, s.MaxLength == nil || len([]rune(v.(string))) <= *s.MaxLength, at)
	case "integer":
		require.IsType(t, 1.0, v, at)
		require.GreaterOrEqual(t, v, s.Minimum, at)
		require.True(t, s.Maximum == nil || v.(float64) <= *s.Maximum, at)
	case "boolean":
		require.IsType(t, true, v, at)
	default:
		require.Fail(t, "unknown type in the schema", "%s: %q", at, s.Type)
	}
}

func TestReminderDue_fitsItsSchema(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../events/ReminderDue.schema.json")
	require.NoError(t, err)
	var root schema
	require.NoError(t, json.Unmarshal(text, &root))
	require.Len(t, root.Required, len(root.Properties)-1)
	require.NotContains(t, root.Required, "occurrenceDate", "the one that not every delivery has")

	w := setup(t)
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(2*time.Hour)), "0,40320"))
	w.create("task_1", `{"title":"\u2603 \"quoted\"","isAllDay":true,"dueDate":"2025-12-02","reminderMinutes":[30]}`)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	series := "mst_" + strings.Repeat("x", 50)
	w.create(series, fmt.Sprintf(dailyAt, "0"))
	w.except(series, "20251201", `{"reminderMinutes":[10]}`)
	w.advance(27 * time.Hour)
	require.Len(t, w.bus.Events(), 5)
	for _, e := range w.bus.Events() {
		var detail any
		require.NoError(t, json.Unmarshal(e.Detail, &detail))
		root.check(t, root, "", detail)
	}
}

func TestNotifier_findsItsDeliveryAmongAnyNumber(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(2*time.Hour)), "15"))
	w.advance(3 * time.Hour)
	var others []item.Item
	for i := range 250 {
		row := entity.DeliveryKey(user, "evt_1", 99, noon, noon.Add(-time.Duration(i)*time.Minute)).Item()
		row["state"] = item.String("sent")
		others = append(others, row)
	}
	require.NoError(t, w.store.Load(t.Context(), others))
	w.deliver(w.history...)
	require.Len(t, w.bus.Events(), 1)
	require.Empty(t, w.schedules())
}
