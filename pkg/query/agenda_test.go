package query_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// shown is an agenda as text: title, start, and the end if it is another.
func shown(entries []query.Entry) []string {
	var out []string
	for _, e := range entries {
		text := e.Item().Str("title") + " " + e.OccurrenceStart.Format(time.RFC3339)
		if !e.OccurrenceEnd.Equal(e.OccurrenceStart) {
			text += " " + e.OccurrenceEnd.Format(time.RFC3339)
		}
		out = append(out, text)
	}
	return out
}

func TestAgenda_showsEveryEntryOfItsWindow(t *testing.T) {
	t.Parallel()
	event, task, reminder := product.Event(), product.Task(), product.Reminder()
	for name, c := range map[string]struct {
		typ    *entity.Type
		fields string
		server item.Item
		ttl    bool
		query  query.AgendaQuery // the window is 2025-12-01 in UTC unless it says otherwise
		want   []string
	}{
		"an event": {
			typ: event, fields: `"startUtc":"2025-12-01T09:00:00Z","endUtc":"2025-12-01T10:00:00Z","startTzid":"UTC"`,
			want: []string{"x 2025-12-01T09:00:00Z 2025-12-01T10:00:00Z"},
		},
		"one that ends as it begins": {typ: event,
			fields: `"startUtc":"2025-11-30T23:00:00Z","endUtc":"2025-12-01T00:00:00Z","startTzid":"UTC"`},
		"one still running": {
			typ: event, fields: `"startUtc":"2025-11-30T23:00:00Z","endUtc":"2025-12-01T00:00:01Z","startTzid":"UTC"`,
			want: []string{"x 2025-11-30T23:00:00Z 2025-12-01T00:00:01Z"},
		},
		"one that begins at the end": {typ: event, fields: `"startUtc":"2025-12-02T00:00:00Z","startTzid":"UTC"`},
		"one without length": {typ: event, fields: `"startUtc":"2025-12-01T00:00:00Z","startTzid":"UTC"`,
			want: []string{"x 2025-12-01T00:00:00Z"}},
		"a long one": {
			typ: event, fields: `"startUtc":"2025-10-01T00:00:00Z","endUtc":"2026-02-01T00:00:00Z","startTzid":"UTC"`,
			want: []string{"x 2025-10-01T00:00:00Z 2026-02-01T00:00:00Z"},
		},
		"a long one that is over": {typ: event,
			fields: `"startUtc":"2025-10-01T00:00:00Z","endUtc":"2025-12-01T00:00:00Z","startTzid":"UTC"`},
		"a long one to come": {typ: event,
			fields: `"startUtc":"2026-01-01T00:00:00Z","endUtc":"2026-02-01T00:00:00Z","startTzid":"UTC"`},
		"a floating one, as the user": {typ: event, fields: `"startUtc":"2025-12-01T10:00:00"`,
			want: []string{"x 2025-12-01T01:00:00Z"}},
		"a floating one, elsewhere": {typ: event, fields: `"startUtc":"2025-12-01T22:00:00"`,
			query: query.AgendaQuery{Zone: "America/New_York"}},
		"a floating one of the eve": {typ: event, fields: `"startUtc":"2025-11-30T22:00:00"`,
			query: query.AgendaQuery{Zone: "America/New_York"}, want: []string{"x 2025-12-01T03:00:00Z"}},
		"an all-day one": {typ: event, fields: `"isAllDay":true,"startDate":"2025-12-01"`,
			want: []string{"x 2025-11-30T15:00:00Z 2025-12-01T15:00:00Z"}},
		"three days, seen on the last": {
			typ: event, fields: `"isAllDay":true,"startDate":"2025-11-29","endDate":"2025-12-02"`,
			query: query.AgendaQuery{Zone: "UTC"}, want: []string{"x 2025-11-29T00:00:00Z 2025-12-02T00:00:00Z"},
		},
		"over the turn of the year": {
			typ: event, fields: `"startUtc":"2025-12-31T23:00:00Z","endUtc":"2026-01-01T01:00:00Z","startTzid":"UTC"`,
			query: query.AgendaQuery{From: at("2026-01-01T00:00:00Z"), To: at("2026-01-02T00:00:00Z")},
			want:  []string{"x 2025-12-31T23:00:00Z 2026-01-01T01:00:00Z"},
		},
		"a task with a due time": {typ: task, fields: `"dueUtc":"2025-12-01T09:00:00Z","dueTzid":"UTC"`,
			want: []string{"x 2025-12-01T09:00:00Z"}},
		"a task with both": {
			typ: task, fields: `"startUtc":"2025-12-01T08:00:00Z","dueUtc":"2025-12-01T09:00:00Z","dueTzid":"UTC"`,
			want: []string{"x 2025-12-01T08:00:00Z", "x 2025-12-01T09:00:00Z"},
		},
		"a task begun long before": {
			typ: task, fields: `"startUtc":"2025-03-01T08:00:00Z","dueUtc":"2025-12-01T09:00:00Z","dueTzid":"UTC"`,
			want: []string{"x 2025-12-01T09:00:00Z"},
		},
		"a floating one begun before": {typ: task,
			fields: `"startUtc":"2025-03-01T08:00:00","dueUtc":"2025-12-02T08:59:00"`, want: []string{"x 2025-12-01T23:59:00Z"}},
		"a floating one due afterwards": {typ: task,
			fields: `"startUtc":"2025-03-01T08:00:00","dueUtc":"2025-12-02T09:00:00"`},
		"begun before and done": {typ: task,
			fields: `"startUtc":"2025-03-01T08:00:00Z","dueUtc":"2025-12-01T09:00:00Z","dueTzid":"UTC","status":"COMPLETED"`},
		"done, shown at its start": {
			typ:    task,
			fields: `"startUtc":"2025-12-01T08:00:00Z","dueUtc":"2025-12-01T09:00:00Z","dueTzid":"UTC","status":"COMPLETED"`,
			want:   []string{"x 2025-12-01T08:00:00Z"},
		},
		"an archived task": {typ: task, fields: `"dueUtc":"2025-12-01T09:00:00Z","dueTzid":"UTC","status":"ARCHIVED"`},
		"an all-day task": {typ: task, fields: `"isAllDay":true,"dueDate":"2025-12-01"`,
			query: query.AgendaQuery{Zone: "UTC"}, want: []string{"x 2025-12-01T00:00:00Z 2025-12-02T00:00:00Z"}},
		"an all-day task of the eve": {typ: task, fields: `"isAllDay":true,"dueDate":"2025-11-30"`,
			query: query.AgendaQuery{Zone: "UTC"}},
		"a task without time": {typ: task, fields: `"priority":1`},
		"a reminder": {typ: reminder, fields: `"triggerUtc":"2025-12-01T09:00:00Z","tzid":"UTC"`,
			want: []string{"x 2025-12-01T09:00:00Z"}},
		"a floating reminder": {typ: reminder, fields: `"triggerUtc":"2025-12-01T09:00:00"`,
			want: []string{"x 2025-12-01T00:00:00Z"}},
		"a snoozed one": {typ: reminder, fields: `"triggerUtc":"2025-11-01T09:00:00"`,
			server: snoozedUntil("2025-12-01T05:00:00Z"), want: []string{"x 2025-12-01T05:00:00Z"}},
		"a completed one": {typ: reminder, fields: `"triggerUtc":"2025-12-01T09:00:00Z","tzid":"UTC"`,
			server: item.Item{"status": item.String("COMPLETED")}},
		"a note, unless asked": {typ: product.Note(), fields: `"body":"b"`},
		"a note that was asked for": {typ: product.Note(), fields: `"body":"b"`,
			query: query.AgendaQuery{Types: []string{"NOTE"}}, want: []string{"x 2025-12-01T12:00:00Z"}},
		"a type that was not asked for": {typ: event, fields: `"startUtc":"2025-12-01T09:00:00Z","startTzid":"UTC"`,
			query: query.AgendaQuery{Types: []string{"TASK", "NOTE"}}},
		"what has expired": {typ: event, fields: `"startUtc":"2025-12-01T09:00:00Z","startTzid":"UTC"`, ttl: true},
		"with one of the tags": {
			typ: event, fields: `"startUtc":"2025-12-01T09:00:00Z","startTzid":"UTC","tags":["a","b"]`,
			query: query.AgendaQuery{Tags: []string{"c", "b"}}, want: []string{"x 2025-12-01T09:00:00Z"},
		},
		"with other tags": {
			typ: event, fields: `"startUtc":"2025-12-01T09:00:00Z","startTzid":"UTC","tags":["a"]`,
			query: query.AgendaQuery{Tags: []string{"c", "b"}},
		},
		"due, with other tags": {
			typ: task, fields: `"startUtc":"2025-03-01T08:00:00Z","dueUtc":"2025-12-01T09:00:00Z","dueTzid":"UTC"`,
			query: query.AgendaQuery{Tags: []string{"c"}},
		},
		"due, with one of the tags": {
			typ: task, fields: `"startUtc":"2025-03-01T08:00:00Z","dueUtc":"2025-12-01T09:00:00Z","dueTzid":"UTC","tags":["c"]`,
			query: query.AgendaQuery{Tags: []string{"c"}}, want: []string{"x 2025-12-01T09:00:00Z"},
		},
		"a start in the look-back, open": {
			typ: task, fields: `"startUtc":"2025-11-30T20:00:00Z","dueUtc":"2025-12-01T09:00:00Z","dueTzid":"UTC"`,
			want: []string{"x 2025-12-01T09:00:00Z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			meta := product.NewUserMeta(ann, noon)
			meta["defaultTzid"] = item.String("Asia/Tokyo")
			b.put(meta)
			it := b.add(ann, c.typ, `{"title":"x",`+c.fields+`}`, c.server)
			b.add(bob, c.typ, `{"title":"another's",`+c.fields+`}`, c.server)
			if c.ttl {
				b.set(it, item.Item{"ttl": item.Int(noon.Unix())})
			}
			if c.query.From.IsZero() {
				c.query.From, c.query.To = at("2025-12-01T00:00:00Z"), at("2025-12-02T00:00:00Z")
			}
			got, err := b.service.Agenda(ctx, ann, c.query)
			require.NoError(t, err)
			require.Empty(t, got.Next)
			require.Equal(t, c.want, shown(got.Entries))
		})
	}
}

