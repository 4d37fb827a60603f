package local_test

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/local"
	"nexus/pkg/product"
)

// What floats has no zone: it is at seven wherever its user is.

const readingForm = "2006-01-02T15:04:05"

// TestPlatform_keepsFloatingTimesInEveryZone keeps floating things over a month in which the clocks change, and looks
// at them from five zones; then their user moves.
func TestPlatform_keepsFloatingTimesInEveryZone(t *testing.T) {
	t.Parallel()
	s := startInTheYear(t, local.Options{Store: local.Memory})
	s.must("POST", "/dev/clock", object{"set": "2011-03-01T00:00:00Z"})
	seven := time.Date(skippingYear, 3, 4, 7, 0, 0, 0, time.UTC)
	const days = 35 // over the changes in New York, London and Lord Howe
	s.must("POST", "/v1/events", object{
		"title": "single", "startUtc": seven.Format(readingForm), "reminderMinutes": []int{30},
	})
	made := s.must("POST", "/v1/series", object{
		"title": "series", "rrule": "FREQ=DAILY;COUNT=35", "startUtc": seven.Format(readingForm),
		"endUtc": seven.Add(time.Hour).Format(readingForm), "reminderMinutes": []int{0, 45},
	})
	s.must("POST", "/v1/events", object{"title": "day", "isAllDay": true, "startDate": seven.Format("2006-01-02")})
	s.must("POST", "/v1/reminders", object{
		"title": "reminder", "triggerUtc": seven.Format(readingForm), "rrule": "FREQ=DAILY;COUNT=35",
	})
	s.keep("fixed", "America/New_York", "FREQ=DAILY;COUNT=35", seven, 30)
	s.waitUntilIdle()

	for _, zone := range placesOfYear() {
		l := location(t, zone)
		shown := map[string][]string{}
		for _, it := range s.agenda(seven.AddDate(0, 0, -2), seven.AddDate(0, 0, days+2), url.Values{"tz": {zone}}) {
			title := it["title"].(string)
			shown[title] = append(shown[title], showing(instantOf(t, it["occurrenceStart"]), l).Format(readingForm))
		}
		var each []string
		for i := range days {
			each = append(each, seven.AddDate(0, 0, i).Format(readingForm))
		}
		require.Equal(t, each[:1], shown["single"], zone)
		require.Equal(t, each, shown["series"], zone)
		require.Equal(t, each, shown["reminder"], zone)
		require.Equal(t, []string{seven.Format("2006-01-02") + "T00:00:00"}, shown["day"], zone)
		if zone != "America/New_York" {
			require.NotEqual(t, each, shown["fixed"], zone)
		}
	}

	_, text := s.text("/v1/calendar.ics")
	whole := s.must("GET", "/v1/series/"+made["masterId"].(string), nil)
	before := s.pending()
	for i, zone := range placesOfYear() {
		s.must("PATCH", "/v1/me", object{"defaultTzid": zone}, "If-Match", fmt.Sprintf(`"%d"`, i))
		s.waitUntilIdle()
		after, l := s.pending(), location(t, zone)
		require.Equal(t, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)), zone)
		for name, at := range after {
			title, offset, _ := strings.Cut(name, " ")
			if title == "fixed" {
				require.Equal(t, before[name], at, zone)
				continue
			}
			minutes, err := time.ParseDuration(offset)
			require.NoError(t, err)
			require.Equal(t, firstShown(seven, l).Add(-minutes).UTC(), at, "%s in %s", name, zone)
		}
		_, moved := s.text("/v1/calendar.ics")
		require.Equal(t, text, moved, "what floats is written without a zone")
		require.Equal(t, whole, s.must("GET", "/v1/series/"+made["masterId"].(string), nil))
	}
}

// pending are the instants of all schedules by "<title> <offset>"; a series' title is looked up.
func (s *system) pending() map[string]time.Time {
	s.t.Helper()
	out := map[string]time.Time{}
	for _, entry := range s.items("/dev/schedules?state=PENDING&limit=1000") {
		call := entry["payload"].(object)
		id := call["itemId"].(string)
		path := "/v1/events/" + id
		if strings.HasPrefix(id, "rem_") {
			path = "/v1/reminders/" + id
		}
		name := fmt.Sprintf("%s %vm", s.must("GET", path, nil)["title"], call["offsetMinutes"])
		require.NotContains(s.t, out, name, "an offset has one schedule")
		out[name] = instantOf(s.t, entry["at"])
	}
	return out
}

