package query_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/text/fold"
	"nexus/pkg/text/words"
)

// searching returns another process that searches, with the objects as its snapshots.
func (b *fixture) searching(objects blob.Store, failed func(error)) *query.Service {
	return query.New(query.Config{
		Store: b.store, Registry: product.Registry(), Now: func() time.Time { return b.now }, Fold: fold.String,
		Searching: &query.Searching{Split: words.Split, Snapshots: objects, Failed: func(_ context.Context, err error) {
			failed(err)
		}},
	})
}

// unfailing fails if a snapshot does.
func (b *fixture) unfailing(objects blob.Store) *query.Service {
	return b.searching(objects, func(err error) { require.NoError(b, err) })
}

// hits returns the titles of what is found, in their order.
func (b *fixture) hits(q query.SearchQuery) []string {
	page, err := b.unfailing(nil).Search(ctx, ann, q)
	require.NoError(b, err)
	require.Equal(b, len(page.Hits), page.Total)
	out := []string{}
	for _, h := range page.Hits {
		out = append(out, h.Title)
	}
	return out
}

func TestSearch_findsByWordsAndByWhatItIs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.settings("Pacific/Auckland", 1) // where it is 2 December
	b.add(ann, product.Note(),
		`{"title":"Plan","body":"Beds and the *budget*","isPinned":true,"tags":["garden","home"]}`, nil)
	b.add(ann, product.Note(), `{"title":"Old plan","status":"ARCHIVED","tags":["home"]}`, nil)
	b.add(ann, product.Task(), `{"title":"Buy seeds","dueDate":"2025-12-01","isAllDay":true,"tags":["garden"]}`, nil)
	b.add(ann, product.Task(),
		`{"title":"Sow","description":"by plan","dueUtc":"2025-12-05T10:00:00Z","dueTzid":"UTC"}`, nil)
	b.add(ann, product.Task(), `{"title":"Water","status":"COMPLETED"}`, nil)
	weed := b.add(ann, product.Task(), `{"title":"Weed","status":"COMPLETED"}`, nil)
	b.set(weed, item.Item{product.AttrArchiveAt: item.String("2025-12-01T11:00:00Z")})
	b.add(ann, product.Event(), `{"title":"Fair","location":"Plan B hall",`+
		`"startUtc":"2025-12-03T10:00:00Z","startTzid":"UTC"}`, nil)
	b.add(ann, product.Reminder(), `{"title":"Ring","notes":"about the plan","triggerUtc":"2025-12-02T08:00:00"}`, nil)
	b.add(ann, product.Task(), `{"title":"Gone plan"}`, item.Item{entity.AttrTTL: item.Int(noon.Unix())})
	b.add(bob, product.Note(), `{"title":"Plan of bob"}`, nil)
	b.series(`"title":"Round","startUtc":"2025-11-01T20:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY"`)
	for name, c := range map[string]struct {
		q    query.SearchQuery
		want []string
	}{
		"words in each field": {query.SearchQuery{Text: "plan", Sort: "title"},
			[]string{"Fair", "Old plan", "Plan", "Ring", "Sow"}},
		"a phrase":        {query.SearchQuery{Text: `"the budget"`}, []string{"Plan"}},
		"a beginning":     {query.SearchQuery{Text: "budg"}, []string{"Plan"}},
		"no word":         {query.SearchQuery{Text: "!"}, []string{}},
		"no such word":    {query.SearchQuery{Text: "bob"}, []string{}},
		"types":           {query.SearchQuery{Types: []string{"EVENT"}, Sort: "title"}, []string{"Fair", "Round"}},
		"all of the tags": {query.SearchQuery{Tags: []string{"garden", "home"}}, []string{"Plan"}},
		"any of the tags": {query.SearchQuery{AnyTag: []string{"garden", "home"}, Sort: "title"},
			[]string{"Buy seeds", "Old plan", "Plan"}},
		"a status": {query.SearchQuery{Statuses: []string{"COMPLETED", "PENDING"}, Sort: "title"},
			[]string{"Ring", "Water"}},
		"open":     {query.SearchQuery{Is: []string{"open"}, Sort: "title"}, []string{"Buy seeds", "Ring", "Sow"}},
		"done":     {query.SearchQuery{Is: []string{"done"}}, []string{"Water"}},
		"archived": {query.SearchQuery{Is: []string{"archived"}, Sort: "title"}, []string{"Old plan", "Weed"}},
		"pinned":   {query.SearchQuery{Is: []string{"pinned"}}, []string{"Plan"}},
		"undated":  {query.SearchQuery{Is: []string{"undated"}, Sort: "title"}, []string{"Water", "Weed"}},
		"overdue on the user's clock": {query.SearchQuery{Is: []string{"overdue"}},
			[]string{"Buy seeds"}},
		"recurring": {query.SearchQuery{Is: []string{"recurring"}}, []string{"Round"}},
		// Today is 11:00 of 1 December to 11:00 of 2 December in UTC.
		"today": {query.SearchQuery{Is: []string{"today"}}, []string{"Ring", "Round"}},
		"two things": {query.SearchQuery{Is: []string{"open", "overdue"}, Tags: []string{"garden"}},
			[]string{"Buy seeds"}},
		"a window": {query.SearchQuery{From: noon.AddDate(0, 0, 2), To: noon.AddDate(0, 0, 3)}, []string{"Round"}},
		"the past": {query.SearchQuery{To: noon.AddDate(0, 0, -29)}, []string{"Round"}},
		"the future": {query.SearchQuery{From: noon.AddDate(0, 0, 1), Text: "plan", Sort: "start"},
			[]string{"Fair", "Sow"}},
		"nothing later": {query.SearchQuery{UpdatedFrom: noon.Add(time.Second)}, []string{}},
	} {
		require.Equal(t, c.want, b.hits(c.q), name)
	}
	tags, err := b.unfailing(nil).Tags(ctx, ann)
	require.NoError(t, err)
	require.Equal(t, "[{garden 2} {home 2}]", fmt.Sprint(tags))
}

