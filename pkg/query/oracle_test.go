package query_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// The oracle knows every entity and answers an agenda by looking at each: no index, no page, no widening.

var oracleZones = []string{
	"UTC", "America/New_York", "Asia/Tokyo", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Australia/Lord_Howe",
	"Europe/London",
}

// generator makes one user's entities by chance.
type generator struct {
	t      *rapid.T
	b      *fixture
	spread time.Duration
	home   *time.Location
	to     time.Time // nothing is asked for after it
	items  []item.Item
	series []oracleSeries
}

// oracleSeries is a series with the exceptions that count, by date.
type oracleSeries struct {
	master     item.Item
	exceptions map[string]item.Item
}

func (g *generator) time(label string) time.Time { return drawTime(g.t, g.spread, label) }

func (g *generator) tag() string {
	if tag := rapid.SampledFrom([]string{"", "a", "b"}).Draw(g.t, "tag"); tag != "" {
		return fmt.Sprintf(`,"tags":[%q]`, tag)
	}
	return ""
}

// oracleUsersVariable raises the number of users in hundreds.
const oracleUsersVariable = "NEXUS_AGENDA_USERS"

func TestAgenda_equalsASlowOracle(t *testing.T) {
	t.Parallel()
	users, err := strconv.Atoi(cmp.Or(os.Getenv(oracleUsersVariable), "100"))
	require.NoError(t, err, oracleUsersVariable)
	for range users / 100 { // rapid's own number of checks
		rapid.Check(t, checkAgainstOracle)
	}
}

func checkAgainstOracle(t *rapid.T) {
	b := setup(t)
	meta := product.NewUserMeta(ann, noon)
	home := rapid.SampledFrom(oracleZones).Draw(t, "home")
	meta["defaultTzid"] = item.String(home)
	b.put(meta)
	// Narrow spreads make many rows share a time, wide ones cross years.
	spread := rapid.SampledFrom(
		[]time.Duration{time.Hour, 30 * time.Hour, 20 * 24 * time.Hour, 500 * 24 * time.Hour}).Draw(t, "spread")
	g := &generator{t: t, b: b, spread: spread, to: noon.Add(spread + 368*24*time.Hour)}
	var err error
	g.home, err = time.LoadLocation(home)
	require.NoError(t, err)
	for range rapid.SampledFrom([]int{0, 10, 60, 150}).Draw(t, "items") {
		g.items = append(g.items, randomItem(t, b, spread))
	}
	for range rapid.IntRange(0, 8).Draw(t, "series") {
		g.randomSeries()
	}
	for range rapid.IntRange(0, 4).Draw(t, "recurring reminders") {
		g.randomRecurring()
	}
	b.now = noon.Add(rapid.SampledFrom([]time.Duration{0, 30 * time.Hour}).Draw(t, "later"))
	for range 4 {
		q := randomQuery(t, spread)
		want := g.oracle(q)
		var got []string
		for _, e := range b.allEntries(q) {
			s := showing{
				start: e.OccurrenceStart, end: e.OccurrenceEnd, title: e.Item().Str("title"), status: e.Item().Str("status"),
				tags: e.Item().Strings("tags"), date: e.Date, virtual: e.Virtual,
			}
			got = append(got, s.String())
			require.Equal(t, string(e.Type.AppendMembers(nil, e.Item())), string(e.AppendMembers(nil)))
		}
		require.Equal(t, want, got, "%+v", q)
	}
}

func drawTime(t *rapid.T, spread time.Duration, label string) time.Time {
	offset := rapid.Int64Range(-int64(spread/time.Minute), int64(spread/time.Minute)).Draw(t, label)
	return noon.Add(time.Duration(offset) * time.Minute)
}

func randomQuery(t *rapid.T, spread time.Duration) query.AgendaQuery {
	from := drawTime(t, spread, "from")
	length := rapid.SampledFrom(
		[]time.Duration{time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 366 * 24 * time.Hour}).Draw(t, "length")
	return query.AgendaQuery{
		From: from, To: from.Add(length),
		Zone:  rapid.SampledFrom(append([]string{""}, oracleZones...)).Draw(t, "tz"),
		Limit: rapid.SampledFrom([]int{1, 2, 10, 100}).Draw(t, "limit"),
		Types: rapid.SampledFrom([][]string{nil, nil, {"EVENT"}, {"TASK"}, {"NOTE", "REMINDER"}}).Draw(t, "types"),
		Tags:  rapid.SampledFrom([][]string{nil, nil, {"a"}, {"a", "b"}}).Draw(t, "tags"),
	}
}