// TestPlatform_writesNoFloatingRowWhenItsUserMoves compares every row of the table, and every schedule, before and
// after.
func TestPlatform_writesNoFloatingRowWhenItsUserMoves(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		day := b.now.AddDate(0, 0, 3)
		reading := time.Date(day.Year(), day.Month(), day.Day(), 7, 0, 0, 0, time.UTC)
		seven, end := reading.Format(readingForm), reading.Add(time.Hour).Format(readingForm)
		floats := map[string]bool{}
		keep := func(it item.Item, id string) item.Item { floats[it.Str(id)] = true; return it }
		minutes := []any{number(15), number(90)}

		keep(b.do(command.Create{Type: product.Event(),
			Fields: map[string]any{"title": "single", "startUtc": seven, "reminderMinutes": minutes}}), "eventId")
		keep(b.do(command.Create{Type: product.Task(),
			Fields: map[string]any{"title": "task", "dueUtc": seven, "reminderMinutes": minutes}}), "taskId")
		keep(b.do(command.Create{Type: product.Reminder(), Fields: map[string]any{"title": "once", "triggerUtc": seven}}),
			"reminderId")
		keep(b.do(command.Create{Type: product.Reminder(),
			Fields: map[string]any{"title": "daily", "triggerUtc": seven, "rrule": "FREQ=DAILY"}}), "reminderId")
		series := keep(b.do(command.CreateSeries{Fields: map[string]any{
			"title": "series", "rrule": "FREQ=DAILY", "startUtc": seven, "endUtc": end, "reminderMinutes": minutes,
		}}), "masterId")
		own := b.do(command.PutInstance{MasterID: series.Str("masterId"), Date: reading.AddDate(0, 0, 1).Format(basicDate),
			Fields: map[string]any{
				"reminderMinutes": []any{number(5)},
			}}, series)
		keep(own, "eventId")

		zoned := map[string]any{
			"title": "zoned", "startUtc": seven + "Z", "startTzid": "Asia/Kolkata", "reminderMinutes": minutes,
		}
		b.do(command.Create{Type: product.Event(), Fields: zoned})
		zoned["rrule"] = "FREQ=WEEKLY"
		b.do(command.CreateSeries{Fields: maps.Clone(zoned)})
		b.do(command.Create{
			Type: product.Reminder(), Fields: map[string]any{"title": "zoned", "triggerUtc": seven + "Z", "tzid": "UTC"},
		})
		b.deliverAll()

		rows, schedules := b.table(), b.scheduled()
		me, err := b.queries.Me(t.Context(), ann)
		require.NoError(t, err)
		b.do(command.UpdateMe{Patch: map[string]any{"defaultTzid": "Pacific/Apia"}}, me)
		b.deliverAll()

		var changed []string
		now := b.table()
		for key, row := range now {
			if !reflect.DeepEqual(rows[key], row) {
				prefix, _, _ := strings.Cut(key.SK, "#")
				changed = append(changed, prefix)
			}
		}
		for key := range rows {
			require.Contains(t, now, key, "no row has gone")
		}
		require.ElementsMatch(t, []string{entity.TypeUserMeta, entity.RowZone, device.RowChange}, changed,
			"the user's settings, how far the consumer has walked, and what devices are told")

		moved, l := b.scheduled(), location(t, "Pacific/Apia")
		require.Equal(t, slices.Sorted(maps.Keys(schedules)), slices.Sorted(maps.Keys(moved)))
		fixed := 0
		for name, was := range schedules {
			if is := moved[name]; !floats[was.item] {
				fixed++
				require.Equal(t, was, is, "byte for byte")
			} else {
				require.NotEqual(t, was, is)
				occurrence := reading
				if was.item == own.Str("eventId") {
					occurrence = reading.AddDate(0, 0, 1)
				}
				require.Equal(t, firstShown(occurrence, l).Add(-time.Duration(was.offset)*time.Minute).UTC(), is.at)
			}
		}
		require.Equal(t, 5, fixed)
		require.Len(t, moved, fixed+2+2+1+1+2+1)
	})
}