// timed is a hit with its time.
func timed(h query.SearchHit) string {
	if h.Span == nil {
		return h.Title
	}
	return strings.TrimSpace(fmt.Sprint(h.Title, " ", h.Span.Start.UTC().Format("02T15:04"), " ", h.Date))
}

func (b *fixture) timed(q query.SearchQuery) (out []string) {
	page, err := b.unfailing(nil).Search(ctx, ann, q)
	require.NoError(b, err)
	for _, h := range page.Hits {
		out = append(out, timed(h))
	}
	return out
}

func TestSearch_showsWhatIsTodayWithItsTimes(t *testing.T) {
	t.Parallel()
	b := setup(t) // 1 December 2025, in UTC
	of := func(title string) item.Item {
		return b.series(`"title":"` + title + `","startUtc":"2025-11-01T20:00:00Z","endUtc":"2025-11-01T21:00:00Z",` +
			`"startTzid":"UTC","rrule":"FREQ=DAILY"`)
	}
	of("plain")
	b.except(ann, of("moved away"), "20251201", item.Item{"startUtc": item.String("2025-12-02T06:00:00Z")})
	b.except(ann, of("moved within"), "20251201", item.Item{"startUtc": item.String("2025-12-01T06:00:00Z")})
	from := of("moved here")
	b.except(ann, from, "20251201", item.Item{"status": item.String("CANCELLED")})
	b.except(ann, from, "20251203", item.Item{"startUtc": item.String("2025-12-01T07:00:00Z")})
	b.except(ann, of("cancelled"), "20251201", item.Item{"status": item.String("CANCELLED")})
	b.except(ann, of("with words"), "20251201", item.Item{"title": item.String("words of its own")})
	b.series(`"title":"over midnight","startUtc":"2025-11-01T23:00:00Z","endUtc":"2025-11-02T02:00:00Z",` +
		`"startTzid":"UTC","rrule":"FREQ=DAILY"`)
	b.series(`"title":"ended","startUtc":"2025-11-01T23:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY;COUNT=3"`)
	b.add(ann, product.Event(),
		`{"title":"whole day","isAllDay":true,"startDate":"2025-11-30","endDate":"2025-12-02"}`, nil)
	b.add(ann, product.Event(), `{"title":"tomorrow","isAllDay":true,"startDate":"2025-12-02"}`, nil)
	b.add(ann, product.Task(), `{"title":"due","startUtc":"2025-11-20T10:00:00Z",`+
		`"dueUtc":"2025-12-01T22:00:00Z","dueTzid":"UTC"}`, nil)
	b.add(ann, product.Task(),
		`{"title":"archived","dueUtc":"2025-12-01T22:00:00Z","dueTzid":"UTC","status":"ARCHIVED"}`, nil)
	rule := func() item.Item {
		return item.Item{product.AttrFirstTriggerUtc: item.String("2025-11-29T09:00:00Z")}
	}
	b.add(ann, product.Reminder(), `{"title":"daily","triggerUtc":"2025-11-29T09:00:00Z",`+
		`"tzid":"UTC","rrule":"FREQ=DAILY"}`, rule())
	snoozed := rule()
	snoozed[entity.AttrStatus] = item.String(product.StatusSnoozed)
	snoozed[product.AttrSnoozeState] = item.Map{
		product.SnoozeUntilUtc: item.String("2025-12-01T15:00:00Z"), product.SnoozeCount: item.Int(1),
		product.SnoozeOccurrenceUtc: item.String("2025-12-01T09:00:00Z"),
	}
	b.add(ann, product.Reminder(), `{"title":"snoozed","triggerUtc":"2025-12-02T09:00:00Z",`+
		`"tzid":"UTC","rrule":"FREQ=DAILY"}`, snoozed)
	require.ElementsMatch(t, []string{
		"plain 01T20:00 20251201", "moved within 01T06:00 20251201", "moved here 01T07:00 20251203",
		"words of its own 01T20:00 20251201", "over midnight 30T23:00 20251130", "whole day 30T00:00",
		"due 01T22:00", "daily 01T09:00 20251201", "snoozed 01T15:00 20251201",
	}, b.timed(query.SearchQuery{Is: []string{"today"}}))
	require.Equal(t, []string{"plain 01T20:00 20251201"}, b.timed(query.SearchQuery{Text: "plain"}), "the next one")
	require.Equal(t, []string{"ended 01T23:00"}, b.timed(query.SearchQuery{Text: "ended"}), "its first")
	require.Equal(t, []string{"due 20T10:00"}, b.timed(query.SearchQuery{Text: "due"}))
}

