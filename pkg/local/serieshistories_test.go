package local_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

// again delivers every record so far to every consumer once more, the last first.
func (b *fixture) again() {
	b.t.Helper()
	for _, c := range slices.Backward(slices.Clone(b.records)) {
		for _, consumer := range b.consumers {
			b.deliver(consumer, c)
		}
	}
	b.deliverAll()
}

// announced returns what was published of the item: the occurrence's date, and when it takes place.
func (b *fixture) announced(id string) []string {
	b.t.Helper()
	var out []string
	for _, detail := range b.events(reminders.DetailType) {
		var d reminders.ReminderDue
		require.NoError(b.t, json.Unmarshal([]byte(detail), &d))
		if d.ItemID == id {
			out = append(out, d.OccurrenceDate+" "+d.OccurrenceUtc)
		}
	}
	return out
}

// waiting returns how many schedules are still to be called.
func (b *fixture) waiting() int { return len(b.scheduled()) }

func linksTo(n item.Item) []any {
	return []any{map[string]any{"targetType": "NOTE", "targetId": n.Str("noteId")}}
}

// at is the start of a daily series' n-th occurrence that is so much later.
func at(master item.Item, n int, later time.Duration) time.Time {
	return product.EventSpan(master).Start.AddDate(0, 0, n).Add(later)
}

func TestPlatform_leavesNothingOfADeletedSeries(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		n := b.notes(1)[0]
		m := b.newDaily(map[string]any{"links": linksTo(n)})
		id := m.Str("masterId")
		for day := 3; day < 6; day++ {
			b.do(command.PutInstance{MasterID: id, Date: date(m, day),
				Fields: map[string]any{"links": linksTo(n), "reminderMinutes": []any{json.Number("5")}}}, m)
		}
		b.deliverAll()
		require.Len(t, b.rows(entity.ItemPrefix(entity.RowLink)), 4)
		require.Equal(t, 4, b.waiting())
		b.do(command.DeleteSeries{ID: id}, m)
		b.deliverAll()
		for range 2 {
			require.Empty(t, b.rows(entity.ItemPrefix(entity.RowLink)))
			require.Zero(t, b.waiting())
			require.Zero(t, b.total(product.StatTotalEvents))
			require.Empty(t, b.rows(entity.InstancePrefix(id)))
			b.again()
		}
	})
}

func TestPlatform_showsTheSeriesForARevertedOccurrence(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		n := b.notes(1)[0]
		m := b.newDaily(nil)
		id, day := m.Str("masterId"), date(m, 2)
		it := b.do(command.PutInstance{MasterID: id, Date: day, Fields: map[string]any{
			"links": linksTo(n), "reminderMinutes": []any{json.Number("5")}, "startUtc": at(m, 2, time.Hour).Format(wallClock),
		}}, m)
		b.deliverAll()
		b.do(command.PutInstance{MasterID: id, Date: day, Fields: map[string]any{}}, it)
		b.deliverAll()
		b.again()
		require.Empty(t, b.rows(entity.ItemPrefix(entity.RowLink)))
		require.Equal(t, 1, b.waiting(), "the series' own")
		b.advance(24 * time.Hour)
		b.advance(24 * time.Hour)
		require.Empty(t, b.announced(it.Str("eventId")))
		require.Contains(t, b.announced(id), day+" "+item.FormatInstant(at(m, 2, 0)))
	})
}

func TestPlatform_announcesAMovedOccurrenceAndNoCancelledOne(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		m := b.newDaily(nil)
		id := m.Str("masterId")
		b.do(command.PutInstance{MasterID: id, Date: date(m, 2),
			Fields: map[string]any{"startUtc": at(m, 2, 2*time.Hour).Format(wallClock)}}, m)
		b.do(command.CancelInstance{MasterID: id, Date: date(m, 3)}, m)
		b.deliverAll()
		for range 10 {
			b.advance(12 * time.Hour)
			b.again()
		}
		told := b.announced(id)
		require.Equal(t, 1, count(told, date(m, 2)+" "+item.FormatInstant(at(m, 2, 2*time.Hour))), "%v", told)
		require.NotContains(t, told, date(m, 2)+" "+item.FormatInstant(at(m, 2, 0)))
		require.NotContains(t, told, date(m, 3)+" "+item.FormatInstant(at(m, 3, 0)))
		require.Equal(t, 1, count(told, date(m, 4)+" "+item.FormatInstant(at(m, 4, 0))), "%v", told)
		require.Equal(t, len(told), len(unique(told)), "each once: %v", told)
	})
}

func TestPlatform_keepsOneScheduleAfterASplitInAnyOrder(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		m := b.newDaily(nil)
		id := m.Str("masterId")
		b.do(command.PutInstance{MasterID: id, Date: date(m, 4),
			Fields: map[string]any{"title": "taken along", "reminderMinutes": []any{json.Number("30")}}}, m)
		b.deliverAll()
		following := b.do(command.SplitSeries{ID: id, Date: date(m, 2), Changes: map[string]any{"title": "second"}}, m)
		records := slices.Clone(b.drain())
		for _, c := range slices.Backward(records) {
			for _, consumer := range b.consumers {
				b.deliver(consumer, c)
			}
		}
		b.deliverAll()
		require.Equal(t, int64(2), b.total(product.StatTotalEvents))
		before := b.waiting()
		b.again()
		require.Equal(t, before, b.waiting())
		for range 10 {
			b.advance(12 * time.Hour)
		}
		for _, told := range b.announced(id) {
			require.Less(t, told, date(m, 2))
		}
		next := following.Str("masterId")
		taken := date(m, 4) + " " + item.FormatInstant(at(m, 4, 0))
		require.Contains(t, b.announced(next), date(m, 2)+" "+item.FormatInstant(at(m, 2, 0)))
		require.NotContains(t, b.announced(next), taken)
		require.Equal(t, []string{taken}, b.announced(entity.InstanceID(next, date(m, 4))))
		require.Empty(t, b.announced(entity.InstanceID(id, date(m, 4))))
	})
}

func TestPlatform_firesASnoozedRecurringReminderOncePerOccurrence(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		first := b.now.Add(time.Hour)
		r := b.do(command.Create{Type: product.Reminder(), Fields: map[string]any{
			"title": "water", "triggerUtc": item.FormatInstant(first), "tzid": "UTC", "rrule": "FREQ=DAILY;COUNT=3",
		}})
		id := r.Str("reminderId")
		b.deliverAll()
		b.advance(time.Hour)
		minutes := int64(25 * 60)
		b.do(command.SnoozeReminder{ID: id, Minutes: &minutes}) // beyond the second
		b.deliverAll()
		for range 10 {
			b.again()
			b.advance(12 * time.Hour)
		}
		var want []string
		for _, day := range []int{0, 0, 1, 2} { // the first twice: put off once
			want = append(want, " "+item.FormatInstant(first.AddDate(0, 0, day)))
		}
		require.ElementsMatch(t, want, b.announced(id))
		require.Zero(t, b.waiting())
	})
}

func count(list []string, s string) (n int) {
	for _, v := range list {
		if v == s {
			n++
		}
	}
	return n
}

func unique(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