// snoozedUntil is the state of a snoozed reminder.
func snoozedUntil(until string) item.Item {
	return item.Item{"status": item.String("SNOOZED"), "snoozeState": item.Map{
		"untilUtc": item.String(until), "count": item.Int(1), "occurrenceUtc": item.String("2025-11-01T09:00:00Z"),
	}}
}

func TestAgenda_showsTwoReadingsInAGapAsOneEntry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.add(ann, product.Task(), `{"title":"x","startUtc":"2026-03-08T02:30:00","dueUtc":"2026-03-08T03:30:00"}`, nil)
	got := b.allEntries(query.AgendaQuery{
		From: at("2026-03-08T00:00:00Z"), To: at("2026-03-09T00:00:00Z"), Zone: "America/New_York", Limit: 1,
	})
	require.Equal(t, []string{"x 2026-03-08T07:30:00Z"}, shown(got))
}

func TestAgenda_leavesOutATaskPastItsTimer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.add(ann, product.Task(), `{"title":"x","status":"COMPLETED","dueUtc":"2025-12-01T09:00:00"}`, nil)
	for after, want := range map[time.Duration]int{24*time.Hour - time.Second: 1, 24 * time.Hour: 0} {
		b.now = noon.Add(after)
		got, err := b.agenda(noon.Add(-12*time.Hour), 24*time.Hour, "")
		require.NoError(t, err)
		require.Len(t, got.Entries, want)
	}
}

