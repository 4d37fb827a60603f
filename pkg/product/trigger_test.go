package product_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// threeDays are three triggers from Monday on, at nine in New York.
const threeDays = `{"title":"x","triggerUtc":"2025-12-01T14:00:00Z","tzid":"America/New_York",` +
	`"rrule":"FREQ=DAILY;COUNT=3"`

func TestReminder_keepsWhatItsRuleCountsFrom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		fields string // of the reminder, without the closing brace
		before item.Item
		patch  item.Item

		trigger, first, done, status string
	}{
		{name: "moved on along its occurrences", patch: item.Item{"triggerUtc": text("2025-12-02T14:00:00Z")},
			trigger: "2025-12-02T14:00:00Z", first: "2025-12-01T14:00:00Z", status: "PENDING"},
		{name: "moved on while it is snoozed", before: snoozedAt("2025-12-01T14:00:00Z"), patch: item.Item{
			"triggerUtc": text("2025-12-03T14:00:00Z"),
		},
			trigger: "2025-12-03T14:00:00Z", first: "2025-12-01T14:00:00Z", status: "SNOOZED"},
		{name: "moved beyond its last occurrence", patch: item.Item{"triggerUtc": text("2025-12-04T14:00:00Z")},
			trigger: "2025-12-04T14:00:00Z", first: "2025-12-04T14:00:00Z", status: "PENDING"},
		{name: "moved between its occurrences", before: snoozedAt("2025-12-01T14:00:00Z"), patch: item.Item{
			"triggerUtc": text("2025-12-02T14:00:01Z"),
		},
			trigger: "2025-12-02T14:00:01Z", first: "2025-12-02T14:00:01Z", status: "PENDING"},
		{name: "moved back to one of its occurrences", before: item.Item{"triggerUtc": text("2025-12-03T14:00:00Z")},
			patch:   item.Item{"triggerUtc": text("2025-12-02T14:00:00Z")},
			trigger: "2025-12-02T14:00:00Z", first: "2025-12-02T14:00:00Z", status: "PENDING"},
		{name: "moved on after it was completed", before: item.Item{"status": text("COMPLETED")},
			patch:   item.Item{"triggerUtc": text("2025-12-02T14:00:00Z")},
			trigger: "2025-12-02T14:00:00Z", first: "2025-12-02T14:00:00Z", status: "PENDING"},
		{name: "another zone", patch: item.Item{"tzid": text("Europe/London")},
			trigger: "2025-12-01T14:00:00Z", first: "2025-12-01T14:00:00Z", status: "PENDING"},
		{name: "another rule", before: item.Item{"triggerUtc": text("2025-12-02T14:00:00Z")},
			patch:   item.Item{"rrule": text("FREQ=WEEKLY")},
			trigger: "2025-12-02T14:00:00Z", first: "2025-12-02T14:00:00Z", status: "PENDING"},
		{name: "no rule any more", before: item.Item{"triggerUtc": text("2025-12-02T14:00:00Z"), "status": text("SNOOZED"),
			"snoozeState": snoozedAt("2025-12-01T14:00:00Z")["snoozeState"]}, patch: item.Item{"rrule": nil},
			trigger: "2025-12-02T14:00:00Z", status: "PENDING"},
		{name: "an end before the trigger", before: item.Item{"triggerUtc": text("2025-12-03T14:00:00Z")},
			patch:   item.Item{"rruleUntil": text("2025-12-02T14:00:00Z")},
			trigger: "2025-12-02T14:00:00Z", first: "2025-12-01T14:00:00Z", done: "2025-12-02T14:00:00Z", status: "PENDING"},
		{name: "an end behind the trigger", before: item.Item{"triggerUtc": text("2025-12-02T14:00:00Z")},
			patch:   item.Item{"rruleUntil": text("2025-12-02T14:00:00Z")},
			trigger: "2025-12-02T14:00:00Z", first: "2025-12-01T14:00:00Z", status: "PENDING"},
		{name: "more to come after its last", fields: threeDays + `,"rruleUntil":"2025-12-02T14:00:00Z"`,
			before:  item.Item{"triggerUtc": text("2025-12-02T14:00:00Z"), "doneTriggerUtc": text("2025-12-02T14:00:00Z")},
			patch:   item.Item{"rruleUntil": nil},
			trigger: "2025-12-03T14:00:00Z", first: "2025-12-01T14:00:00Z", done: "2025-12-02T14:00:00Z", status: "PENDING"},
		{name: "the same trigger anew, after it was over", before: item.Item{"triggerUtc": text("2025-12-03T14:00:00Z"),
			"doneTriggerUtc": text("2025-12-03T14:00:00Z")}, patch: item.Item{"triggerUtc": text("2025-12-03T15:00:00Z")},
			trigger: "2025-12-03T15:00:00Z", first: "2025-12-03T15:00:00Z", status: "PENDING"},
		{name: "a rule for one that is snoozed",
			fields: `{"title":"x","triggerUtc":"2025-12-01T14:00:00Z","tzid":"America/New_York"`,
			before: snoozedAt("2025-12-01T14:00:00Z"), patch: item.Item{"rrule": text("FREQ=DAILY")},
			trigger: "2025-12-02T14:00:00Z", first: "2025-12-01T14:00:00Z", done: "2025-12-01T14:00:00Z", status: "SNOOZED"},
		{name: "floating, on to an occurrence",
			fields:  `{"title":"x","triggerUtc":"2025-12-01T09:00:00","rrule":"FREQ=DAILY"`,
			patch:   item.Item{"triggerUtc": text("2025-12-07T09:00:00Z")},
			trigger: "2025-12-07T09:00:00Z", first: "2025-12-01T09:00:00Z", status: "PENDING"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fields := c.fields
			if fields == "" {
				fields = threeDays
			}
			it, errs := create(t, product.Reminder(), fields+"}")
			require.Empty(t, errs)
			before := with(it, c.before)
			it = product.Reminder().NextVersion(entity.ByUser, "ann", before, with(before, c.patch), noon, nil)
			require.Empty(t, product.Reminder().Validate(it))
			require.Equal(t, c.trigger, it.Str("triggerUtc"))
			require.Equal(t, c.first, it.Str("firstTriggerUtc"))
			require.Equal(t, c.done, it.Str("doneTriggerUtc"))
			require.Equal(t, c.status, it.Str("status"))
			require.Equal(t, c.status == "SNOOZED", it.Has("snoozeState"))
		})
	}
}