// randomItem stores an entity; a third of them belong to another user, and come back as nil.
func randomItem(t *rapid.T, b *fixture, spread time.Duration) item.Item {
	user := rapid.SampledFrom([]string{ann, ann, bob}).Draw(t, "user")
	start := drawTime(t, spread, "start")
	length := rapid.SampledFrom([]time.Duration{0, time.Hour, 24 * time.Hour, 25 * time.Hour, 90 * 24 * time.Hour}).Draw(t,
		"length")
	clock := func(name string, at time.Time, zoned bool) string {
		if zoned {
			return fmt.Sprintf(",%q:%q", name, item.FormatInstant(at))
		}
		return fmt.Sprintf(",%q:%q", name, strings.TrimSuffix(item.FormatInstant(at), "Z"))
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
	var server item.Item
	typ := rapid.SampledFrom([]*entity.Type{product.Event(), product.Task(), product.Reminder(), product.Note()}).Draw(t,
		"type")
	allDay := rapid.IntRange(0, 3).Draw(t, "all-day") == 0
	switch {
	case typ.Name == "EVENT" && allDay:
		days := max(1, int(length/(24*time.Hour)))
		text += fmt.Sprintf(`,"isAllDay":true,"startDate":%q,"endDate":%q`, item.FormatDate(start),
			item.FormatDate(start.AddDate(0, 0, days)))
	case typ.Name == "EVENT":
		text += clock("startUtc", start, zone != "") + clock("endUtc", start.Add(length), zone != "") + in("startTzid")
	case typ.Name == "TASK":
		text += fmt.Sprintf(`,"status":%q`, rapid.SampledFrom(product.TaskStatuses()).Draw(t, "status"))
		shape := rapid.IntRange(0, 3).Draw(t, "shape")
		if allDay {
			text += fmt.Sprintf(`,"isAllDay":true,"dueDate":%q`, item.FormatDate(start))
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
			server = snoozedUntil(item.FormatInstant(drawTime(t, spread, "until")))
		case 1:
			server = item.Item{"status": item.String("DISMISSED")}
		}
	}
	it := b.add(user, typ, text+"}", server)
	if rapid.IntRange(0, 9).Draw(t, "expired") == 0 {
		b.set(it, item.Item{"ttl": item.Int(noon.Unix())})
		return nil
	}
	if user != ann {
		return nil
	}
	return it
}

type showing struct {
	start, end    time.Time
	id            string
	title, status string
	tags          []string
	date          string
	virtual       bool
}

func (s showing) String() string {
	text := s.title + " " + s.status + " " + strings.Join(s.tags, ",") + " " + s.start.UTC().Format(time.RFC3339)
	if !s.end.Equal(s.start) {
		text += " " + s.end.UTC().Format(time.RFC3339)
	}
	if s.virtual {
		s.date += " virtual"
	}
	return text + " " + s.date
}

func (g *generator) oracle(q query.AgendaQuery) []string {
	zone := g.home
	if q.Zone != "" {
		var err error
		zone, err = time.LoadLocation(q.Zone)
		require.NoError(g.t, err)
	}
	types := q.Types
	if types == nil {
		types = []string{"EVENT", "TASK", "REMINDER"}
	}
	var all []showing
	for _, it := range g.items {
		switch {
		case it == nil || !slices.Contains(types, it.Str("entityType")):
		case it.Has("rrule") && it.Str("status") != "DISMISSED":
			all = append(all, reminderShowings(g.t, it, zone, g.home, q.To)...)
		case !it.Has("rrule"):
			all = append(all, oracleShowings(it, zone, g.b.now)...)
		}
	}
	if slices.Contains(types, "EVENT") {
		for _, s := range g.series {
			all = append(all, seriesShowings(g.t, s.master, s.exceptions, zone, q.To)...)
		}
	}
	all = slices.DeleteFunc(all, func(s showing) bool {
		begins := !s.start.Before(q.From) && s.start.Before(q.To)
		runs := s.start.Before(q.From) && s.end.After(q.From)
		tagged := len(q.Tags) == 0 || slices.ContainsFunc(s.tags, func(tag string) bool {
			return slices.Contains(q.Tags, tag)
		})
		return !tagged || !begins && !runs
	})
	slices.SortFunc(all, func(a, b showing) int { return cmp.Or(a.start.Compare(b.start), strings.Compare(a.id, b.id)) })
	var out []string
	for _, s := range all {
		out = append(out, s.String())
	}
	return out
}

// oracleShowings reads the attributes as the data model describes them.
func oracleShowings(it item.Item, zone *time.Location, now time.Time) []showing {
	read := func(name, zoneAttr string) (time.Time, bool) {
		at, err := time.Parse(time.RFC3339, it.Str(name))
		if err == nil && zoneAttr != "" && it.Str(zoneAttr) == "" {
			at = item.Resolve(at, zone)
		}
		return at, err == nil
	}
	midnight := func(name string, days int) time.Time {
		day, err := time.Parse(time.DateOnly, it.Str(name))
		if err != nil {
			panic(err)
		}
		return item.Resolve(day.AddDate(0, 0, days), zone)
	}
	var out []showing
	show := func(start, end time.Time) {
		s := showing{start: start, end: end, title: it.Str("title"), status: it.Str("status"), tags: it.Strings("tags")}
		for _, name := range []string{"eventId", "taskId", "reminderId", "noteId"} {
			s.id += it.Str(name)
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
		end, hasEnd := read("endUtc", "startTzid")
		if !hasEnd {
			end = start
		}
		show(start, end)
	case "TASK":
		status := it.Str("status")
		if archiveAt, ok := read("archiveAt", ""); status == "ARCHIVED" ||
			status == "COMPLETED" && ok && !now.Before(archiveAt) {
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
