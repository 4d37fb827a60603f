package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

var someTitles = []string{
	"Straße fegen", "STRASSE", "caf\u00e9", "cafe\u0301 am Abend", "Ärzte", "ΣΊΣΥΦΟΣ", "plain", "İstanbul",
	"100 % done",
}

// crowd lets the user have so many tasks and notes, of all kinds.
func (b *fixture) crowd(chance *rand.Rand, user string, n int) (tasks, notes []item.Item) {
	for i := range n {
		tags := [][]string{nil, {"home"}, {"home", "work"}, {"Work"}}[chance.IntN(4)]
		title := fmt.Sprintf("%s %d", someTitles[chance.IntN(len(someTitles))], i)
		text := fmt.Sprintf(`{"title":%q`, title)
		if len(tags) > 0 {
			text += fmt.Sprintf(`,"tags":["%s"]`, strings.Join(tags, `","`))
		}
		note := text + []string{"", `,"isPinned":true`, `,"status":"ARCHIVED"`}[chance.IntN(3)] + "}"
		notes = append(notes, b.add(user, product.Note(), note, nil))
		due := noon.Add(time.Duration(chance.IntN(96)-48) * time.Hour).Format("2006-01-02T15:04:05")
		task := text + fmt.Sprintf(`,"priority":%d,"status":%q`, 1+chance.IntN(5), product.TaskStatuses()[chance.IntN(4)])
		task += []string{
			"", `,"dueUtc":"` + due + `"`, `,"dueUtc":"` + due + `Z","dueTzid":"Europe/Paris"`,
			`,"isAllDay":true,"dueDate":"` + due[:10] + `"`,
		}[chance.IntN(4)] + "}"
		tasks = append(tasks, b.add(user, product.Task(), task, nil))
	}
	return tasks, notes
}

// idsOf are the ids of what passes, in a fixed order.
func idsOf(items []item.Item, attr string, passes func(item.Item) bool) []string {
	ids := []string{}
	for _, it := range items {
		if passes(it) {
			ids = append(ids, it.Str(attr))
		}
	}
	slices.Sort(ids)
	return ids
}

// gather follows the cursors of a list and holds each page to its bounds.
func gather(t *testing.T, b *fixture, attr string, read func(cursor string) (query.Page, error)) []string {
	t.Helper()
	ids := []string{}
	for n, cursor := 0, ""; ; n++ {
		b.rows()
		page, err := read(cursor)
		require.NoError(t, err)
		require.LessOrEqual(t, b.rows(), 501, "rows read for one page, with the user's settings")
		for _, f := range page.Items {
			ids = append(ids, f.Item.Str(attr))
		}
		if cursor = page.Next; cursor == "" {
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(ids))), len(ids), "nothing comes twice")
			slices.Sort(ids)
			return ids
		}
		require.Less(t, n, 2000, "the pages never end")
	}
}

