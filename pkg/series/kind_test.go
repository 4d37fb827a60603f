package series_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/series"
	"nexus/pkg/wallclock"
)

// A kind of series: with a zone, floating ("") or of whole days.
const wholeDays = "whole days"

var kinds = []string{"America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC", "", wholeDays}

// shape is a series of the kind that starts at a reading.
func shape(t *testing.T, kind string, start time.Time, rule string) item.Item {
	t.Helper()
	it := item.Item{product.AttrRRule: item.String(rule)}
	setStart(t, it, kind, start)
	return it
}

func setStart(t *testing.T, it item.Item, kind string, start time.Time) {
	t.Helper()
	for _, name := range product.SpanFields() {
		delete(it, name)
	}
	switch kind {
	case wholeDays:
		it[product.AttrIsAllDay], it[product.AttrStartDate] = item.Bool(true), item.String(item.FormatDate(start))
	case "":
		it[product.AttrStartUtc] = item.String(item.FormatInstant(start))
	default:
		it[product.AttrStartTzid] = item.String(kind)
		it[product.AttrStartUtc] = item.String(item.FormatInstant(item.Resolve(start, zoneOf(t, kind))))
	}
}

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := wallclock.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

// dates are the local dates of all occurrences.
func dates(t *testing.T, it item.Item) []string {
	t.Helper()
	rule, err := product.CompileMaster(it)
	require.NoError(t, err, "%v", it)
	all, err := rule.List(time.Time{}, time.Time{}, 2000)
	require.NoError(t, err)
	var list []string
	for _, o := range all {
		list = append(list, item.CompactDate(o.Wall))
	}
	return list
}

// randomEnded returns a rule and, sometimes, also an end, at some time of day around those of the occurrences.
func randomEnded(t *testing.T, r *rand.Rand, kind string, start time.Time) item.Item {
	t.Helper()
	rule := []string{
		"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH", "FREQ=MONTHLY",
		"FREQ=MONTHLY;BYDAY=2TU",
		"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=YEARLY",
		"FREQ=YEARLY;BYMONTH=3,9;BYDAY=-1SU",
	}[r.IntN(10)]
	end := func() time.Time {
		at := start.AddDate(0, 0, r.IntN(500))
		switch r.IntN(4) {
		case 0:
			return at
		case 1:
			return at.Add(-time.Second)
		case 2:
			return at.Truncate(24 * time.Hour).Add(24*time.Hour - time.Second)
		}
		return at.Truncate(24 * time.Hour).Add(time.Duration(r.IntN(24*60)) * time.Minute)
	}
	until := end()
	switch r.IntN(6) {
	case 0:
		rule += fmt.Sprintf(";COUNT=%d", 1+r.IntN(30))
	case 1:
		rule += ";UNTIL=" + until.Format("20060102")
	case 2:
		rule += ";UNTIL=" + until.Format("20060102T150405")
	case 3, 4:
		parsed, err := recurrence.Parse(rule)
		require.NoError(t, err)
		if kind == wholeDays || kind == "" {
			rule = parsed.WithUntil(until, kind == wholeDays, nil).String()
		} else {
			rule = parsed.WithUntil(until, false, zoneOf(t, kind)).String()
		}
	}
	it := shape(t, kind, start, rule)
	if parsed, err := recurrence.Parse(rule); r.IntN(2) == 0 || err == nil && !parsed.Finite() {
		at := end()
		if kind != wholeDays && kind != "" {
			at = item.Resolve(at, zoneOf(t, kind))
		}
		it.SetTime(product.AttrRRuleUntil, at)
	}
	return it
}

func TestFollow_keepsTheDatesInAnotherKindOfSeries(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		start := time.Date(2024, 1, 1+r.IntN(700), r.IntN(24), r.IntN(60), 0, 0, time.UTC)
		kind, other := kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))]
		before := randomEnded(t, r, kind, dayOnly(kind, start))
		after := before.Clone()
		setStart(t, after, other, dayOnly(other, start.Truncate(24*time.Hour).Add(time.Duration(r.IntN(24*60))*time.Minute)))
		rule, end := series.Follow(before, after)
		after[product.AttrRRule] = item.String(rule)
		after.SetTime(product.AttrRRuleUntil, end)
		require.Equal(t, dates(t, before), dates(t, after), "seed %d: %s to %s\n%v\n%v", seed, kind, other, before, after)
	}
}