func TestAgenda_takesAtMostTwoRoundTrips(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 300 {
		day := noon.AddDate(0, 0, i%100)
		b.add(ann, product.Event(),
			fmt.Sprintf(`{"title":"%d","startUtc":%q,"startTzid":"UTC"}`, i, item.FormatInstant(day)), nil)
	}
	b.add(ann, product.Task(), `{"title":"t","startUtc":"2025-03-01T08:00:00","dueUtc":"2025-12-02T09:00:00"}`, nil)
	got, err := b.agenda(noon, 7*24*time.Hour, "")
	require.NoError(t, err)
	require.Len(t, got.Entries, 22)
	// Side by side: the year, long events, series, recurring reminders, both clocks' due tasks, the zone. Then the task
	// that began in March.
	require.Equal(t, map[string]int{"Query": 6, "Get": 1, "BatchGet": 1}, b.trips())
	_, err = b.agenda(noon, 7*24*time.Hour, "Europe/London", "REMINDER")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Query": 2}, b.trips())
	_, err = b.agenda(at("2025-12-31T00:00:00Z"), 7*24*time.Hour, "Europe/London", "EVENT")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Query": 4}, b.trips(), "both years, the long events and the series")
}

func TestAgenda_pagesManyEntriesOfOneInstantByID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []string
	for i := range 400 {
		b.add(ann, product.Task(), fmt.Sprintf(
			`{"title":"%03d","startUtc":"2025-03-01T08:00:00Z","dueUtc":"2025-12-01T13:00:00Z","dueTzid":"UTC"}`, i), nil)
		b.add(ann, product.Event(),
			fmt.Sprintf(`{"title":"%03d","startUtc":"2025-12-01T13:00:00Z","startTzid":"UTC"}`, i), nil)
		want = append(want, fmt.Sprintf("%03d", i))
	}
	for _, limit := range []int{7, 100} {
		got := b.allEntries(query.AgendaQuery{From: noon, To: noon.Add(2 * time.Hour), Limit: limit})
		var titles []string
		for _, e := range got {
			titles = append(titles, e.Item().Str("title"))
		}
		require.Equal(t, slices.Concat(want, want), titles, "events first: their ids come first")
	}
}

