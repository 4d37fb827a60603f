package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// base is the Monday at whose beginning the measured week begins, where no clock says otherwise.
var base = time.Date(2026, 6, 8, 0, 0, 0, 0, time.UTC)

const (
	day  = 24 * time.Hour
	week = 7 * day

	homeZone = "Europe/Paris"
	// spread is how far before and behind the measured week a user's items lie: five years in all.
	spread = 910 * day
)

// document is what a client would send to create an entity.
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

// population is what one user has, around a Monday.
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
		// The factor is a prime above any number of items: neighbours in time are not neighbours in the order of creation.
		at := monday.Add(-spread +
			time.Duration(i*1_000_003%items)*(2*spread/time.Duration(items))).Truncate(15 * time.Minute)
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
	z, err := entity.LoadZone(homeZone)
	if err != nil {
		panic("load: " + err.Error()) // the zone database is built in
	}
	return z
}

// rows are the population as a table holds it once every consumer has done its work, as far as reads depend on it.
func (p population) rows(user string, registry *entity.Registry, now time.Time) ([]item.Item, error) {
	meta := product.NewUserMeta(user, now)
	meta[product.AttrDefaultTzid] = item.String(homeZone)
	out := []item.Item{meta}
	var masters []item.Item
	for i, d := range slices.Concat(p.Series, p.Items) {
		t := registry.Named(d.Type)
		it, err := created(t, user, fmt.Sprintf("%s_%08d", t.IDPrefix, i), d.Body, d.At)
		if err != nil {
			return nil, err
		}
		if d.Type == entity.TypeMaster {
			masters = append(masters, it)
		}
		out = append(out, it)
		if at, floating, ok := product.TaskDue(it); d.Type == product.TypeTask && ok {
			counter := entity.LedgerKey(user, "stats", it.Str(t.IDAttr)).Item()
			counter[item.AttrGSI3PK] = item.String(entity.UserPK(user))
			counter[item.AttrGSI3SK] = item.String(entity.OpenSK(t.Name, floating, at))
			out = append(out, counter)
		}
	}
	for _, e := range p.Exceptions {
		master := masters[e.Series]
		master[product.AttrHasExceptions] = item.Bool(true)
		out = append(out, exceptionRow(user, master, e, now))
	}
	return out, nil
}

func created(t *entity.Type, user, id string, body map[string]any, now time.Time) (item.Item, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	doc := map[string]any{}
	if err := decoder.Decode(&doc); err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	patch, wrong := t.Parse(doc)
	fields, more := t.Merge(nil, patch)
	it := t.First(user, id, fields, now, product.NewUserMeta(user, now).Map(product.AttrPreferences))
	if wrong = slices.Concat(wrong, more, t.Validate(it)); len(wrong) > 0 {
		return nil, fmt.Errorf("%s: %v", id, wrong)
	}
	return it, nil
}

func exceptionRow(user string, master item.Item, e exceptionDoc, now time.Time) item.Item {
	fields := item.Item{product.AttrMasterID: master[product.AttrMasterID], product.AttrIsAllDay: item.Bool(false)}
	original, _ := master.Time(product.AttrStartUtc)
	on, _ := item.ParseCompactDate(e.Date)
	wall := item.Wall(original, zone())
	start := item.Resolve(on.Add(wall.Sub(wall.Truncate(day))), zone())
	fields.SetTime(product.AttrRecurrenceID, start)
	own := map[string]item.Value{}
	for name, v := range e.Body {
		own[name] = item.String(v.(string))
	}
	if e.Body == nil {
		own[entity.AttrStatus] = item.String(product.StatusCancelled)
	}
	fields[product.AttrStartTzid] = item.String(homeZone)
	fields.SetTime(product.AttrStartUtc, start)
	maps.Copy(fields, own)
	start, _ = fields.Time(product.AttrStartUtc)
	fields.SetTime(product.AttrEndUtc, start.Add(45*time.Minute))
	var names item.List
	for _, name := range slices.Sorted(maps.Keys(own)) {
		names = append(names, item.String(name))
	}
	fields[product.AttrModifiedFields] = names
	return product.Instance().First(user, entity.InstanceID(master.Str(product.AttrMasterID), e.Date), fields, now, nil)
}