// dayOnly is the start that a series of the kind can have.
func dayOnly(kind string, start time.Time) time.Time {
	if kind == wholeDays {
		return start.Truncate(24 * time.Hour)
	}
	return start
}

func TestFollow_keepsTheNumberOfOccurrences(t *testing.T) {
	t.Parallel()
	day := func(date string) time.Time {
		at, err := time.Parse("2006-01-02", date)
		require.NoError(t, err)
		return at
	}
	for _, c := range []struct{ name, rule, from, to, want string }{
		{"across a leap day", "FREQ=YEARLY;UNTIL=20280115", "2025-01-15", "2025-03-15",
			"20250315 20260315 20270315 20280315"},
		{"months of unequal length", "FREQ=MONTHLY;INTERVAL=2;UNTIL=20250615", "2025-02-15", "2025-03-15",
			"20250315 20250515 20250715"},
		{"numbered weekdays", "FREQ=MONTHLY;BYDAY=2MO;UNTIL=20250609", "2025-04-14", "2025-04-15",
			"20250415 20250520 20250617"},
		{"a day that not every month has", "FREQ=MONTHLY;UNTIL=20250415", "2025-01-15", "2025-01-31",
			"20250131 20250331 20250531 20250731"},
		{"along the series", "FREQ=WEEKLY;UNTIL=20250127", "2025-01-06", "2025-01-13", "20250113 20250120 20250127"},
		{"before the series", "FREQ=WEEKLY;UNTIL=20250127", "2025-01-13", "2025-01-06", "20250106 20250113 20250120"},
		{"beyond the series", "FREQ=WEEKLY;UNTIL=20250113", "2025-01-06", "2025-01-20", "20250120 20250127"},
		{"between the days of a longer step", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20250120", "2025-01-06", "2025-01-13",
			"20250113 20250127"},
		{"the last workday, which stays", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;UNTIL=20250331", "2025-01-31",
			"2025-01-30", "20250130 20250131 20250228 20250331"},
		{"election day, which stays", "FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=TU;UNTIL=20271102", "2024-11-05",
			"2024-11-06", "20241106 20251104 20261103 20271102"},
		{"the second Saturday, which stays, and its end is passed",
			"FREQ=MONTHLY;BYMONTHDAY=8,9,10,11,12,13,14;BYDAY=SA;UNTIL=20250208", "2025-01-11", "2025-02-09",
			"20250209 20250308"},
		{"months that only limit", "FREQ=MONTHLY;BYMONTH=1,7;UNTIL=20250715", "2025-01-15", "2025-02-17",
			"20250217 20250717"},
	} {
		for _, end := range []string{"UNTIL", "rruleUntil"} {
			before := shape(t, wholeDays, day(c.from), c.rule)
			if end == "rruleUntil" {
				endless, until, _ := strings.Cut(c.rule, ";UNTIL=")
				at, err := item.ParseCompactDate(until)
				require.NoError(t, err)
				before[product.AttrRRule] = item.String(endless)
				before.SetTime(product.AttrRRuleUntil, at)
			}
			after := shape(t, wholeDays, day(c.to), c.rule)
			rule, until := series.Follow(before, after)
			after[product.AttrRRule] = item.String(rule)
			after.SetTime(product.AttrRRuleUntil, until)
			require.Equal(t, c.want, strings.Join(dates(t, after), " "), "%s: %s", end, c.name)
		}
	}
}

func TestFollow_keepsAnEndWithinTheYears(t *testing.T) {
	t.Parallel()
	before := shape(t, "", time.Date(2025, 1, 6, 9, 0, 0, 0, time.UTC), "FREQ=WEEKLY;BYDAY=MO;UNTIL=99991231T235959")
	before.SetTime(product.AttrRRuleUntil, entity.LastInstant())
	after := before.Clone()
	setStart(t, after, "", time.Date(2025, 1, 7, 9, 0, 0, 0, time.UTC))
	rule, end := series.Follow(before, after)
	require.Equal(t, "FREQ=WEEKLY;UNTIL=99991231T235959;BYDAY=TU", rule)
	require.Equal(t, entity.LastInstant(), end)
}