func TestFilter_findsWhatAScanOfEverythingFinds(t *testing.T) {
	t.Parallel()
	long.Only(t, "asks for every filter")
	b := setup(t)
	chance := rand.New(rand.NewPCG(7, 7))
	tasks, notes := b.crowd(chance, ann, 700)
	b.crowd(chance, bob, 50)
	b.put(product.NewUserMeta(ann, noon).Clone())
	b.set(product.NewUserMeta(ann, noon), item.Item{"defaultTzid": item.String("America/New_York")})
	wall := noon.Add(-5 * time.Hour)
	contains := map[string]func(title string) bool{
		"":            func(string) bool { return true },
		"strasse":     func(s string) bool { return strings.HasPrefix(s, "Straße") || strings.HasPrefix(s, "STRASSE") },
		"CAFE\u0301":  func(s string) bool { return strings.HasPrefix(s, "caf") },
		"cafe":        func(string) bool { return false },
		"ärz":         func(s string) bool { return strings.HasPrefix(s, "Ärzte") },
		"σίσυφος":     func(s string) bool { return strings.HasPrefix(s, "ΣΊΣΥΦΟΣ") },
		"% DONE":      func(s string) bool { return strings.HasPrefix(s, "100 % done") },
		"not to find": func(string) bool { return false },
	}
	for text, inTitle := range contains {
		for _, tag := range []string{"", "home", "Work", "none"} {
			passes := func(it item.Item) bool {
				return inTitle(it.Str("title")) && (tag == "" || slices.Contains(it.Strings("tags"), tag))
			}
			filter := query.Filter{Tag: tag, Text: text}
			limit := []int{1, 7, 50, 100}[chance.IntN(4)]
			for _, status := range append(product.TaskStatuses(), "") {
				for _, dueIn := range append(query.Dues(), "") {
					want := idsOf(tasks, "taskId", func(it item.Item) bool {
						at, floating, due := product.TaskDue(it)
						now := noon
						if floating {
							now = wall
						}
						open := it.Str("status") == "BACKLOG" || it.Str("status") == "IN_PROGRESS"
						newYork, err := time.LoadLocation("America/New_York")
						require.NoError(t, err)
						date := at.Format(time.DateOnly) // on the user's clock, where it is Monday, 1 December
						switch {
						case it.Has("dueDate"):
							date = it.Str("dueDate")
						case !floating:
							date = at.In(newYork).Format(time.DateOnly)
						}
						isDue := map[string]bool{
							"": true, "overdue": open && due && !at.After(now), "none": !due,
							"today": due && date == "2025-12-01", "week": due && date >= "2025-12-01" && date <= "2025-12-07",
						}
						return passes(it) && (status == "" || it.Str("status") == status) && isDue[dueIn]
					})
					got := gather(t, b, "taskId", func(cursor string) (query.Page, error) {
						return b.service.Column(ctx, ann, query.ColumnQuery{
							Status: status, Due: dueIn, Filter: filter, Limit: limit, Cursor: cursor,
						})
					})
					require.Equal(t, want, got, "tasks %q, tag %q, status %q, due %q, pages of %d", text, tag, status,
						dueIn, limit)
				}
			}
			want := idsOf(notes, "noteId", passes)
			got := gather(t, b, "noteId", func(cursor string) (query.Page, error) {
				return b.service.Notes(ctx, ann, query.NotesQuery{Filter: filter, Limit: limit, Cursor: cursor})
			})
			require.Equal(t, want, got, "notes %q, tag %q", text, tag)
		}
	}
	anyOf := []string{"work", "Work"}
	hasAny := func(it item.Item) bool {
		return slices.ContainsFunc(it.Strings("tags"), func(tag string) bool { return slices.Contains(anyOf, tag) })
	}
	for name, read := range map[string]func(cursor string) (query.Page, error){
		"column": func(cursor string) (query.Page, error) {
			return b.service.Column(ctx, ann, query.ColumnQuery{Filter: query.Filter{Tags: anyOf}, Cursor: cursor})
		},
		"all": func(cursor string) (query.Page, error) {
			return b.service.All(ctx, ann, query.AllQuery{Type: product.Task(), Tags: anyOf, Cursor: cursor})
		},
	} {
		require.Equal(t, idsOf(tasks, "taskId", hasAny), gather(t, b, "taskId", read), name)
	}
	stats, err := b.service.Stats(ctx, ann)
	require.NoError(t, err)
	require.Len(t, gather(t, b, "taskId", func(cursor string) (query.Page, error) {
		return b.service.Column(ctx, ann, query.ColumnQuery{Due: query.DueOverdue, Cursor: cursor})
	}), stats.OverdueTasks, "as many as statistics count")
}

func TestFilter_boundsWhatAPageReads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 1200 {
		b.add(ann, product.Task(), fmt.Sprintf(`{"title":"t %d"}`, i), nil)
	}
	b.trips()
	b.rows()
	page, err := b.service.Column(ctx, ann, query.ColumnQuery{Status: "BACKLOG", Filter: query.Filter{Text: "none"}})
	require.NoError(t, err)
	require.Empty(t, page.Items)
	require.NotEmpty(t, page.Next, "a page may be empty and have another one after it")
	require.Equal(t, 500, b.rows())
	require.Equal(t, map[string]int{"Query": 1}, b.trips())
	_, err = b.service.Column(ctx, ann, query.ColumnQuery{Status: "BACKLOG", Due: query.DueOverdue})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Get": 1, "Query": 1}, b.trips())
}

func TestFilter_isPartOfItsCursor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.crowd(rand.New(rand.NewPCG(1, 1)), ann, 60)
	tasks := query.ColumnQuery{Filter: query.Filter{Tag: "home"}, Limit: 1}
	page, err := b.service.Column(ctx, ann, tasks)
	require.NoError(t, err)
	require.NotEmpty(t, page.Next)
	for name, q := range map[string]query.ColumnQuery{
		"another tag": {Filter: query.Filter{Tag: "work"}}, "a text as well": {Filter: query.Filter{Tag: "home", Text: "x"}},
		"the tag as a text": {Filter: query.Filter{Text: "home"}},
		"overdue":           {Due: query.DueOverdue, Filter: query.Filter{Tag: "home"}},
		"tags":              {Filter: query.Filter{Tag: "home", Tags: []string{"home"}}},
		"a column":          {Status: "BACKLOG", Filter: query.Filter{Tag: "home"}}, "no filter": {},
	} {
		q.Cursor = page.Next
		_, err := b.service.Column(ctx, ann, q)
		require.ErrorIs(t, err, query.ErrCursor, name)
	}
	tasks.Cursor = page.Next
	_, err = b.service.Column(ctx, bob, tasks)
	require.ErrorIs(t, err, query.ErrCursor)
	_, err = b.service.Column(ctx, ann, query.ColumnQuery{Filter: query.Filter{Text: strings.Repeat("x", 201)}})
	var invalid *entity.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "/q", invalid.Fields[0].Pointer)
}
