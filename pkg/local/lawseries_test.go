package local_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

const wallClock = "2006-01-02T15:04:05"

// newDaily is a series with reminders that floats and began on the day before.
func (b *fixture) newDaily(more map[string]any) item.Item {
	b.t.Helper()
	start := b.now.Truncate(24*time.Hour).AddDate(0, 0, -1).Add(20 * time.Hour)
	fields := map[string]any{
		"title": "daily", "startUtc": start.Format(wallClock), "endUtc": start.Add(time.Hour).Format(wallClock),
		"rrule": "FREQ=DAILY", "reminderMinutes": []any{json.Number("10")},
	}
	for name, v := range more {
		fields[name] = v
	}
	return b.do(command.CreateSeries{Fields: fields})
}

// date is the local date of a daily series' n-th occurrence, counted from 0.
func date(master item.Item, n int) string {
	return item.CompactDate(product.EventSpan(master).Start.AddDate(0, 0, n))
}

// master is the series as it is stored now.
func (b *fixture) master(it item.Item) item.Item {
	b.t.Helper()
	row, err := b.store.Get(b.t.Context(), it.Key())
	require.NoError(b.t, err)
	return row
}

// playSeries makes each command about series and their occurrences, on a series that has reminders and links, and lets
// every consumer have each record. It returns a series that is left.
func playSeries(b *fixture) item.Item {
	note := product.Note()
	n := b.notes(1)[0]
	links := []any{map[string]any{"targetType": "NOTE", "targetId": n.Str("noteId")}}
	m := b.newDaily(map[string]any{"tags": []any{"work"}, "links": links})
	id := m.Str("masterId")
	b.deliverAll()
	put := func(day int, fields map[string]any, expected item.Item) item.Item {
		it := b.do(command.PutInstance{MasterID: id, Date: date(m, day), Fields: fields}, expected)
		b.deliverAll()
		return it
	}
	put(2,
		map[string]any{"title": "another", "links": links, "reminderMinutes": []any{json.Number("5"), json.Number("60")}}, m)
	long := product.EventSpan(m).Start.AddDate(0, 0, 3)
	moved := put(3, map[string]any{"startUtc": long.Add(time.Hour).Format(wallClock),
		"endUtc": long.Add(50 * time.Hour).Format(wallClock)}, m)
	moved = put(3, map[string]any{"startUtc": long.Add(2 * time.Hour).Format(wallClock)}, moved)
	put(3, map[string]any{}, moved) // undone
	b.do(command.CancelInstance{MasterID: id, Date: date(m, 4)}, m)
	put(9, map[string]any{"tags": []any{"late"}}, m)
	put(20, map[string]any{"title": "lost soon"}, m)
	b.deliverAll()
	for range 4 { // some occurrences are announced
		b.advance(12 * time.Hour)
	}

	// costs the last exception its date
	m = b.do(command.UpdateSeries{ID: id, Patch: map[string]any{"title": "renamed", "rrule": "FREQ=DAILY;COUNT=15"}}, m)
	b.deliverAll()
	b.do(command.AddLink{Type: product.Master(), ID: id, Target: note.Ref(n), Relation: "again"})
	b.do(command.RemoveLink{Type: product.Master(), ID: id, Target: note.Ref(n)})
	m = b.do(command.UpdateSeries{ID: id,
		Patch: map[string]any{"startUtc": product.EventSpan(m).Start.Add(time.Hour).Format(wallClock)}}, b.master(m))
	b.deliverAll()
	following := b.do(command.SplitSeries{ID: id, Date: date(m, 8), Changes: map[string]any{"title": "second half"}}, m)
	b.deliverAll()
	m = b.master(m)
	b.do(command.EndSeries{ID: id, UntilUtc: product.EventSpan(m).Start.AddDate(0, 0, 5).Format(wallClock)}, m)
	b.deliverAll()
	b.do(command.UpdateSeries{ID: following.Str("masterId"), Patch: map[string]any{"status": "CANCELLED"}}, following)
	b.deliverAll()
	b.advance(48 * time.Hour)
	b.do(command.DeleteSeries{ID: id}, b.master(m))
	b.deliverAll()
	require.Empty(b.t, b.rows(entity.InstancePrefix(id)), "exceptions of a series that was deleted")

	event := b.do(command.Create{Type: product.Event(), Fields: map[string]any{
		"title": "single", "isAllDay": true, "startDate": b.now.Format("2006-01-02"), "tags": []any{"work"},
	}})
	m = b.do(command.CreateSeries{FromEventID: event.Str("eventId"),
		Fields: map[string]any{"rrule": "FREQ=DAILY", "exdate": []any{b.now.AddDate(0, 0, 2).Format("20060102")}}}, event)
	b.deliverAll()
	return m
}

