package local_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/reminders"
)

// TestPlatform_keepsTheLawInEveryStoreCall plays every command and every transition of every consumer, above a store
// that holds each call, and each row that a call leaves, against the conventions (see setup).
func TestPlatform_keepsTheLawInEveryStoreCall(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		note := playNotesAndEvents(b)
		playReminders(b)
		playTasks(b)
		series := playSeries(b)
		playRecurringReminders(b)
		playCalendar(b)
		announced := strings.Join(b.events(reminders.DetailType), "\n")
		for _, name := range []string{"MASTER", "INSTANCE", "REMINDER"} {
			require.Contains(t, announced, `"itemType":"`+name+`"`)
		}
		for _, ask := range []func() error{
			func() error { _, err := b.queries.Board(t.Context(), ann, 10); return err },
			func() error { _, err := b.queries.Stats(t.Context(), ann); return err },
			func() error {
				_, err := b.queries.Backlinks(t.Context(), ann, product.Note().Ref(note), 10, "")
				return err
			},
			func() error {
				_, err := b.queries.Agenda(t.Context(), ann, query.AgendaQuery{From: b.now, To: b.now.AddDate(0, 0, 7)})
				return err
			},
			func() error {
				_, err := b.queries.Agenda(t.Context(), ann, query.AgendaQuery{
					From: b.now.AddDate(0, 0, -60), To: b.now.AddDate(0, 0, 60), Tags: []string{"work"},
				})
				return err
			},
			func() error { _, err := b.queries.Series(t.Context(), ann, series.Str("masterId"), ""); return err },
			func() error {
				_, err := b.queries.Event(t.Context(), ann, entity.InstanceID(series.Str("masterId"), date(series, 1)))
				return err
			},
			func() error { _, err := b.calendar.Export(t.Context(), ann, 0); return err },
		} {
			require.NoError(t, ask())
		}
		require.Empty(t, b.law.Broken())
		require.Equal(t, []string{"EVENT", "INSTANCE", "MASTER", "NOTE", "REMINDER", "TASK", "USER_META"}, b.law.Written())
	})
}

func playNotesAndEvents(b *fixture) item.Item {
	note, event := product.Note(), product.Event()
	n := b.do(command.Create{Type: note, Fields: map[string]any{"title": "plan", "isPinned": true, "tags": []any{"a"}}})
	n = b.do(command.Update{Type: note, ID: n.Str("noteId"), Patch: map[string]any{"status": "ARCHIVED", "tags": nil}}, n)
	day := b.now.Format("2006-01-02")
	e := b.do(command.Create{Type: event, Fields: map[string]any{
		"title": "fair", "startUtc": day + "T10:00:00", "endUtc": b.now.AddDate(0, 0, 2).Format("2006-01-02") + "T10:00:00",
		"reminderMinutes": []any{},
	}})
	e = b.do(command.Update{Type: event, ID: e.Str("eventId"),
		Patch: map[string]any{"isAllDay": true, "startUtc": nil, "endUtc": nil, "startDate": day}}, e)
	b.deliverAll()
	b.do(command.AddLink{Type: event, ID: e.Str("eventId"), Target: note.Ref(n)})
	b.deliverAll()
	e = b.do(command.RemoveLink{Type: event, ID: e.Str("eventId"), Target: note.Ref(n)})
	b.do(command.Update{Type: event, ID: e.Str("eventId"), Patch: map[string]any{"status": "CANCELLED"}}, e)
	b.deliverAll()
	return n
}

func playReminders(b *fixture) {
	reminder := product.Reminder()
	floating := func(at time.Time) string { return at.Format("2006-01-02T15:04:05") }
	r := b.do(command.Create{
		Type: reminder, Fields: map[string]any{"title": "call", "triggerUtc": floating(b.now.Add(time.Hour))},
	})
	b.deliverAll()
	b.advance(time.Hour) // it fires
	minutes := int64(60)
	b.do(command.SnoozeReminder{ID: r.Str("reminderId"), Minutes: &minutes})
	b.deliverAll()
	me, err := b.queries.Me(b.t.Context(), ann)
	require.NoError(b.t, err)
	b.do(command.UpdateMe{Patch: map[string]any{"defaultTzid": "Europe/Paris",
		"preferences": map[string]any{"theme": nil, "weekStart": json.Number("0")}}}, me)
	b.deliverAll()
	b.advance(time.Hour) // the snooze ends
	b.do(command.CompleteReminder{ID: r.Str("reminderId")})
	other := b.do(command.Create{
		Type: reminder, Fields: map[string]any{"title": "x", "triggerUtc": floating(b.now.AddDate(1, 0, 0))},
	})
	b.deliverAll()
	b.do(command.DismissReminder{ID: other.Str("reminderId")})
	b.deliverAll()
}

func playTasks(b *fixture) {
	task := product.Task()
	k := b.do(command.Create{
		Type: task, Fields: map[string]any{"title": "write", "isAllDay": true, "dueDate": b.now.Format("2006-01-02")},
	})
	k = b.do(command.Update{Type: task, ID: k.Str("taskId"), Patch: map[string]any{"status": "COMPLETED"}}, k)
	b.deliverAll()
	b.advance(25 * time.Hour)     // archived
	b.advance(8 * 24 * time.Hour) // expired
	k, err := b.archive.Restore(b.t.Context(), task, ann, k.Str("taskId"))
	require.NoError(b.t, err)
	b.deliverAll()
	b.do(command.Delete{Type: task, ID: k.Str("taskId")}, k)
	b.deliverAll()
}
