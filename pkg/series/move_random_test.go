package series_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/series/seriestest"
)

// moves is how many random moves are tried; NEXUS_SERIES_MOVES asks for others, NEXUS_SERIES_MOVE for a single one.
const moves = 2000

func TestFollow_movesRuleAndEndsAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	from, n := 0, moves
	if asked, err := strconv.Atoi(os.Getenv("NEXUS_SERIES_MOVES")); err == nil {
		n = asked
	}
	if one, err := strconv.Atoi(os.Getenv("NEXUS_SERIES_MOVE")); err == nil {
		from, n = one, 1
	}
	tally := map[string]int{}
	for seed := from; seed < from+n; seed++ {
		m := randomMove(rand.New(rand.NewPCG(uint64(seed), 7)))
		if what := m.try(t, seed); what != "" {
			tally[what]++
		}
	}
	t.Log(tally)
	if n >= moves {
		for _, what := range []string{"stays", "rewritten"} {
			require.Greater(t, tally[what], n/20, "moves are not varied: %v", tally)
		}
	}
}

// randomly is one move of a series.
type randomly struct {
	seriestest.Series
	text     string // the rule as it is written
	old, new kind
	to       time.Time
}

// try compares what the code makes of the move with what the document makes of it.
func (m randomly) try(t *testing.T, seed int) string {
	want := m.Move(m.to, nil)
	if len(want.Occurrences(onDate(2200, 1, 1), 2)) < 2 && !want.Rule.Gives(m.to) {
		return "a rule without dates, which is refused"
	}
	for _, end := range want.Ends {
		if !m.new.isPlain(end) {
			return "an end that the clocks skip or repeat"
		}
	}
	before := itemOf(m.Series, m.old, m.text)
	after := itemOf(seriestest.Series{Start: m.to, Ends: m.Ends}, m.new, m.text)
	if end, ok := before.Time(product.AttrRRuleUntil); ok {
		after.SetTime(product.AttrRRuleUntil, end) // a change that does not name it leaves it as it is stored
	}
	about := fmt.Sprintf("NEXUS_SERIES_MOVE=%d: %s %v, from %s (%s) to %s (%s)", seed, m.text, m.Ends,
		m.Start.Format("Mon 2006-01-02 15:04"), m.old, m.to.Format("Mon 2006-01-02 15:04"), m.new)
	text, end := series.Follow(before, after)
	got := seriestest.ReadRule(text)
	require.Equal(t, want.Rule.String(), got.String(), about)
	sameKind := (m.old == days) == (m.new == days)
	for name, wanted := range want.Ends {
		var found time.Time
		if name == seriestest.End {
			require.False(t, end.IsZero(), "%s: rruleUntil is gone", about)
			found = m.new.reading(end)
		} else {
			require.Len(t, untilOf(text), len(m.new.until(wanted)), "%s: UNTIL is not written as the kind has it", about)
			found = m.new.readUntil(untilOf(text))
			if m.new == days {
				wanted = seriestest.DateOf(wanted).Add(24*time.Hour - time.Second)
			}
		}
		if sameKind {
			require.Equal(t, wanted.String(), found.String(), "%s: %s", about, name)
		}
		require.Equal(t, len(want.Occurrences(wanted, seriestest.Far)), len(want.Occurrences(found, seriestest.Far)),
			"%s: %s ends at %s, should at %s", about, name, found, wanted)
	}
	if want.Rule.String() == m.Rule.String() {
		return "stays"
	}
	return "rewritten"
}

// kind says how a series states its times.
type kind string // the name of a zone, or one of these

const (
	floats kind = "floats"
	days   kind = "days"
)

func (k kind) zone() *time.Location {
	if k == floats || k == days {
		return time.UTC
	}
	zone, err := time.LoadLocation(string(k))
	if err != nil {
		panic(err)
	}
	return zone
}

// instant returns the reading as an instant. Readings that the clocks skip or repeat are not asked for.
func (k kind) instant(reading time.Time) time.Time {
	at := reading
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, k.zone()).UTC()
}