// playRecurringReminders lets a reminder recur, be put off beside its next occurrence, and end in each way.
func playRecurringReminders(b *fixture) {
	reminder := product.Reminder()
	create := func(rule string) item.Item {
		it := b.do(command.Create{Type: reminder, Fields: map[string]any{
			"title": "water", "triggerUtc": b.now.Add(4 * time.Hour).Format(wallClock), "rrule": rule, "tags": []any{"work"},
		}})
		b.deliverAll()
		return it
	}
	minutes := int64(30 * 60)
	r := create("FREQ=DAILY;COUNT=4")
	b.advance(5 * time.Hour)
	b.do(command.SnoozeReminder{ID: r.Str("reminderId"), Minutes: &minutes})
	b.deliverAll()
	b.advance(26 * time.Hour) // the next one comes first
	b.do(command.CompleteReminder{ID: r.Str("reminderId")})
	b.deliverAll()
	b.advance(10 * 24 * time.Hour) // to the end
	r = create("FREQ=WEEKLY")
	r = b.do(command.Update{Type: reminder, ID: r.Str("reminderId"),
		Patch: map[string]any{"rruleUntil": b.now.AddDate(1, 0, 0).Format(wallClock)}}, r)
	r = b.do(
		command.Update{Type: reminder, ID: r.Str("reminderId"), Patch: map[string]any{"rrule": nil, "rruleUntil": nil}}, r)
	b.do(command.Delete{Type: reminder, ID: r.Str("reminderId")}, r)
	r = create("FREQ=DAILY")
	b.do(command.DismissReminder{ID: r.Str("reminderId")})
	b.do(command.DismissReminder{ID: r.Str("reminderId"), Series: true})
	b.deliverAll()
}

// playCalendar imports a calendar twice, the second time as a later revision, and makes and revokes its address.
func playCalendar(b *fixture) {
	day := b.now.AddDate(0, 0, 1).Format("20060102")
	next := b.now.AddDate(0, 0, 2).Format("20060102")
	text := func(sequence int, hour string) []byte {
		lines := fmt.Sprintf(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//example//EN
BEGIN:VEVENT
UID:series@example
SEQUENCE:%[1]d
DTSTAMP:20250101T000000Z
DTSTART:%[2]sT090000
DTEND:%[2]sT100000
RRULE:FREQ=DAILY;COUNT=9
SUMMARY:Series
BEGIN:VALARM
ACTION:DISPLAY
TRIGGER:-PT10M
END:VALARM
END:VEVENT
BEGIN:VEVENT
UID:series@example
SEQUENCE:%[1]d
DTSTAMP:20250101T000000Z
RECURRENCE-ID:%[3]sT090000
DTSTART:%[3]sT%[4]s0000
SUMMARY:Exception
END:VEVENT
BEGIN:VEVENT
UID:single@example
DTSTAMP:20250101T000000Z
DTSTART:%[2]sT120000Z
SUMMARY:Single
END:VEVENT
BEGIN:VTODO
UID:todo@example
DTSTAMP:20250101T000000Z
DUE:%[2]sT120000Z
SUMMARY:Task
END:VTODO
END:VCALENDAR
`, sequence, day, next, hour)
		return []byte(strings.ReplaceAll(lines, "\n", "\r\n"))
	}
	for i, want := range []string{`"created":4`, `"unchanged":4`, `"updated":2`} {
		hour := "11"
		if i == 2 {
			hour = "12"
		}
		report, _, err := b.importer.Import(b.t.Context(), ann, text(i/2, hour), fmt.Sprint("import ", i))
		require.NoError(b.t, err)
		require.Contains(b.t, string(report), want, "import %d", i)
		b.deliverAll()
	}
	address, _, err := b.calendar.MakeFeed(b.t.Context(), ann, "")
	require.NoError(b.t, err)
	_, _, err = b.calendar.UserOfFeed(b.t.Context(), address)
	require.NoError(b.t, err)
	_, err = b.calendar.RevokeFeed(b.t.Context(), ann, "")
	require.NoError(b.t, err)
}
