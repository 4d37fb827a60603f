package query_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
)

// What the oracle knows of series and recurring reminders: every occurrence from the very first on, one by one, and an
// overlay of exceptions of its own.

// ruled is one occurrence as the rule gives it.
type ruled struct {
	date        string
	start, wall time.Time
}

// expand lists the occurrences that begin before the instant, in the viewer's zone if they float. It asks package
// recurrence for the rule alone; additional dates, excluded dates and the end are its own.
func expand(t require.TestingT, it item.Item, startAttr, zoneAttr string, viewer *time.Location, to time.Time) []ruled {
	allDay := it.Bool("isAllDay")
	start, zone := readingOf(t, it, startAttr, zoneAttr)
	spec := recurrence.Spec{Rule: it.Str("rrule"), Start: start, AllDay: allDay, Zone: zone, WithStart: true}
	rule, err := recurrence.Compile(spec)
	require.NoError(t, err)
	byDate := map[string]ruled{}
	add := func(wall time.Time) {
		o := ruled{date: wall.Format("20060102"), wall: wall}
		if zone != nil {
			o.start = item.Resolve(wall, zone)
		} else {
			o.start = item.Resolve(wall, viewer)
		}
		byDate[o.date] = o
	}
	for o := range rule.Each(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), to.Add(50*time.Hour)) {
		add(o.Wall)
	}
	for _, date := range it.Strings("rdate") {
		day, err := time.Parse("20060102", date)
		require.NoError(t, err)
		add(day.Add(start.Sub(start.Truncate(24 * time.Hour))))
	}
	for _, date := range it.Strings("exdate") {
		delete(byDate, date)
	}
	var out []ruled
	until, ends := it.Time("rruleUntil")
	for _, date := range slices.Sorted(maps.Keys(byDate)) {
		o := byDate[date]
		compared := o.start
		if zone == nil {
			compared = o.wall
		}
		if o.start.Before(to) && !(ends && compared.After(until)) {
			out = append(out, o)
		}
	}
	return out
}

func readingOf(t require.TestingT, it item.Item, attr, zoneAttr string) (time.Time, *time.Location) {
	if it.Bool("isAllDay") {
		day, err := time.Parse(time.DateOnly, it.Str("startDate"))
		require.NoError(t, err)
		return day, nil
	}
	at, err := time.Parse(time.RFC3339, it.Str(attr))
	require.NoError(t, err)
	if it.Str(zoneAttr) == "" {
		return at, nil
	}
	zone, err := time.LoadLocation(it.Str(zoneAttr))
	require.NoError(t, err)
	local := at.In(zone)
	return time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, time.UTC),
		zone
}

// endOf is where an occurrence ends that begins like this: after the same time as the first, on the clock if it floats.
func endOf(t require.TestingT, master item.Item, o ruled, viewer *time.Location) time.Time {
	if master.Bool("isAllDay") {
		first, _ := time.Parse(time.DateOnly, master.Str("startDate"))
		after, _ := time.Parse(time.DateOnly, master.Str("endDate"))
		return item.Resolve(o.wall.Add(after.Sub(first)), viewer)
	}
	first, _ := master.Time("startUtc")
	end, ok := master.Time("endUtc")
	switch {
	case !ok || end.Equal(first):
		return o.start
	case master.Str("startTzid") == "":
		return item.Resolve(o.wall.Add(end.Sub(first)), viewer)
	}
	return o.start.Add(end.Sub(first))
}

// seriesShowings are those of one series with its exceptions, by date.
func seriesShowings(
	t require.TestingT, master item.Item, exceptions map[string]item.Item, viewer *time.Location, to time.Time,
) []showing {
	var out []showing
	// An exception may have moved here from long after the window.
	for _, o := range expand(t, master, "startUtc", "startTzid", viewer, to.AddDate(3, 0, 0)) {
		it := master.Clone()
		s := showing{start: o.start, end: endOf(t, master, o, viewer), date: o.date, virtual: true}
		row := exceptions[o.date]
		named := row.Strings("modifiedFields")
		if len(named) > 0 {
			s.virtual = false
			for _, name := range named {
				delete(it, name)
				if row.Has(name) {
					it[name] = row[name]
				}
			}
			for _, name := range []string{"isAllDay", "startDate", "endDate", "startUtc", "endUtc", "startTzid", "endTzid"} {
				if slices.Contains(named, name) {
					whole := row.Clone()
					whole["entityType"], whole["title"] = item.String("EVENT"), item.String("")
					own := oracleShowings(whole, viewer, time.Time{})[0]
					s.start, s.end = own.start, own.end
					break
				}
			}
		}
		if slices.Contains(named, "status") && row.Str("status") == "CANCELLED" {
			continue
		}
		s.id = "inst_" + o.date + "_" + strings.TrimPrefix(master.Str("masterId"), "mst_")
		s.tags, s.title, s.status = it.Strings("tags"), it.Str("title"), it.Str("status")
		out = append(out, s)
	}
	return out
}

