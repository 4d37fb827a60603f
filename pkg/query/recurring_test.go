package query_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/table"
	"nexus/pkg/text/fold"
)

// except stores the exception of a series on a date: its own fields, and those that it has deliberately empty. Without
// any times of its own it has those that the series gave it then.
func (b *fixture) except(user string, master item.Item, date string, own item.Item, empty ...string) item.Item {
	id := entity.InstanceID(master.Str("masterId"), date)
	fields := item.Item{}
	for _, name := range product.SpanFields() {
		if master.Has(name) {
			fields[name] = master[name]
		}
	}
	maps.Copy(fields, own)
	fields["masterId"] = master["masterId"]
	var names item.List
	for _, name := range slices.Sorted(maps.Keys(own)) {
		names = append(names, item.String(name))
	}
	for _, name := range empty {
		delete(fields, name)
		names = append(names, item.String(name))
	}
	fields.Set("modifiedFields", names)
	it := product.Instance().NewItem(user, id, fields, b.now, nil)
	b.put(it)
	b.set(master, item.Item{"hasExceptions": item.Bool(true)})
	return it
}

func (b *fixture) series(text string) item.Item {
	return b.add(ann, product.Master(), `{"title":"s",`+text+`}`, nil)
}

// daily is nine o'clock in New York, an hour long, from 1 December 2025 on.
const daily = `"startUtc":"2025-12-01T14:00:00Z","endUtc":"2025-12-01T15:00:00Z","startTzid":"America/New_York",` +
	`"rrule":"FREQ=DAILY"`

func span(start, end string) item.Item {
	return item.Item{"startUtc": item.String(start), "endUtc": item.String(end)}
}

