package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/pkg/entity"
	"nexus/pkg/query"
)

// The oracle knows every entity and answers an agenda by looking at each: no index, no page, no widening.

var oracleZones = []string{"UTC", "America/New_York", "Asia/Tokyo", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Australia/Lord_Howe", "Europe/London"}

func TestTheAgendaEqualsASlowOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := setup(t)
		meta := entity.NewUserMeta(ann, noon)
		home := rapid.SampledFrom(oracleZones).Draw(t, "home")
		meta["defaultTzid"] = entity.String(home)
		b.put(meta)
		// Narrow spreads make many rows share a time, wide ones cross years.
		spread := rapid.SampledFrom([]time.Duration{time.Hour, 30 * time.Hour, 20 * 24 * time.Hour, 500 * 24 * time.Hour}).Draw(t, "spread")
		var items []entity.Item
		for range rapid.IntRange(0, 150).Draw(t, "items") {
			items = append(items, randomItem(t, b, spread))
		}
		b.now = noon.Add(rapid.SampledFrom([]time.Duration{0, 30 * time.Hour}).Draw(t, "later"))
		for range 4 {
			q := randomQuery(t, spread)
			zone := q.Zone
			if zone == "" {
				zone = home
			}
			want := oracle(t, items, q, zone, b.now)
			got := shown(b.allEntries(q))
			require.Equal(t, want, got, "%+v", q)
		}
	})
}

func drawTime(t *rapid.T, spread time.Duration, label string) time.Time {
	offset := rapid.Int64Range(-int64(spread/time.Minute), int64(spread/time.Minute)).Draw(t, label)
	return noon.Add(time.Duration(offset) * time.Minute)
}

func randomQuery(t *rapid.T, spread time.Duration) query.AgendaQuery {
	from := drawTime(t, spread, "from")
	length := rapid.SampledFrom([]time.Duration{time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 366 * 24 * time.Hour}).Draw(t, "length")
	return query.AgendaQuery{
		From: from, To: from.Add(length),
		Zone:  rapid.SampledFrom(append([]string{""}, oracleZones...)).Draw(t, "tz"),
		Limit: rapid.SampledFrom([]int{1, 2, 10, 100}).Draw(t, "limit"),
		Types: rapid.SampledFrom([][]string{nil, nil, {"EVENT"}, {"TASK"}, {"NOTE", "REMINDER"}}).Draw(t, "types"),
		Tags:  rapid.SampledFrom([][]string{nil, nil, {"a"}, {"a", "b"}}).Draw(t, "tags"),
	}
}

// randomItem stores an entity; a third of them belong to somebody else, and come back as nil.
func randomItem(t *rapid.T, b *bench, spread time.Duration) entity.Item {
	user := rapid.SampledFrom([]string{ann, ann, bob}).Draw(t, "user")
	start := drawTime(t, spread, "start")
	length := rapid.SampledFrom([]time.Duration{0, time.Hour, 24 * time.Hour, 25 * time.Hour, 90 * 24 * time.Hour}).Draw(t, "length")
	clock := func(name string, at time.Time, zoned bool) string {
		if zoned {
			return fmt.Sprintf(",%q:%q", name, entity.FormatInstant(at))
		}
		return fmt.Sprintf(",%q:%q", name, strings.TrimSuffix(entity.FormatInstant(at), "Z"))
	}
	zone := rapid.SampledFrom([]string{"", "Europe/London"}).Draw(t, "zone")
	in := func(name string) string {
		if zone == "" {
			return ""
		}
		return fmt.Sprintf(",%q:%q", name, zone)
	}
	text := fmt.Sprintf(`{"title":"%d"`, b.ids)
	if tag := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "tag"); tag != "" {
		text += fmt.Sprintf(`,"tags":[%q]`, tag)
	}
	var server entity.Item
	typ := rapid.SampledFrom([]*entity.Type{entity.Event(), entity.Task(), entity.Reminder(), entity.Note()}).Draw(t, "type")
	allDay := rapid.IntRange(0, 3).Draw(t, "all-day") == 0
	switch {
	case typ.Name == "EVENT" && allDay:
		days := max(1, int(length/(24*time.Hour)))
		text += fmt.Sprintf(`,"isAllDay":true,"startDate":%q,"endDate":%q`, entity.FormatDate(start), entity.FormatDate(start.AddDate(0, 0, days)))
	case typ.Name == "EVENT":
		text += clock("startUtc", start, zone != "") + clock("endUtc", start.Add(length), zone != "") + in("startTzid")
	case typ.Name == "TASK":
		text += fmt.Sprintf(`,"status":%q`, rapid.SampledFrom(entity.TaskStatuses()).Draw(t, "status"))
		shape := rapid.IntRange(0, 3).Draw(t, "shape")
		if allDay {
			text += fmt.Sprintf(`,"isAllDay":true,"dueDate":%q`, entity.FormatDate(start))
			break
		}
		if shape&1 != 0 {
			text += clock("startUtc", start, zone != "")
		}
		if shape&2 != 0 {
			text += clock("dueUtc", start.Add(length), zone != "")
		}
		if shape != 0 {
			text += in("dueTzid")
		}
	case typ.Name == "REMINDER":
		text += clock("triggerUtc", start, zone != "") + in("tzid")
		switch rapid.IntRange(0, 3).Draw(t, "state") {
		case 0:
			server = snoozedUntil(entity.FormatInstant(drawTime(t, spread, "until")))
		case 1:
			server = entity.Item{"status": entity.String("DISMISSED")}
		}
	}
	it := b.add(user, typ, text+"}", server)
	if rapid.IntRange(0, 9).Draw(t, "expired") == 0 {
		b.set(it, entity.Item{"ttl": entity.Int(noon.Unix())})
		return nil
	}
	if user != ann {
		return nil
	}
	return it
}