// reminderShowings are those of a recurring reminder. The instant of a snoozed occurrence was read in the home zone.
func reminderShowings(t require.TestingT, it item.Item, viewer, home *time.Location, to time.Time) []showing {
	var out []showing
	trigger, _ := it.Time("triggerUtc")
	for _, o := range expand(t, it, "firstTriggerUtc", "tzid", viewer, to) {
		s := showing{start: o.start, end: o.start, date: o.date, virtual: true}
		told := o.start
		if it.Str("tzid") == "" {
			told = item.Resolve(o.wall, home)
			s.virtual = !o.wall.Equal(trigger)
		} else {
			s.virtual = !o.start.Equal(trigger)
		}
		if it.Str("status") == "SNOOZED" && it.Map("snoozeState").Str("occurrenceUtc") == item.FormatInstant(told) {
			continue
		}
		out = append(out, s)
	}
	if it.Str("status") == "SNOOZED" {
		snooze := it.Map("snoozeState")
		until, _ := snooze.Time("untilUtc")
		occurrence, _ := snooze.Time("occurrenceUtc")
		zone := home
		if it.Str("tzid") != "" {
			zone, _ = time.LoadLocation(it.Str("tzid"))
		}
		// Where an occurrence triggers as the snooze ends, there is one entry.
		out = slices.DeleteFunc(out, func(s showing) bool { return s.start.Equal(until) && s.virtual })
		snoozed := showing{start: until, end: until, date: occurrence.In(zone).Format("20060102")}
		i := slices.IndexFunc(out, func(s showing) bool { return s.start.Equal(until) })
		switch {
		case i < 0:
			out = append(out, snoozed)
		case snoozed.date < out[i].date:
			out[i] = snoozed
		}
	}
	for i := range out {
		out[i].id, out[i].title, out[i].status, out[i].tags = it.Str("reminderId"), it.Str("title"), it.Str("status"),
			it.Strings("tags")
	}
	return out
}

var oracleRules = []string{
	"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=DAILY;COUNT=20", "FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=MO,WE,FR",
	"FREQ=WEEKLY;INTERVAL=2;COUNT=30",
	"FREQ=MONTHLY;BYMONTHDAY=15,-1", "FREQ=MONTHLY;BYDAY=-1FR", "FREQ=MONTHLY;BYDAY=MO,TU,WE;BYSETPOS=2", "FREQ=YEARLY",
	"FREQ=YEARLY;BYMONTH=3,11;BYDAY=1SU",
}

var oracleLengths = []time.Duration{
	0, 0, time.Hour, time.Hour, 24 * time.Hour, 25 * time.Hour, 10 * 24 * time.Hour, 60 * 24 * time.Hour,
}