func TestSearch_showsNoOccurrenceOfADayThatTheZoneSkips(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put(product.NewUserMeta(ann, noon).Clone())
	b.set(product.NewUserMeta(ann, noon), item.Item{"defaultTzid": item.String("Pacific/Apia")})
	of := b.series(`"title":"days","isAllDay":true,"startDate":"2011-12-29","endDate":"2011-12-30",` +
		`"rrule":"FREQ=DAILY;COUNT=4"`)
	b.except(ann, of, "20111230", item.Item{"title": item.String("the day that is skipped")})
	b.except(ann, of, "20111231", item.Item{"title": item.String("the day after")})
	skipped := time.Date(2011, time.December, 30, 10, 0, 0, 0, time.UTC) // midnight to the 31st in Apia
	require.Equal(t, []string{"the day after 30T10:00 20111231"},
		b.timed(query.SearchQuery{From: skipped, To: skipped.AddDate(0, 0, 1)}), "as in the agenda")
	page, err := b.service.Agenda(ctx, ann, query.AgendaQuery{From: skipped, To: skipped.AddDate(0, 0, 1), Limit: 10})
	require.NoError(t, err)
	require.Len(t, page.Entries, 1)
	require.Equal(t, []string{"the day that is skipped"}, b.timed(query.SearchQuery{Text: "skipped"}), "it has no time")
}

func TestSearch_takesTheRestOfAnExceptionFromItsSeries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	objects := blobmemory.New(nil)
	master := b.series(`"title":"Standup","location":"room one","startUtc":"2025-11-01T09:00:00Z","startTzid":"UTC",` +
		`"rrule":"FREQ=DAILY","tags":["team"]`)
	own := b.except(ann, master, "20251205", item.Item{"description": item.String("budget")})
	b.except(ann, master, "20251206", item.Item{"startUtc": item.String("2025-12-06T10:00:00Z")})
	row := b.appendRow(ann, 1, entryOf(master), entryOf(own))
	service := b.unfailing(objects)
	find := func(q query.SearchQuery) (out []string) {
		for _, s := range []*query.Service{service, b.unfailing(objects), b.unfailing(nil)} {
			page, err := s.Search(ctx, ann, q)
			require.NoError(t, err)
			var now []string
			for _, h := range page.Hits {
				now = append(now, fmt.Sprint(h.Type, " ", h.Title, " ", h.Document.Tags))
			}
			slices.Sort(now)
			if out == nil {
				out = now
			}
			require.Equal(t, out, now)
		}
		return out
	}
	require.Equal(t, []string{"INSTANCE Standup [team]"}, find(query.SearchQuery{Text: "budget room"}))
	require.Equal(t, []string{"INSTANCE Standup [team]", "MASTER Standup [team]"},
		find(query.SearchQuery{Text: "standup"}))
	changed := master.Clone()
	changed["title"], changed[entity.AttrVersion] = item.String("Daily"), item.Int(2)
	b.put(changed)
	row = b.appendRow(ann, row.N+1, entryOf(changed))
	require.Equal(t, []string{"INSTANCE Daily [team]", "MASTER Daily [team]"}, find(query.SearchQuery{Text: "daily"}))
	require.Empty(t, find(query.SearchQuery{Text: "standup"}))
	cut := changed.Clone()
	cut["rrule"], cut[entity.AttrVersion] = item.String("FREQ=DAILY;COUNT=3"), item.Int(3)
	b.put(cut)
	row = b.appendRow(ann, row.N+1, entryOf(cut))
	require.Equal(t, []string{"MASTER Daily [team]"}, find(query.SearchQuery{Text: "daily"}), "its date is lost")
	changed[entity.AttrVersion] = item.Int(4)
	b.put(changed)
	row = b.appendRow(ann, row.N+1, entryOf(changed))
	require.Equal(t, []string{"INSTANCE Daily [team]", "MASTER Daily [team]"}, find(query.SearchQuery{Text: "daily"}))
	require.NoError(t, b.store.Delete(ctx, deletion(changed)))
	b.appendRow(ann, row.N+1, removal(changed))
	require.Empty(t, find(query.SearchQuery{Text: "daily"}), "shown nowhere without its series")
}