func TestAgenda_goesOnPastManyLargeEarlierEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	large := strings.Repeat("a", 10<<10)
	for i := range 400 {
		start := noon.Add(-20*time.Hour + time.Duration(i)*time.Second)
		b.add(ann, product.Event(), fmt.Sprintf(`{"title":"over","description":%q,"startUtc":%q,"startTzid":"UTC"}`, large,
			item.FormatInstant(start)), nil)
	}
	b.add(ann, product.Event(), `{"title":"x","startUtc":"2025-12-01T13:00:00Z","startTzid":"UTC"}`, nil)
	got := b.allEntries(query.AgendaQuery{From: noon, To: noon.Add(2 * time.Hour), Limit: 1})
	require.Equal(t, []string{"x 2025-12-01T13:00:00Z"}, shown(got))
}

func TestAgenda_readsForALaterPageOnlyWhatItCanHold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 100 {
		day := item.FormatInstant(noon.AddDate(0, 0, i))
		b.add(ann, product.Event(), fmt.Sprintf(`{"title":"%d","startUtc":%q,"startTzid":"UTC"}`, i, day), nil)
		b.add(ann, product.Task(),
			fmt.Sprintf(`{"title":"%d","startUtc":"2025-03-01T08:00:00Z","dueUtc":%q,"dueTzid":"UTC"}`, i, day), nil)
	}
	q := query.AgendaQuery{From: noon, To: noon.AddDate(0, 0, 100), Limit: 100}
	page, err := b.service.Agenda(ctx, ann, q)
	require.NoError(t, err)
	b.rows()
	q.Cursor = page.Next
	page, err = b.service.Agenda(ctx, ann, q)
	require.NoError(t, err)
	require.Len(t, page.Entries, 100)
	// 51 events and counters from the last day of the first page on, and the tasks themselves: those of this page.
	require.LessOrEqual(t, b.rows(), 51+51+51)
}