func (k kind) reading(instant time.Time) time.Time {
	at := instant.In(k.zone())
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

// isPlain reports whether the clocks neither skip nor repeat the reading.
func (k kind) isPlain(reading time.Time) bool {
	return k.reading(k.instant(reading)).Equal(reading) &&
		k.reading(k.instant(reading).Add(-time.Hour)).Equal(reading.Add(-time.Hour)) &&
		k.reading(k.instant(reading).Add(time.Hour)).Equal(reading.Add(time.Hour))
}

func (k kind) until(reading time.Time) string {
	switch k {
	case days:
		return reading.Format("20060102")
	case floats:
		return reading.Format("20060102T150405")
	}
	return k.instant(reading).Format("20060102T150405Z")
}

func (k kind) readUntil(text string) time.Time {
	switch len(text) {
	case len("20060102"):
		at, err := time.Parse("20060102", text)
		must(err)
		return at.Add(24*time.Hour - time.Second)
	case len("20060102T150405"):
		at, err := time.Parse("20060102T150405", text)
		must(err)
		return at
	}
	at, err := time.Parse("20060102T150405Z", text)
	must(err)
	return k.reading(at)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// item returns the series as the table has it.
func itemOf(m seriestest.Series, k kind, rule string) item.Item {
	it := item.Item{entity.AttrType: item.String(entity.TypeMaster), product.AttrRRule: item.String(rule)}
	if k == days {
		it[product.AttrIsAllDay] = item.Bool(true)
		it[product.AttrStartDate] = item.String(m.Start.Format(time.DateOnly))
	} else {
		it.SetTime(product.AttrStartUtc, k.instant(m.Start))
		it.SetTime(product.AttrEndUtc, k.instant(m.Start).Add(time.Hour))
		if k != floats {
			it[product.AttrStartTzid] = item.String(k)
		}
	}
	if end, ok := m.Ends[seriestest.End]; ok {
		it.SetTime(product.AttrRRuleUntil, k.instant(end))
	}
	return it
}

// untilOf returns the rule's UNTIL as it is written.
func untilOf(rule string) string {
	_, behind, _ := strings.Cut(rule, "UNTIL=")
	until, _, _ := strings.Cut(behind, ";")
	return until
}

var modelKinds = []kind{"UTC", "America/New_York", "Europe/Paris", "Asia/Kolkata", "Australia/Sydney", floats, days}

func onDate(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func randomMove(r *rand.Rand) randomly {
	pick := func(n int) bool { return r.IntN(n) == 0 }
	var m randomly
	m.old = modelKinds[r.IntN(len(modelKinds))]
	m.new = m.old
	if pick(4) {
		m.new = modelKinds[r.IntN(len(modelKinds))]
	}
	day := onDate(2015+r.IntN(15), time.Month(1+r.IntN(12)), 1+r.IntN(31))
	m.text = randomRule(r, day)
	m.Rule = seriestest.ReadRule(m.text)
	if !pick(8) { // most starts are dates of their rule
		m.Rule.Dates(day, day.AddDate(9, 0, 0), func(d time.Time) bool { day = d; return false })
	}
	to := day.AddDate(0, 0, r.IntN(21)-10)
	switch r.IntN(6) {
	case 0:
		to = day
	case 1:
		to = day.AddDate(0, r.IntN(9)-4, r.IntN(5)-2)
	case 2:
		to = day.AddDate(r.IntN(5)-2, r.IntN(3)-1, r.IntN(3)-1)
	case 3: // along the series
		at := r.IntN(6)
		m.Rule.Dates(day, day.AddDate(9, 0, 0), func(d time.Time) bool { to = d; at--; return at > 0 })
	}
	m.Start, m.to = day.Add(randomClock(r, m.old)), to
	m.to = to.Add(randomClock(r, m.new))
	if m.new == m.old && pick(2) {
		m.to = to.Add(seriestest.ClockOf(m.Start))
	}
	m.Ends = map[string]time.Time{}
	switch r.IntN(6) {
	case 0:
		count := 1 + r.IntN(30)
		m.text += fmt.Sprint(";COUNT=", count)
		m.Rule = seriestest.ReadRule(m.text)
	case 1, 2:
		m.Ends[seriestest.Until] = m.randomEnd(r)
		m.text += ";UNTIL=" + m.old.until(m.Ends[seriestest.Until])
	}
	if pick(3) {
		m.Ends[seriestest.End] = m.randomEnd(r)
	}
	return m
}

// randomEnd returns an end that is not before the start: an occurrence, or a time some days after one.
func (m randomly) randomEnd(r *rand.Rand) time.Time {
	all := m.Occurrences(m.Start.AddDate(30, 0, 0), 1+r.IntN(40))
	end := all[len(all)-1]
	if r.IntN(2) == 0 {
		end = end.AddDate(0, 0, r.IntN(5))
	}
	if m.old == days {
		return seriestest.DateOf(end).Add(24*time.Hour - time.Second)
	}
	return end
}

// randomClock returns a time of day at which no zone of the test changes its clocks.
func randomClock(r *rand.Rand, k kind) time.Duration {
	if k == days {
		return 0
	}
	return 5*time.Hour + time.Duration(r.IntN(18*4))*15*time.Minute
}

// randomRule writes a rule. Most rules have the date.
func randomRule(r *rand.Rand, d time.Time) string {
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	weekday := strings.ToUpper(d.Weekday().String()[:2])
	other := []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}[r.IntN(7)]
	front, end := seriestest.NumberInMonth(d)
	yearFront, yearEnd := seriestest.NumberInYear(d)
	month, day := int(d.Month()), d.Day()
	back := seriestest.FromEnd(day, seriestest.DaysIn(d.Year(), d.Month()))
	interval := ""
	if r.IntN(3) == 0 {
		interval = fmt.Sprint(";INTERVAL=", 1+r.IntN(4))
	}
	weekStart := one("", "", "", ";WKST=SU", ";WKST=MO", ";WKST=TH")
	two := func(a, b any) string {
		if fmt.Sprint(a) == fmt.Sprint(b) {
			return fmt.Sprint(a)
		}
		if r.IntN(2) == 0 {
			a, b = b, a
		}
		return fmt.Sprint(a, ",", b)
	}
	months := fmt.Sprint(month)
	if r.IntN(2) == 0 {
		months = two(month, 1+r.IntN(12))
	}
	sprint := func(all ...any) string { return fmt.Sprint(all...) }
	switch one("DAILY", "WEEKLY", "WEEKLY", "MONTHLY", "MONTHLY", "YEARLY", "YEARLY") {
	case "DAILY":
		return "FREQ=DAILY" + interval + one("", "",
			";BYDAY="+two(weekday, other),
			";BYDAY=MO,TU,WE,TH,FR",
			";BYMONTH="+months,
			";BYMONTHDAY="+two(day, 1+r.IntN(28)))
	case "WEEKLY":
		return "FREQ=WEEKLY" + interval + one("",
			";BYDAY="+weekday,
			";BYDAY="+two(weekday, other),
			";BYDAY=MO,TU,WE,TH,FR",
			";BYDAY="+weekday+";BYMONTH="+months,
			";BYMONTH="+months,
			";BYDAY=SU,SA;BYSETPOS=-1") + weekStart
	case "MONTHLY":
		return "FREQ=MONTHLY" + interval + one("",
			sprint(";BYMONTHDAY=", day),
			sprint(";BYMONTHDAY=", back),
			";BYMONTHDAY="+two(day, 1+r.IntN(28)),
			";BYMONTHDAY="+two(back, 1+r.IntN(28)),
			sprint(";BYDAY=", front, weekday),
			sprint(";BYDAY=", end, weekday),
			";BYDAY="+weekday,
			";BYDAY="+two(sprint(front, weekday), sprint(1+r.IntN(4), other)),
			";BYDAY="+two(sprint(front, weekday), sprint(end, weekday)),
			";BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
			";BYDAY="+weekday+";BYMONTHDAY=8,9,10,11,12,13,14",
			";BYDAY=FR;BYMONTHDAY=13",
			";BYMONTH="+months,
			sprint(";BYMONTH=", months, ";BYMONTHDAY=", day),
			sprint(";BYMONTH=", months, ";BYDAY=", front, weekday))
	}
	return "FREQ=YEARLY" + interval + one("",
		";BYMONTH="+months,
		sprint(";BYMONTH=", months, ";BYMONTHDAY=", day),
		sprint(";BYMONTHDAY=", day),
		sprint(";BYMONTH=", months, ";BYMONTHDAY=", back),
		sprint(";BYMONTH=", months, ";BYDAY=", front, weekday),
		sprint(";BYMONTH=", months, ";BYDAY=", end, weekday),
		";BYMONTH="+months+";BYDAY="+weekday,
		sprint(";BYDAY=", yearFront, weekday),
		sprint(";BYDAY=", yearEnd, weekday),
		";BYDAY="+weekday,
		sprint(";BYYEARDAY=", d.YearDay()),
		";BYWEEKNO=20",
		";BYWEEKNO=20;BYDAY="+weekday,
		";BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
		";BYMONTH="+months+";BYDAY="+two(weekday, other)+";BYSETPOS=1") + weekStart
}

func TestSeries_modelReadsRulesAsTheDocumentDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, start string
		want        []string
	}{
		{
			"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2026-01-30",
			[]string{"2026-01-30", "2026-02-27", "2026-03-31"},
		},
		{"FREQ=MONTHLY;BYMONTHDAY=31", "2026-01-31", []string{"2026-01-31", "2026-03-31", "2026-05-31"}},
		{
			"FREQ=YEARLY;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "2025-11-04",
			[]string{"2025-11-04", "2026-11-03", "2027-11-02"},
		},
		{"FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU", "2026-01-05", []string{"2026-01-05", "2026-01-18", "2026-01-19"}},
		{"FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO", "2024-12-30", []string{"2024-12-30", "2025-12-29", "2027-01-04"}},
	} {
		start, err := time.Parse(time.DateOnly, c.start)
		require.NoError(t, err)
		var got []string
		seriestest.ReadRule(c.rule).Dates(start, start.AddDate(9, 0, 0), func(d time.Time) bool {
			got = append(got, d.Format(time.DateOnly))
			return len(got) < len(c.want)
		})
		require.True(t, slices.Equal(c.want, got), "%s: %v", c.rule, got)
	}
}