func TestAgenda_showsASeries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		series string
		except func(b *fixture, master item.Item)
		query  query.AgendaQuery // the window is 3 to 5 December 2025 in UTC, seen in UTC, unless it says otherwise
		want   []string
	}{
		"each occurrence": {series: daily,
			want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z", "s 2025-12-04T14:00:00Z 2025-12-04T15:00:00Z"}},
		"nine o'clock stays nine o'clock": {series: daily, query: query.AgendaQuery{
			From: at("2026-03-07T20:00:00Z"), To: at("2026-03-08T20:00:00Z"),
		},
			want: []string{"s 2026-03-08T13:00:00Z 2026-03-08T14:00:00Z"}},
		"a floating one, elsewhere": {series: `"startUtc":"2025-12-01T22:00:00","rrule":"FREQ=WEEKLY"`,
			query: query.AgendaQuery{Zone: "America/New_York", From: at("2025-12-09T00:00:00Z"), To: at("2025-12-09T12:00:00Z")},
			want:  []string{"s 2025-12-09T03:00:00Z"}},
		"a floating one whose end is over in UTC alone": {
			series: `"startUtc":"2025-12-01T22:00:00","rrule":"FREQ=DAILY;COUNT=2"`,
			query:  query.AgendaQuery{Zone: "America/New_York"},
			want:   []string{"s 2025-12-03T03:00:00Z"}},
		"whole days, the last of three": {
			series: `"isAllDay":true,"startDate":"2025-11-02","endDate":"2025-11-05","rrule":"FREQ=MONTHLY;BYMONTHDAY=2"`,
			query:  query.AgendaQuery{From: at("2025-12-04T12:00:00Z"), To: at("2025-12-05T00:00:00Z")},
			want:   []string{"s 2025-12-02T00:00:00Z 2025-12-05T00:00:00Z"}},
		"what began weeks before": {
			series: `"startUtc":"2025-10-20T00:00:00Z","endUtc":"2025-12-05T00:00:00Z","startTzid":"UTC","rrule":"FREQ=YEARLY"`,
			want:   []string{"s 2025-10-20T00:00:00Z 2025-12-05T00:00:00Z"}},
		"no date that is excluded, and one besides": {
			series: daily + `,"exdate":["20251203"],"rdate":["20251204"],"rruleUntil":"2025-12-03T14:00:00Z"`,
		},
		"an end": {series: daily + `,"rruleUntil":"2025-12-03T14:00:00Z"`,
			want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z"}},
		"one that is over": {
			series: `"startUtc":"2025-11-01T14:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY;COUNT=5"`,
		},
		"one to come":                   {series: `"startUtc":"2026-11-01T14:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY"`},
		"a type that was not asked for": {series: daily, query: query.AgendaQuery{Types: []string{"TASK"}}},
		"an exception that was moved away": {series: daily, except: func(b *fixture, m item.Item) {
			b.except(ann, m, "20251204", span("2026-02-01T10:00:00Z", "2026-02-01T11:00:00Z"))
		}, want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z"}},
		"one that moved here": {series: daily + `,"rruleUntil":"2025-12-03T14:00:00Z"`, except: func(
			b *fixture, m item.Item,
		) {
			b.except(ann, m, "20251201", span("2025-12-04T10:00:00Z", "2025-12-04T11:00:00Z"))
		}, want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z", "s 2025-12-04T10:00:00Z 2025-12-04T11:00:00Z"}},
		"one that moved beyond the end": {series: daily + `,"rruleUntil":"2025-12-03T14:00:00Z"`,
			except: func(b *fixture, m item.Item) {
				b.except(ann, m, "20251201", span("2026-12-04T10:00:00Z", "2026-12-08T11:00:00Z"))
			}, query: query.AgendaQuery{From: at("2026-12-06T00:00:00Z"), To: at("2026-12-07T00:00:00Z")},
			want: []string{"s 2026-12-04T10:00:00Z 2026-12-08T11:00:00Z"}},
		"one of its own title": {series: daily, except: func(b *fixture, m item.Item) {
			b.except(ann, m, "20251204", item.Item{"title": item.String("own")})
		}, want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z", "own 2025-12-04T14:00:00Z 2025-12-04T15:00:00Z"}},
		"one that was cancelled": {series: daily, except: func(b *fixture, m item.Item) {
			b.except(ann, m, "20251204", item.Item{"status": item.String("CANCELLED")})
		}, want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z"}},
		"one that was undone": {series: daily, except: func(b *fixture, m item.Item) { b.except(ann, m, "20251204", nil) },
			want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z", "s 2025-12-04T14:00:00Z 2025-12-04T15:00:00Z"}},
		"none of a date that the series lost": {series: daily + `,"exdate":["20251204"]`,
			except: func(b *fixture, m item.Item) {
				b.except(ann, m, "20251204", span("2025-12-04T10:00:00Z", "2025-12-04T11:00:00Z"))
			}, want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z"}},
		"none whose series is gone": {series: daily, except: func(b *fixture, m item.Item) {
			b.except(ann, m, "20251204", span("2025-12-04T10:00:00Z", "2025-12-04T11:00:00Z"))
			b.remove(m)
		}},
		"times that follow a series that moved": {series: daily, except: func(b *fixture, m item.Item) {
			b.except(ann, m, "20251204", item.Item{"title": item.String("own")})
			b.set(m, span("2025-12-01T20:00:00Z", "2025-12-01T20:30:00Z"))
		}, want: []string{"s 2025-12-03T20:00:00Z 2025-12-03T20:30:00Z", "own 2025-12-04T20:00:00Z 2025-12-04T20:30:00Z"}},
		"tags of the series": {series: daily + `,"tags":["a"]`, query: query.AgendaQuery{Tags: []string{"a"},
			To: at("2025-12-04T00:00:00Z")}, want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z"}},
		"other tags": {series: daily + `,"tags":["a"]`, query: query.AgendaQuery{Tags: []string{"b"}}},
		"tags of the occurrence alone": {
			series: daily + `,"tags":["a"]`, except: func(b *fixture,
				m item.Item) {
				b.except(ann, m, "20251204", item.Item{"tags": item.Strings("b")})
			}, query: query.AgendaQuery{Tags: []string{"b"}}, want: []string{"s 2025-12-04T14:00:00Z 2025-12-04T15:00:00Z"},
		},
		"tags that an occurrence lost": {
			series: daily + `,"tags":["a"]`, except: func(b *fixture, m item.Item) { b.except(ann, m, "20251204", nil, "tags") },
			query: query.AgendaQuery{Tags: []string{"a"}}, want: []string{"s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z"},
		},
		"a moved one, by the series' tag": {series: daily + `,"tags":["a"]`, except: func(b *fixture, m item.Item) {
			b.except(ann, m, "20251210", span("2025-12-04T10:00:00Z", "2025-12-04T11:00:00Z"))
		},
			query: query.AgendaQuery{Tags: []string{"a"}, From: at("2025-12-04T00:00:00Z"), To: at("2025-12-04T12:00:00Z")},
			want:  []string{"s 2025-12-04T10:00:00Z 2025-12-04T11:00:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			master := b.series(c.series)
			if c.except != nil {
				c.except(b, master)
			}
			b.add(bob, product.Master(), `{"title":"another's",`+c.series+`}`, nil)
			q := c.query
			if q.From.IsZero() {
				q.From = at("2025-12-03T00:00:00Z")
			}
			if q.To.IsZero() {
				q.To = at("2025-12-05T00:00:00Z")
			}
			got, err := b.service.Agenda(ctx, ann, q)
			require.NoError(t, err)
			require.Empty(t, got.Next)
			require.Equal(t, c.want, shown(got.Entries))
			q.Limit = 1
			require.Equal(t, c.want, shown(b.allEntries(q)), "page by page")
		})
	}
}

func (b *fixture) remove(it item.Item) {
	require.NoError(b, b.store.Delete(ctx, deletion(it)))
	b.trips()
}

func TestAgenda_namesAnOccurrenceByItsSeriesAndDate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.series(daily + `,"location":"Room 1"`)
	b.except(ann, m, "20251204", span("2025-12-04T10:00:00Z", "2025-12-04T11:00:00Z"))
	got, err := b.service.Agenda(ctx, ann, query.AgendaQuery{
		From: at("2025-12-03T00:00:00Z"), To: at("2025-12-05T00:00:00Z"),
	})
	require.NoError(t, err)
	require.Len(t, got.Entries, 2)
	for i, want := range []struct {
		date    string
		virtual bool
	}{{"20251203", true}, {"20251204", false}} {
		e := got.Entries[i]
		require.Equal(t, want.date, e.Date)
		require.Equal(t, want.virtual, e.Virtual)
		require.Equal(t, "INSTANCE", e.Type.Name)
		require.Equal(t, "inst_"+want.date+"_000001", e.Item().Str("eventId"))
		require.Equal(t, "mst_000001", e.Item().Str("masterId"))
		require.Equal(t, "Room 1", e.Item().Str("location"))
	}
}

func TestAgenda_showsARecurringReminder(t *testing.T) {
	t.Parallel()
	// The trigger has moved on to 5 December; the rule counts from the first of the month.
	const pills = `"triggerUtc":"2025-12-01T09:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"`
	next := item.Item{"triggerUtc": item.String("2025-12-05T09:00:00Z")}
	snoozed := func(until, occurrence string) item.Item {
		return item.Item{"triggerUtc": next["triggerUtc"], "status": item.String("SNOOZED"), "snoozeState": item.Map{
			"untilUtc": item.String(until), "count": item.Int(1), "occurrenceUtc": item.String(occurrence),
		}}
	}
	floating := snoozed("2025-12-05T02:00:00Z", "2025-12-05T01:00:00Z") // eight in the evening in New York
	floating["triggerUtc"] = item.String("2025-12-05T20:00:00Z")
	for name, c := range map[string]struct {
		fields string
		server item.Item
		query  query.AgendaQuery // the window is 4 and 5 December unless it says otherwise
		want   []string
	}{
		"each trigger, also the past ones": {fields: pills, server: next,
			want: []string{"x 2025-12-04T09:00:00Z 20251204 virtual", "x 2025-12-05T09:00:00Z 20251205"}},
		"the snoozed one where its snooze ends": {fields: pills,
			server: snoozed("2025-12-05T17:00:00Z", "2025-12-04T09:00:00Z"),
			want:   []string{"x 2025-12-05T09:00:00Z 20251205", "x 2025-12-05T17:00:00Z 20251204"}},
		"one entry of two at one time": {fields: pills, server: snoozed("2025-12-05T09:00:00Z", "2025-12-04T09:00:00Z"),
			want: []string{"x 2025-12-05T09:00:00Z 20251204"}},
		"a snooze beyond the last trigger": {
			fields: `"triggerUtc":"2025-12-01T09:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY;COUNT=2"`,
			server: item.Item{"triggerUtc": item.String("2025-12-02T09:00:00Z"), "status": item.String("SNOOZED"),
				"snoozeState": item.Map{
					"untilUtc": item.String("2025-12-04T17:00:00Z"), "count": item.Int(1),
					"occurrenceUtc": item.String("2025-12-01T09:00:00Z"),
				}}, want: []string{"x 2025-12-04T17:00:00Z 20251201"}},
		"a floating snooze, in another zone": {fields: `"triggerUtc":"2025-12-01T20:00:00","rrule":"FREQ=DAILY"`,
			query:  query.AgendaQuery{Zone: "Asia/Tokyo"},
			server: floating,
			want:   []string{"x 2025-12-05T02:00:00Z 20251204", "x 2025-12-05T11:00:00Z 20251205"}},
		"a floating one whose last is over in UTC alone": {
			fields: `"triggerUtc":"2025-12-02T22:00:00","rrule":"FREQ=DAILY;COUNT=2"`,
			want:   []string{"x 2025-12-04T03:00:00Z 20251203 virtual"},
		},
		"none that has ended": {fields: pills, server: item.Item{"status": item.String("DISMISSED")}},
		"none that is over":   {fields: `"triggerUtc":"2025-11-01T09:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY;COUNT=3"`},
		"none before its first": {fields: pills,
			query: query.AgendaQuery{From: at("2025-11-20T00:00:00Z"), To: at("2025-12-01T00:00:00Z")}},
		"none unless asked": {fields: pills, query: query.AgendaQuery{Types: []string{"EVENT"}}},
		"those with a tag": {
			fields: pills + `,"tags":["a"]`, query: query.AgendaQuery{Tags: []string{"a"}, To: at("2025-12-05T00:00:00Z")},
			want: []string{"x 2025-12-04T09:00:00Z 20251204 virtual"},
		},
		"none without one of them": {fields: pills, query: query.AgendaQuery{Tags: []string{"a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			meta := product.NewUserMeta(ann, noon)
			meta["defaultTzid"] = item.String("America/New_York")
			b.put(meta)
			server := maps.Clone(c.server)
			if server == nil {
				server = item.Item{}
			}
			b.addMoved(c.fields, server)
			q := c.query
			if q.From.IsZero() {
				q.From = at("2025-12-04T00:00:00Z")
			}
			if q.To.IsZero() {
				q.To = at("2025-12-06T00:00:00Z")
			}
			got, err := b.service.Agenda(ctx, ann, q)
			require.NoError(t, err)
			require.Equal(t, c.want, withDates(got.Entries))
			q.Limit = 1
			require.Equal(t, c.want, withDates(b.allEntries(q)), "page by page")
		})
	}
}

// addMoved stores a recurring reminder and moves it on.
func (b *fixture) addMoved(fields string, server item.Item) item.Item {
	first := b.add(ann, product.Reminder(), `{"title":"x",`+fields+`}`, nil)
	moved := first.Clone()
	maps.Copy(moved, server)
	it := product.Reminder().NextVersion(entity.ByUser, ann, first, moved, b.now, nil)
	b.put(it)
	return it
}

func withDates(entries []query.Entry) []string {
	var out []string
	for _, e := range entries {
		text := e.Item().Str("title") + " " + e.OccurrenceStart.Format(time.RFC3339) + " " + e.Date
		if e.Virtual {
			text += " virtual"
		}
		out = append(out, text)
	}
	return out
}

func TestAgenda_ofSeriesTakesTwoRoundTrips(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 30 {
		m := b.series(daily)
		if i%3 == 0 {
			b.except(ann, m, "20251204", item.Item{"title": item.String(fmt.Sprint(i))})
		}
	}
	gone := b.series(daily + `,"rruleUntil":"2025-12-01T14:00:00Z"`)
	b.except(ann, gone, "20251201", span("2025-12-09T10:00:00Z", "2025-12-09T11:00:00Z"))
	b.trips()
	// The ten series with exceptions are asked for the dates of the page, which ends before the one that moved far.
	page, deep := tripsDeep(t, b, query.AgendaQuery{
		From: at("2025-12-03T00:00:00Z"), To: at("2025-12-10T00:00:00Z"), Limit: 100,
	})
	require.Len(t, page.Entries, 100)
	require.Equal(t, 2, deep)
	require.Equal(t, map[string]int{"Query": 6, "Get": 1, "BatchGet": 1}, b.trips())
	page, deep = tripsDeep(t, b, query.AgendaQuery{From: at("2025-12-09T00:00:00Z"), To: at("2025-12-10T00:00:00Z")})
	require.Len(t, page.Entries, 31)
	require.Equal(t, 2, deep)
	require.Equal(t, map[string]int{"Query": 6, "Get": 1, "BatchGet": 1}, b.trips())
}

// A page takes one batch for all series with exceptions, at which it ends, and a partition of each year.
func TestAgenda_takesNoMoreRequestsForMoreSeriesWithExceptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		series  int
		from    string
		limit   int
		queries int
		batches int
	}{
		{0, "2026-02-02T00:00:00Z", 100, 6, 0},
		{1, "2026-02-02T00:00:00Z", 100, 6, 1},
		{10, "2026-02-02T00:00:00Z", 100, 6, 1},
		{10, "2025-12-29T00:00:00Z", 100, 7, 1},
		{200, "2026-02-02T00:00:00Z", 100, 6, 1},
	} {
		b := setup(t)
		for range 5 {
			b.series(daily)
		}
		for i := range c.series {
			b.except(ann, b.series(daily), "20260203", item.Item{"title": item.String(fmt.Sprint(i))})
		}
		b.trips()
		from := at(c.from)
		page, deep := tripsDeep(t, b, query.AgendaQuery{From: from, To: from.AddDate(0, 0, 7), Limit: c.limit})
		require.Len(t, page.Entries, min(c.limit, 7*(5+c.series)))
		require.LessOrEqual(t, deep, 2)
		want := map[string]int{"Query": c.queries, "Get": 1, "BatchGet": c.batches}
		maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
		require.Equal(t, want, b.trips(), "%d series from %s", c.series, c.from)

		all := len(page.Entries)
		for page.Next != "" {
			page, _ = tripsDeep(t, b, query.AgendaQuery{
				From: from, To: from.AddDate(0, 0, 7), Limit: c.limit, Cursor: page.Next,
			})
			require.NotEmpty(t, page.Entries)
			require.LessOrEqual(t, b.trips()["BatchGet"], 1)
			all += len(page.Entries)
		}
		require.Equal(t, 7*(5+c.series), all)
	}
}

func TestAgenda_readsAYearOfManySeriesAPageAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	from := at("2026-01-02T00:00:00Z")
	for i := range 100 {
		m := b.series(daily)
		if i%10 == 0 {
			for day := range 60 {
				b.except(ann, m, from.AddDate(0, 0, day).Format("20060102"), item.Item{"title": item.String("own")})
			}
		}
	}
	b.rows()
	q := query.AgendaQuery{From: from, To: at("2026-12-31T00:00:00Z"), Limit: 100}
	for range 3 {
		page, err := b.service.Agenda(ctx, ann, q)
		require.NoError(t, err)
		require.Len(t, page.Entries, 100)
		// The series, the first rows of the years' index, and exceptions of a few days.
		require.LessOrEqual(t, b.rows(), 100+464+10*8)
		q.Cursor = page.Next
	}
}

func TestAgenda_fillsAPageDespiteCancelledOccurrences(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.series(daily)
	for day := range 20 {
		b.except(ann, m, noon.AddDate(0, 0, 1+day).Format("20060102"), item.Item{"status": item.String("CANCELLED")})
	}
	b.series(daily)
	b.add(ann, product.Task(),
		`{"title":"t","startUtc":"2025-03-01T08:00:00Z","dueUtc":"2025-12-03T15:30:00Z","dueTzid":"UTC"}`, nil)
	page, err := b.service.Agenda(ctx, ann, query.AgendaQuery{
		From: at("2025-12-02T00:00:00Z"), To: at("2026-06-01T00:00:00Z"), Limit: 10,
	})
	require.NoError(t, err)
	require.Len(t, page.Entries, 10)
	require.Equal(t, "t", page.Entries[2].Item().Str("title"))
}

// behind is a store whose indexes lag: they answer as they were.
type behind struct {
	table.Reader
	indexes table.Reader
}

func (s behind) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if q.Index != table.Base {
		return s.indexes.Query(ctx, q)
	}
	return s.Reader.Query(ctx, q)
}

func TestAgenda_showsAnExceptionAsTheTableHasIt(t *testing.T) {
	t.Parallel()
	q := query.AgendaQuery{From: at("2025-12-03T00:00:00Z"), To: at("2025-12-05T00:00:00Z")}
	first, second := "s 2025-12-03T14:00:00Z 2025-12-03T15:00:00Z", "s 2025-12-04T14:00:00Z 2025-12-04T15:00:00Z"
	for name, c := range map[string]struct {
		before, after item.Item
		want          []string
	}{
		"undone since": {span("2025-12-03T10:00:00Z", "2025-12-03T11:00:00Z"), nil, []string{first, second}},
		"cancelled since": {span("2025-12-03T10:00:00Z", "2025-12-03T11:00:00Z"),
			item.Item{"status": item.String("CANCELLED")}, []string{first}},
		"moved since": {item.Item{"title": item.String("own")}, span("2025-12-03T10:00:00Z", "2025-12-03T11:00:00Z"),
			[]string{"s 2025-12-03T10:00:00Z 2025-12-03T11:00:00Z", first}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, now := setup(t), setup(t)
			for _, b := range []*fixture{old, now} {
				b.except(ann, b.series(daily), "20251204", c.before)
			}
			master, err := now.store.Get(ctx, entity.ItemKey(ann, entity.Ref{Type: entity.TypeMaster, ID: "mst_000001"}))
			require.NoError(t, err)
			row := now.except(ann, master, "20251204", c.after)
			now.set(row, item.Item{"version": item.Int(2)})
			now.service = query.New(query.Config{
				Store: behind{now.store, old.store}, Registry: product.Registry(), Now: func() time.Time { return noon },
				Fold: fold.String,
			})
			require.Equal(t, c.want, shown(now.allEntries(q)))
		})
	}
}