// randomSeries stores a series with exceptions of all kinds, and may change or delete it afterwards.
func (g *generator) randomSeries() {
	start := g.time("first").AddDate(0, -rapid.SampledFrom([]int{0, 0, 1, 14}).Draw(g.t, "months ago"), 0)
	length := rapid.SampledFrom(oracleLengths).Draw(g.t, "length")
	zone := rapid.SampledFrom([]string{"", "UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe"}).Draw(g.t,
		"zone")
	text := fmt.Sprintf(`{"title":"s%d","rrule":%q`, g.b.ids, rapid.SampledFrom(oracleRules).Draw(g.t, "rule")) + g.tag()
	instant := func(at time.Time) string {
		if zone == "" {
			return strings.TrimSuffix(item.FormatInstant(at), "Z")
		}
		return item.FormatInstant(at)
	}
	allDay := rapid.IntRange(0, 3).Draw(g.t, "all-day") == 0
	switch {
	case allDay:
		text += fmt.Sprintf(`,"isAllDay":true,"startDate":%q,"endDate":%q`, item.FormatDate(start),
			item.FormatDate(start.AddDate(0, 0, max(1, int(length/(24*time.Hour))))))
		zone = ""
	default:
		text += fmt.Sprintf(`,"startUtc":%q`, instant(start))
		if length > 0 {
			text += fmt.Sprintf(`,"endUtc":%q`, instant(start.Add(length)))
		}
		if zone != "" {
			text += fmt.Sprintf(`,"startTzid":%q`, zone)
		}
	}
	if rapid.IntRange(0, 3).Draw(g.t, "ends") == 0 {
		text += fmt.Sprintf(`,"rruleUntil":%q`, instant(start.AddDate(0, 0, rapid.IntRange(0, 400).Draw(g.t, "days"))))
	}
	if rapid.IntRange(0, 3).Draw(g.t, "besides") == 0 {
		text += fmt.Sprintf(`,"rdate":[%q]`, start.AddDate(0, 0, rapid.IntRange(0, 60).Draw(g.t, "rdate")).Format("20060102"))
	}
	master := g.b.add(ann, product.Master(), text+"}", nil)
	occurrences := expand(g.t, master, "startUtc", "startTzid", time.UTC, g.to)
	exceptions := map[string]item.Item{}
	for range rapid.SampledFrom([]int{0, 0, 2, 6}).Draw(g.t, "exceptions") {
		// Those near the middle of everything are the ones that windows meet.
		near, _ := slices.BinarySearchFunc(occurrences, noon, func(o ruled, at time.Time) int { return o.start.Compare(at) })
		i := near + rapid.IntRange(-8, 8).Draw(g.t, "which")
		if i < 0 || i >= len(occurrences) {
			continue
		}
		row, kept := g.exception(master, occurrences[i])
		if exceptions[occurrences[i].date] == nil {
			exceptions[occurrences[i].date] = row
			g.b.put(kept)
			g.b.set(master, item.Item{"hasExceptions": item.Bool(true)})
		}
	}
	master = g.changeSeries(master, occurrences)
	if master != nil {
		g.series = append(g.series, oracleSeries{master, exceptions})
	}
}

// changeSeries leaves exceptions whose times were the series' then, whose date is none any more, or whose series is
// gone.
func (g *generator) changeSeries(master item.Item, occurrences []ruled) item.Item {
	stored, err := g.b.store.Get(ctx, master.Key())
	require.NoError(g.t, err)
	after := stored.Clone()
	switch rapid.IntRange(0, 9).Draw(g.t, "change") {
	case 0:
		g.b.remove(master)
		return nil
	case 1:
		if len(occurrences) > 2 {
			gone := occurrences[len(occurrences)/2].date
			after["exdate"] = item.List{item.String(gone)}
		}
	case 2:
		if start, ok := after.Time("startUtc"); ok && start.Hour() < 22 && start.Hour() > 10 &&
			after.Str("startTzid") != "Australia/Lord_Howe" {
			after.SetTime("startUtc", start.Add(30*time.Minute))
			if end, ok := after.Time("endUtc"); ok {
				after.SetTime("endUtc", end.Add(30*time.Minute))
			}
		}
	case 3:
		after.Set("tags", item.Strings("a"))
	case 4:
		after["status"] = item.String("CANCELLED")
	}
	it := product.Master().NextVersion(entity.ByUser, ann, stored, after, g.b.now, nil)
	if len(product.Master().Validate(it)) > 0 {
		return stored // the change would leave nothing of it
	}
	g.b.put(it)
	return it
}