func TestPassTrigger_movesPastAnOccurrenceAndNeverBack(t *testing.T) {
	t.Parallel()
	it, errs := create(t, product.Reminder(), threeDays+"}")
	require.Empty(t, errs)
	for _, c := range []struct {
		occurrence, trigger string
		last                bool
	}{
		{"2025-11-30T14:00:00Z", "2025-12-01T14:00:00Z", false},
		{"2025-12-02T14:00:00Z", "2025-12-03T14:00:00Z", false},
		{"2025-12-01T14:00:00Z", "2025-12-03T14:00:00Z", false},
		{"2025-12-03T14:00:00Z", "2025-12-03T14:00:00Z", true},
		{"2025-12-02T14:00:00Z", "2025-12-03T14:00:00Z", false},
	} {
		occurrence, err := item.ParseInstant(c.occurrence)
		require.NoError(t, err)
		last, err := product.PassTrigger(it, occurrence)
		require.NoError(t, err)
		require.Equal(t, c.last, last, c.occurrence)
		require.Equal(t, c.trigger, it.Str("triggerUtc"), c.occurrence)
	}
	require.True(t, product.TriggerDone(it))
	it["rrule"] = text("FREQ=HOURLY")
	_, err := product.PassTrigger(it, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	require.ErrorContains(t, err, "FREQ")
}

func TestReminder_snoozedIsDueForItsOtherOccurrences(t *testing.T) {
	t.Parallel()
	snoozed := entity.Due{
		Occurrence: instant(t, "2025-12-01T14:00:00Z"), At: instant(t, "2025-12-01T18:00:00Z"), Snooze: true,
	}
	trigger := func(text string) entity.Due {
		return entity.Due{Occurrence: instant(t, text), At: instant(t, text)}
	}
	once := `{"title":"x","triggerUtc":"2025-12-01T14:00:00Z","tzid":"America/New_York"`
	for name, c := range map[string]struct {
		fields string
		before item.Item
		want   []entity.Due
	}{
		"one-time": {once, nil, []entity.Due{snoozed}},
		"the next comes later": {threeDays, item.Item{"triggerUtc": text("2025-12-02T14:00:00Z")},
			[]entity.Due{snoozed, trigger("2025-12-02T14:00:00Z")}},
		"the next comes before": {`{"title":"x","triggerUtc":"2025-12-01T17:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"`, nil,
			[]entity.Due{trigger("2025-12-01T17:00:00Z"), snoozed}},
		"the last of all": {threeDays, item.Item{"triggerUtc": text("2025-12-03T14:00:00Z"),
			"doneTriggerUtc": text("2025-12-03T14:00:00Z")}, []entity.Due{snoozed}},
	} {
		it, errs := create(t, product.Reminder(), c.fields+"}")
		require.Empty(t, errs)
		it = with(with(it, snoozedAt("2025-12-01T14:00:00Z")), c.before)
		require.Equal(t, c.want, product.Reminder().Dues(it), name)
	}
}

func TestProduct_followsAZoneThatIsSetOrRemoved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ            *entity.Type
		fields, change string
		derived, want  string
	}{
		{product.Reminder(), threeDays + "}", `{"triggerUtc":"2025-12-05T09:00:00","tzid":null}`, "firstTriggerUtc",
			"2025-12-05T09:00:00Z"},
		{product.Master(),
			`{"title":"x","startUtc":"2025-12-01T14:00:00Z","startTzid":"America/New_York","rrule":"FREQ=DAILY;COUNT=3"}`,
			`{"startUtc":"2025-12-01T09:00:00","startTzid":null}`, "lastStartUtc", "2025-12-03T09:00:00Z"},
	} {
		before, errs := create(t, c.typ, c.fields)
		require.Empty(t, errs)
		patch, errs := c.typ.Parse(decode(t, c.change))
		require.Empty(t, errs)
		after, errs := c.typ.Merge(before, patch)
		require.Empty(t, errs)
		after = c.typ.NextVersion(entity.ByUser, "ann", before, after, noon, nil)
		require.Empty(t, c.typ.Validate(after))
		require.Equal(t, c.want, after.Str(c.derived))
	}
}

func text(s string) item.Value { return item.String(s) }

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := item.ParseInstant(s)
	require.NoError(t, err)
	return at
}

func snoozedAt(occurrence string) item.Item {
	return item.Item{"status": text("SNOOZED"), "snoozeState": item.Map{
		"untilUtc": text("2025-12-01T18:00:00Z"), "count": item.Int(1), "occurrenceUtc": text(occurrence),
	}}
}

// with returns a copy of the item with these attributes set, or removed.
func with(it, changes item.Item) item.Item {
	out := it.Clone()
	for name, v := range changes {
		out.Set(name, v)
	}
	return out
}