func TestSearch_hasCursorsOfItsQuestionAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 5 {
		b.add(ann, product.Note(), fmt.Sprintf(`{"title":"plan %d"}`, i), nil)
		b.add(bob, product.Note(), fmt.Sprintf(`{"title":"plan %d"}`, i), nil)
	}
	s := b.unfailing(nil)
	q := query.SearchQuery{Text: "plan", Limit: 2}
	page, err := s.Search(ctx, ann, q)
	require.NoError(t, err)
	require.Len(t, page.Hits, 2)
	require.Equal(t, 5, page.Total)
	for name, change := range map[string]func(*query.SearchQuery){
		"text":  func(q *query.SearchQuery) { q.Text = "plans" },
		"types": func(q *query.SearchQuery) { q.Types = []string{"NOTE"} },
		"tags":  func(q *query.SearchQuery) { q.Tags = []string{"a"} },
		"any":   func(q *query.SearchQuery) { q.AnyTag = []string{"a"} },
		"is":    func(q *query.SearchQuery) { q.Is = []string{"pinned"} },
		"from":  func(q *query.SearchQuery) { q.From = noon },
		"to":    func(q *query.SearchQuery) { q.To = noon },
		"since": func(q *query.SearchQuery) { q.UpdatedFrom = noon },
		"sort":  func(q *query.SearchQuery) { q.Sort = "title" },
		"state": func(q *query.SearchQuery) { q.Statuses = []string{"ACTIVE"} },
		"none":  func(q *query.SearchQuery) { q.Cursor = "x" },
	} {
		other := q
		other.Cursor = page.Next
		change(&other)
		_, err := s.Search(ctx, ann, other)
		require.ErrorIs(t, err, query.ErrCursor, name)
	}
	q.Cursor = page.Next
	_, err = s.Search(ctx, bob, q)
	require.ErrorIs(t, err, query.ErrCursor)
	q.Limit = 3
	rest, err := s.Search(ctx, ann, q)
	require.NoError(t, err)
	require.Len(t, rest.Hits, 3)
	require.Empty(t, rest.Next)
}

func TestSearch_refusesWhatIsOutOfBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	many := func(n int, of string) []string { return slices.Repeat([]string{of}, n) }
	for pointer, bad := range map[string][]query.SearchQuery{
		"/q":           {{Text: strings.Repeat("x", 201)}, {Text: strings.Repeat("a ", 17)}, {Text: "\xff"}},
		"/types":       {{Types: []string{"MASTER"}}, {Types: many(21, "NOTE")}},
		"/tags":        {{Tags: many(51, "a")}, {Tags: []string{""}}, {Tags: []string{strings.Repeat("x", 65)}}},
		"/anyTag":      {{AnyTag: []string{""}}},
		"/status":      {{Statuses: []string{"x"}}},
		"/is":          {{Is: []string{"new"}}},
		"/from":        {{From: time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC)}},
		"/to":          {{From: noon, To: noon}, {To: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)}},
		"/updatedFrom": {{UpdatedFrom: time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC)}},
		"/sort":        {{Sort: "x"}, {Sort: "rank"}, {Sort: "rank", Text: "-x"}},
		"/limit":       {{Limit: 101}, {Limit: -1}},
	} {
		for _, q := range bad {
			_, err := b.unfailing(nil).Search(ctx, ann, q)
			var broken *entity.ValidationError
			require.ErrorAs(t, err, &broken, "%s: %+v", pointer, q)
			require.Len(t, broken.Fields, 1)
			require.Equal(t, pointer, broken.Fields[0].Pointer)
		}
	}
	_, err := b.unfailing(nil).Search(ctx, "no user", query.SearchQuery{})
	require.ErrorIs(t, err, entity.ErrID)
	_, err = b.service.Search(ctx, ann, query.SearchQuery{})
	require.ErrorIs(t, err, query.ErrNotFound, "without the parts of a search")
}