// allEntries follows the cursors.
func (b *fixture) allEntries(q query.AgendaQuery) []query.Entry {
	var out []query.Entry
	for n := 0; ; n++ {
		page, err := b.service.Agenda(ctx, ann, q)
		require.NoError(b, err)
		out = append(out, page.Entries...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return out
		}
		require.Less(b, n, 6000, "the pages never end")
	}
}

func TestAgenda_leadsOnFromAPageThatEndsWithTheWindow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := product.Event()
	b.add(ann, event, `{"title":"x","startUtc":"2025-12-01T09:00:00Z","startTzid":"UTC"}`, nil)
	// The range asked of the index ends 14 hours after the window, and so does the first page that is read of it.
	for range 66 {
		b.add(ann, event, `{"title":"later","startUtc":"2025-12-02T01:00:00Z","startTzid":"UTC"}`, nil)
	}
	for range 2 {
		b.add(ann, event, `{"title":"last","startUtc":"2025-12-02T14:00:00Z","startTzid":"UTC"}`, nil)
	}
	q := query.AgendaQuery{From: at("2025-12-01T00:00:00Z"), To: at("2025-12-02T00:00:00Z"), Zone: "UTC", Limit: 1}
	var got []string
	for pages := 0; ; pages++ {
		require.Less(t, pages, 10)
		page, err := b.service.Agenda(ctx, ann, q)
		require.NoError(t, err)
		got = append(got, shown(page.Entries)...)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	require.Equal(t, []string{"x 2025-12-01T09:00:00Z"}, got)
}

// A user who travels changes the zone between two pages.
func TestAgenda_pagesFitTogetherWhateverTheUsersZoneBecomes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	meta := product.NewUserMeta(ann, noon)
	meta["defaultTzid"] = item.String("America/New_York")
	b.put(meta)
	for _, hour := range []string{"08", "12", "16", "20"} {
		b.add(ann, product.Event(), `{"title":"`+hour+`","startUtc":"2025-12-01T`+hour+`:00:00"}`, nil)
		b.add(ann, product.Event(), `{"title":"z`+hour+`","startUtc":"2025-12-01T`+hour+`:30:00Z","startTzid":"UTC"}`, nil)
	}
	q := query.AgendaQuery{From: noon.Add(-24 * time.Hour), To: noon.Add(48 * time.Hour), Limit: 2}
	whole, err := b.service.Agenda(ctx, ann, query.AgendaQuery{From: q.From, To: q.To})
	require.NoError(t, err)
	var want, got []string
	for _, e := range whole.Entries {
		want = append(want, e.Item().Str("title"))
	}
	for _, zone := range []string{"Asia/Tokyo", "Pacific/Honolulu", "Europe/London", "Asia/Tokyo", "UTC"} {
		page, err := b.service.Agenda(ctx, ann, q)
		require.NoError(t, err)
		for _, e := range page.Entries {
			got = append(got, e.Item().Str("title"))
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
		raw, err := base64.RawURLEncoding.DecodeString(q.Cursor)
		require.NoError(t, err)
		forged := q
		forged.Cursor = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(raw), "New_York", "Nowhere", 1)))
		_, err = b.service.Agenda(ctx, ann, forged)
		require.ErrorIs(t, err, query.ErrCursor)
		b.set(meta, item.Item{"defaultTzid": item.String(zone)})
	}
	require.Empty(t, q.Cursor)
	require.Equal(t, want, got)
}
