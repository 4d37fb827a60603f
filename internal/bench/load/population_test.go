package load_test

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

const (
	day  = 24 * time.Hour
	week = 7 * day

	homeZone = "Europe/Paris"
	// spread is how far before and behind the measured week a user's items lie: five years in all.
	spread = 910 * day
)

// document is the body of a request that creates an entity.
type document struct {
	Type string
	Body map[string]any
	// At is the time in its owner's life to which it belongs: a note's creation, where that can be told.
	At time.Time
}

// exceptionDoc is a change of one occurrence of a series, named by its place among the series.
type exceptionDoc struct {
	Series int
	Date   string
	Body   map[string]any // nil cancels
}

// population holds the entities of one user, around a Monday.
type population struct {
	Items      []document
	Series     []document
	Exceptions []exceptionDoc
}

// populate returns a user with so many items, evenly spread over five years, and so many series, a third of them with
// exceptions, one in the measured week. It is the same for the same numbers.
func populate(monday time.Time, items, series int) population {
	var p population
	for i := range items {
		at := placeOf(monday, i, items)
		d := itemBody(i, at)
		d.At = at
		p.Items = append(p.Items, d)
	}
	for i := range series {
		d, dated := recurring(monday, i)
		p.Series = append(p.Series, d)
		if i%3 == 0 {
			p.Exceptions = append(p.Exceptions, exceptions(i, dated)...)
		}
	}
	return p
}

// placeOf is the time of the i-th of n items. The factor is a prime above any number of items: neighbours in time are
// not neighbours in the order of creation.
func placeOf(monday time.Time, i, n int) time.Time {
	return monday.Add(-spread + time.Duration(i*1_000_003%n)*(2*spread/time.Duration(n))).Truncate(15 * time.Minute)
}

func itemBody(i int, at time.Time) document {
	stamp := func(t time.Time) string { return t.Format(time.RFC3339) }
	const text = "What there is to say about it takes a sentence or two, as people write them. Bring the figures of " +
		"last week."
	switch i % 10 {
	case 0, 1:
		return document{Type: product.TypeTask, Body: map[string]any{
			"title": fmt.Sprintf("Task %d", i), "description": text, "dueUtc": stamp(at), "dueTzid": homeZone,
			"priority": 1 + i%5, "tags": []string{"work"},
		}}
	case 2:
		return document{
			Type: product.TypeReminder,
			Body: map[string]any{"title": fmt.Sprintf("Reminder %d", i), "triggerUtc": stamp(at), "tzid": homeZone},
		}
	case 3:
		return document{
			Type: product.TypeNote,
			Body: map[string]any{"title": fmt.Sprintf("Note %d", i), "body": strings.Repeat(text+"\n", 4)},
		}
	case 4:
		return document{Type: product.TypeEvent, Body: map[string]any{
			"title": fmt.Sprintf("Day %d", i), "isAllDay": true, "startDate": at.Format(time.DateOnly), "tags": []string{"home"},
		}}
	}
	return document{Type: product.TypeEvent, Body: map[string]any{
		"title": fmt.Sprintf("Event %d", i), "description": text, "location": "Room 4", "startUtc": stamp(at),
		"endUtc":    stamp(at.Add(time.Hour)),
		"startTzid": homeZone, "reminderMinutes": []int{10}, "tags": []string{"work", "team"},
	}}
}

// recurring is a series that began up to six years before the measured week. dated is its occurrence in that week, for
// those that are in it every week.
func recurring(monday time.Time, i int) (d document, dated time.Time) {
	rules := []string{
		"FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=TU,TH", "FREQ=WEEKLY;INTERVAL=2", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
		"FREQ=MONTHLY;BYMONTHDAY=15", "FREQ=YEARLY",
	}
	dated = monday.Add(time.Duration(i%5)*day + time.Duration(8+i%9)*time.Hour)
	start := dated.Add(-time.Duration(4+i*5%310) * week)
	return document{Type: entity.TypeMaster, At: start, Body: map[string]any{
		"title": fmt.Sprintf("Series %d", i), "description": "Every time the same, and every time another question.",
		"location": "Room 2",
		"startUtc": start.Format(time.RFC3339), "endUtc": start.Add(45 * time.Minute).Format(time.RFC3339),
		"startTzid": homeZone, "rrule": rules[i%len(rules)], "tags": []string{"team"},
	}}, dated
}

// exceptions are five of a series: moved, retitled, cancelled, and two more long ago.
func exceptions(i int, dated time.Time) []exceptionDoc {
	date := func(weeks int) string { return dated.Add(time.Duration(weeks) * week).In(zone()).Format("20060102") }
	moved := dated.Add(3 * time.Hour)
	return []exceptionDoc{
		{i, date(0), map[string]any{"startUtc": moved.Format(time.RFC3339)}},
		{i, date(1), map[string]any{"title": fmt.Sprintf("Series %d, the other way", i)}},
		{i, date(2), nil},
		{i, date(-1), map[string]any{"title": fmt.Sprintf("Series %d, at last", i)}},
		{i, date(-2), nil},
	}
}

func zone() *time.Location {
	z, err := wallclock.LoadLocation(homeZone)
	if err != nil {
		panic("load: " + err.Error()) // the zone database is built in
	}
	return z
}