type showing struct {
	start, end time.Time
	id, text   string
}

func oracle(t require.TestingT, items []entity.Item, q query.AgendaQuery, zoneName string, now time.Time) []string {
	zone, err := time.LoadLocation(zoneName)
	require.NoError(t, err)
	types := q.Types
	if types == nil {
		types = []string{"EVENT", "TASK", "REMINDER"}
	}
	var found []showing
	for _, it := range items {
		if it == nil || !slices.Contains(types, it.Str("entityType")) {
			continue
		}
		tagged := len(q.Tags) == 0
		for _, tag := range it.Strings("tags") {
			tagged = tagged || slices.Contains(q.Tags, tag)
		}
		if !tagged {
			continue
		}
		for _, s := range oracleShowings(it, zone, now) {
			begins := !s.start.Before(q.From) && s.start.Before(q.To)
			runs := s.start.Before(q.From) && s.end.After(q.From)
			if begins || runs {
				found = append(found, s)
			}
		}
	}
	slices.SortFunc(found, func(a, b showing) int {
		if c := a.start.Compare(b.start); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	var out []string
	for _, s := range found {
		out = append(out, s.text)
	}
	return out
}

// oracleShowings reads the attributes as the data model describes them.
func oracleShowings(it entity.Item, zone *time.Location, now time.Time) []showing {
	read := func(name, zoneAttr string) (time.Time, bool) {
		at, err := time.Parse(time.RFC3339, it.Str(name))
		if err == nil && zoneAttr != "" && it.Str(zoneAttr) == "" {
			at = entity.Resolve(at, zone)
		}
		return at, err == nil
	}
	midnight := func(name string, days int) time.Time {
		day, err := time.Parse(time.DateOnly, it.Str(name))
		if err != nil {
			panic(err)
		}
		return entity.Resolve(day.AddDate(0, 0, days), zone)
	}
	var out []showing
	show := func(start, end time.Time) {
		s := showing{start: start, end: end}
		for _, name := range []string{"eventId", "taskId", "reminderId", "noteId"} {
			s.id += it.Str(name)
		}
		s.text = it.Str("title") + " " + start.UTC().Format(time.RFC3339)
		if !end.Equal(start) {
			s.text += " " + end.UTC().Format(time.RFC3339)
		}
		out = append(out, s)
	}
	switch it.Str("entityType") {
	case "EVENT":
		if it.Bool("isAllDay") {
			show(midnight("startDate", 0), midnight("endDate", 0))
			break
		}
		start, _ := read("startUtc", "startTzid")
		end, _ := read("endUtc", "startTzid")
		show(start, end)
	case "TASK":
		status := it.Str("status")
		if archiveAt, ok := read("archiveAt", ""); status == "ARCHIVED" || status == "COMPLETED" && ok && !now.Before(archiveAt) {
			break
		}
		if it.Bool("isAllDay") {
			show(midnight("dueDate", 0), midnight("dueDate", 1))
			break
		}
		start, hasStart := read("startUtc", "dueTzid")
		due, hasDue := read("dueUtc", "dueTzid")
		switch {
		case hasStart && hasDue:
			show(start, start)
			if status != "COMPLETED" && !due.Equal(start) {
				show(due, due)
			}
		case hasStart:
			show(start, start)
		case hasDue:
			show(due, due)
		}
	case "REMINDER":
		switch it.Str("status") {
		case "PENDING":
			at, _ := read("triggerUtc", "tzid")
			show(at, at)
		case "SNOOZED":
			at, err := time.Parse(time.RFC3339, it.Map("snoozeState").Str("untilUtc"))
			if err != nil {
				panic(err)
			}
			show(at, at)
		}
	case "NOTE":
		if it.Str("status") != "ARCHIVED" {
			at, _ := read("createdAt", "")
			show(at, at)
		}
	}
	return out
}
