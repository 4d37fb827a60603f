package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// pills is a reminder that recurs each day from November on.
const pills = `"title":"pills","triggerUtc":"2025-11-01T09:00:00Z","tzid":"Europe/Berlin","rrule":"FREQ=DAILY",` +
	`"status":"PENDING"`

func TestImport_passesOverWhatCameDueBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, row := b.takes(command.Created, thing(product.Reminder(), "a", `{`+pills+`}`))
	require.Equal(t, []string{"2025-12-02T09:00:00Z", "2025-11-01T09:00:00Z"},
		[]string{row.Str("triggerUtc"), row.Str("firstTriggerUtc")})
	_, row = b.takes(command.Created, thing(product.Reminder(), "now",
		`{"title":"n","triggerUtc":"2025-11-01T12:00:00Z","tzid":"Europe/Berlin","rrule":"FREQ=DAILY","status":"PENDING"}`))
	require.Equal(t, "2025-12-01T12:00:00Z", row.Str("triggerUtc"), "what is due now was not due before")
	_, row = b.takes(command.Created, thing(product.Reminder(), "b", `{"title":"over","triggerUtc":"2025-11-01T09:00:`+
		`00Z","tzid":"Europe/Berlin","rrule":"FREQ=DAILY;COUNT=3","status":"PENDING"}`))
	require.Equal(t, "2025-11-03T09:00:00Z", row.Str("triggerUtc"), "the last")
	_, row = b.takes(command.Created, thing(product.Reminder(), "c",
		`{"title":"once","triggerUtc":"2025-11-01T09:00:00Z","tzid":"Europe/Berlin","status":"PENDING"}`))
	require.Equal(t, "2025-11-01T09:00:00Z", row.Str("triggerUtc"))

	_, row = b.takes(command.Created, thing(product.Reminder(), "e", `{"title":"done","triggerUtc":"2025-11-01T09:00:`+
		`00Z","tzid":"Europe/Berlin","rrule":"FREQ=DAILY","status":"COMPLETED"}`))
	require.Equal(t, "2025-11-01T09:00:00Z", row.Str("triggerUtc"), "nothing of it is to come")

	b.must(command.UpdateMe{Patch: doc(`{"defaultTzid":"America/New_York"}`)}, at(0))
	_, row = b.takes(command.Created, thing(product.Reminder(), "d",
		`{"title":"floats","triggerUtc":"2025-11-01T09:00:00","rrule":"FREQ=DAILY","status":"PENDING"}`))
	require.Equal(t, "2025-12-01T09:00:00Z", row.Str("triggerUtc"), "nine has not struck there today")
}

func TestImport_leavesASnoozeAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text := func(title, status string) string {
		return `{"title":"` + title + `","triggerUtc":"2025-12-24T09:00:00Z","tzid":"Europe/Berlin","status":"` +
			status + `"}`
	}
	id, _ := b.takes(command.Created, thing(product.Reminder(), "a", text("t", "PENDING")))
	b.must(command.SnoozeReminder{ID: id, Minutes: minutes(30)})
	for i, c := range []struct{ told, want string }{
		{"PENDING", "SNOOZED"}, {"COMPLETED", "COMPLETED"}, {"PENDING", "PENDING"}, {"COMPLETED", "COMPLETED"},
	} {
		x := thing(product.Reminder(), "a", text(c.told+c.want, c.told))
		x.Sequence = int64(i + 5)
		_, row := b.takes(command.Updated, x)
		require.Equal(t, []string{c.want, c.told + c.want}, []string{row.Str("status"), row.Str("title")})
		require.Equal(t, c.want == "SNOOZED", row.Has("snoozeState"))
	}
}

// A reminder whose next occurrences its user has dismissed already stays where it is, as long as the import counts from
// the same first trigger by the same rule.
func TestImport_keepsTheStateOfAReminderInItsSeries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, until, trigger string }{
		{"another title", `{"title":"more pills","triggerUtc":"2025-11-01T09:00:00Z","tzid":"Europe/Berlin",` +
			`"rrule":"FREQ=DAILY","status":"PENDING"}`, "", "2025-12-04T09:00:00Z"},
		{"another rule", `{"title":"pills","triggerUtc":"2025-11-01T09:00:00Z","tzid":"Europe/Berlin",` +
			`"rrule":"FREQ=DAILY;INTERVAL=2","status":"PENDING"}`, "", "2025-12-03T09:00:00Z"},
		{"another first trigger", `{"title":"pills","triggerUtc":"2025-11-02T09:00:00Z","tzid":"Europe/Berlin",` +
			`"rrule":"FREQ=DAILY","status":"PENDING"}`, "", "2025-12-02T09:00:00Z"},
		{"another zone", `{"title":"pills","triggerUtc":"2025-11-01T09:00:00Z","tzid":"Europe/Paris","rrule":"FREQ=DAILY",` +
			`"status":"PENDING"}`, "", "2025-12-02T09:00:00Z"},
		{"an end here", `{` + pills + `}`, "2025-12-24T00:00:00Z", "2025-12-02T09:00:00Z"},
	} {
		b := setup(t)
		id, _ := b.takes(command.Created, thing(product.Reminder(), "a", `{`+pills+`}`))
		key := entity.ItemKey(ann, entity.Ref{Type: "REMINDER", ID: id})
		b.set(key, item.Item{"triggerUtc": item.String("2025-12-04T09:00:00Z")})
		if c.until != "" {
			b.set(key, item.Item{"rruleUntil": item.String(c.until)})
		}
		x := thing(product.Reminder(), "a", c.text)
		x.Sequence = 3
		_, row := b.takes(command.Updated, x)
		require.Equal(t, c.trigger, row.Str("triggerUtc"), c.name)
	}
}

// A reminder that another calendar ends is over, also if the same import takes its rule or sets another trigger.
func TestImport_endsAReminderWhoseTriggerChangesToo(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no rule":   `{"title":"pills","triggerUtc":"2025-11-01T09:00:00Z","tzid":"Europe/Berlin","status":"DISMISSED"}`,
		"a trigger": `{"title":"pills","triggerUtc":"2026-11-02T09:00:00Z","tzid":"Europe/Berlin","status":"DISMISSED"}`,
	} {
		b := setup(t)
		b.takes(command.Created, thing(product.Reminder(), "a", `{`+pills+`}`))
		x := thing(product.Reminder(), "a", text)
		x.Fields[product.AttrRRule] = item.Null{}
		_, row := b.takes(command.Updated, x)
		require.Equal(t, "DISMISSED", row.Str("status"), name)
		require.True(t, row.Has("completedAt"), name)
		require.False(t, row.Has("rrule"), name)
	}
}