// exception makes a row of some kind; what counts is nil for one that was undone.
func (g *generator) exception(master item.Item, o ruled) (counts, row item.Item) {
	length := time.Hour
	fields := item.Item{
		"masterId": master["masterId"], "recurrenceId": item.String(item.FormatInstant(o.start)),
		"isAllDay": master["isAllDay"],
	}
	if master.Bool("isAllDay") {
		fields["startDate"], fields["endDate"] = item.String(item.FormatDate(o.wall)),
			item.String(item.FormatDate(o.wall.AddDate(0, 0, 1)))
	} else {
		fields.SetTime("startUtc", o.start)
		fields.Set("startTzid", master["startTzid"])
	}
	own := item.Item{}
	var empty []string
	times := func(at time.Time) {
		for _, name := range product.SpanFields() {
			delete(fields, name)
		}
		switch rapid.IntRange(0, 4).Draw(g.t, "as") {
		case 0:
			own["isAllDay"], own["startDate"] = item.Bool(true), item.String(item.FormatDate(at))
			own["endDate"] = item.String(item.FormatDate(at.AddDate(0, 0, 1+int(length/(24*time.Hour)))))
		case 1: // floating
			own["isAllDay"] = item.Bool(false)
			own.SetTime("startUtc", at)
			own.SetTime("endUtc", at.Add(length))
		default:
			own["isAllDay"], own["startTzid"] = item.Bool(false), item.String("Europe/London")
			own.SetTime("startUtc", at)
			own.SetTime("endUtc", at.Add(length))
		}
	}
	switch rapid.IntRange(0, 7).Draw(g.t, "kind") {
	case 0:
		own["status"] = item.String("CANCELLED")
	case 1: // undone
	case 2:
		own["title"] = item.String("own")
	case 3:
		own["tags"] = item.Strings("b")
	case 4:
		empty = []string{"tags"}
	case 5:
		times(o.start.Add(time.Duration(rapid.IntRange(-180, 180).Draw(g.t, "near")) * time.Minute))
	default:
		length = rapid.SampledFrom(oracleLengths).Draw(g.t, "own length")
		times(g.time("far"))
	}
	maps.Copy(fields, own)
	var names item.List
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(own)), empty) {
		names = append(names, item.String(name))
	}
	fields.Set("modifiedFields", names)
	row = product.Instance().NewItem(ann, entity.InstanceID(master.Str("masterId"), o.date), fields, g.b.now, nil)
	if len(names) == 0 {
		return nil, row
	}
	return row, row
}

// randomRecurring stores a recurring reminder that has moved on, or was put off.
func (g *generator) randomRecurring() {
	start := g.time("first").AddDate(0, -rapid.SampledFrom([]int{0, 0, 1, 14}).Draw(g.t, "months ago"), 0)
	zone := rapid.SampledFrom([]string{"", "America/New_York", "Asia/Tokyo"}).Draw(g.t, "zone")
	text := fmt.Sprintf(`{"title":"r%d","rrule":%q`, g.b.ids, rapid.SampledFrom(oracleRules).Draw(g.t, "rule")) + g.tag()
	if zone == "" {
		text += fmt.Sprintf(`,"triggerUtc":%q`, strings.TrimSuffix(item.FormatInstant(start), "Z"))
	} else {
		text += fmt.Sprintf(`,"triggerUtc":%q,"tzid":%q`, item.FormatInstant(start), zone)
	}
	first := g.b.add(ann, product.Reminder(), text+"}", nil)
	moved := first.Clone()
	occurrences := expand(g.t, first, "firstTriggerUtc", "tzid", g.home, g.to)
	if len(occurrences) > 1 {
		i := rapid.IntRange(0, len(occurrences)-1).Draw(g.t, "next")
		at := occurrences[i]
		moved.SetTime("triggerUtc", at.start)
		if zone == "" {
			moved.SetTime("triggerUtc", at.wall)
		}
		if i > 0 && rapid.IntRange(0, 2).Draw(g.t, "snoozed") == 0 {
			until := g.time("until")
			if rapid.IntRange(0, 3).Draw(g.t, "meets") == 0 {
				until = at.start
			}
			moved["status"] = item.String("SNOOZED")
			moved["snoozeState"] = item.Map{
				"untilUtc": item.String(item.FormatInstant(until)), "count": item.Int(1),
				"occurrenceUtc": item.String(item.FormatInstant(occurrences[rapid.IntRange(0, i-1).Draw(g.t, "put off")].start)),
			}
		}
	}
	if rapid.IntRange(0, 9).Draw(g.t, "done") == 0 {
		moved["status"] = item.String("DISMISSED")
		delete(moved, "snoozeState")
	}
	it := product.Reminder().NextVersion(entity.ByUser, ann, first, moved, g.b.now, nil)
	g.b.put(it)
	g.items = append(g.items, it)
}
