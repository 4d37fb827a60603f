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

func TestGet_isOneStronglyConsistentRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	it := b.add(ann, product.Task(), `{"title":"t","status":"COMPLETED"}`, nil)
	id := it.Str("taskId")
	got, err := b.service.Get(ctx, ann, product.Task(), id)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Get": 1}, b.trips())
	require.True(t, it.Equal(got))
	b.now = noon.Add(25 * time.Hour)
	got, err = b.service.Get(ctx, ann, product.Task(), id)
	require.NoError(t, err)
	require.Equal(t, "ARCHIVED", got.Str("status"))
	b.set(it, item.Item{"ttl": item.Int(b.now.Unix())})
	for _, c := range []struct {
		user string
		typ  *entity.Type
		id   string
	}{{ann, product.Task(), id}, {bob, product.Task(), id}, {ann, product.Note(), id}, {ann, product.Task(), "task_x"},
		{ann, product.Task(), "task_a#b"}, {ann, product.UserMeta(), ann}, {ann, nil, id}} {
		_, err := b.service.Get(ctx, c.user, c.typ, c.id)
		require.ErrorIs(t, err, query.ErrNotFound)
	}
	_, err = b.service.Get(ctx, "ann#2025", product.Task(), id)
	require.ErrorIs(t, err, entity.ErrID)
}

func TestColumn_isOrderedByPriorityThenAge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, priority := range []int{3, 1, 3, 2, 1} {
		b.now = noon.Add(time.Duration(i) * time.Minute)
		b.add(ann, product.Task(), fmt.Sprintf(`{"title":"%d/%d","priority":%d}`, priority, i, priority), nil)
	}
	b.add(ann, product.Task(), `{"title":"begun","status":"IN_PROGRESS"}`, nil)
	b.add(bob, product.Task(), `{"title":"another's"}`, nil)
	for _, limit := range []int{1, 2, 3, 100} {
		got, _ := pages(b, func(cursor string) (query.Page, error) {
			return b.service.Column(ctx, ann, query.ColumnQuery{Status: "BACKLOG", Limit: limit, Cursor: cursor})
		})
		require.Equal(t, []string{"1/1", "1/4", "2/3", "3/0", "3/2"}, got)
	}
	page, err := b.service.Column(ctx, ann, query.ColumnQuery{Status: "BACKLOG", Priority: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"1/1", "1/4"}, titles(page.Items))
}

func TestColumn_showsATaskPastItsTimerAsArchivedAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 40 {
		b.now = noon.Add(time.Duration(i) * time.Hour)
		b.add(ann, product.Task(), fmt.Sprintf(`{"title":"%02d","status":"COMPLETED"}`, i), nil)
	}
	b.add(ann, product.Task(), `{"title":"archived","status":"ARCHIVED","priority":5}`, nil)
	gone := b.add(ann, product.Task(), `{"title":"expired","status":"ARCHIVED"}`, nil)
	b.set(gone, item.Item{"ttl": item.Int(b.now.Unix())})
	// It is 39 h past noon: those completed up to 15 h past noon are archived.
	var late, fresh []string
	for i := range 40 {
		if name := fmt.Sprintf("%02d", i); i <= 15 {
			late = append(late, name)
		} else {
			fresh = append(fresh, name)
		}
	}
	for _, limit := range []int{1, 7, 16, 17, 100} {
		read := func(status string) []string {
			got, _ := pages(b, func(cursor string) (query.Page, error) {
				return b.service.Column(ctx, ann, query.ColumnQuery{Status: status, Limit: limit, Cursor: cursor})
			})
			return got
		}
		require.Equal(t, fresh, read("COMPLETED"))
		require.Equal(t, append([]string{"archived"}, late...), read("ARCHIVED"))
	}
	page, err := b.service.Column(ctx, ann, query.ColumnQuery{Status: "ARCHIVED", Limit: 2})
	require.NoError(t, err)
	for _, f := range page.Items {
		require.Equal(t, "ARCHIVED", f.Item.Str("status"))
	}
}

func TestBoard_hasTheFirstOfEachColumn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, status := range product.TaskStatuses() {
		for range 3 {
			b.add(ann, product.Task(), `{"title":"`+status+`","status":"`+status+`"}`, nil)
		}
	}
	columns, err := b.service.Board(ctx, ann, 2)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Query": 4}, b.trips())
	require.Len(t, columns, 4)
	for i, status := range product.TaskStatuses() {
		require.Equal(t, status, columns[i].Status)
		require.Equal(t, []string{status, status}, titles(columns[i].Items))
		rest, err := b.service.Column(ctx, ann, query.ColumnQuery{Status: status, Limit: 2, Cursor: columns[i].Next})
		require.NoError(t, err)
		require.Len(t, rest.Items, 1)
	}
	_, err = b.service.Board(ctx, ann, 101)
	var invalid *entity.ValidationError
	require.ErrorAs(t, err, &invalid)
}

func TestNotes_comeLatestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 5 {
		b.now = noon.Add(time.Duration(i) * time.Minute)
		b.add(ann, product.Note(), fmt.Sprintf(`{"title":"r%d"}`, i), nil)
		b.add(ann, product.Note(), fmt.Sprintf(`{"title":"p%d","isPinned":true}`, i), nil)
		b.add(ann, product.Note(), fmt.Sprintf(`{"title":"a%d","status":"ARCHIVED","isPinned":true}`, i), nil)
		b.add(bob, product.Note(), `{"title":"another's"}`, nil)
	}
	for word, letter := range map[string]string{"pinned": "p", "recent": "r", "archived": "a"} {
		state, err := query.ParseNoteState(word)
		require.NoError(t, err)
		got, n := pages(b, func(cursor string) (query.Page, error) {
			return b.service.Notes(ctx, ann, query.NotesQuery{State: state, Limit: 2, Cursor: cursor})
		})
		require.Equal(t, []string{letter + "4", letter + "3", letter + "2", letter + "1", letter + "0"}, got)
		require.Equal(t, 3, n)
	}
	_, err := query.ParseNoteState("lost")
	require.Error(t, err)
}

func TestService_boundsParameters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, read := range map[string]func() error{
		"/limit": func() error {
			_, err := b.service.Column(ctx, ann, query.ColumnQuery{Status: "BACKLOG", Limit: 101})
			return err
		},
		"/status": func() error { _, err := b.service.Column(ctx, ann, query.ColumnQuery{Status: "A#B"}); return err },
		"/priority": func() error {
			_, err := b.service.Column(ctx, ann, query.ColumnQuery{Status: "BACKLOG", Priority: 6})
			return err
		},
		"/state": func() error { _, err := b.service.Notes(ctx, ann, query.NotesQuery{State: "2"}); return err },
		"/from":  func() error { _, err := b.service.Agenda(ctx, ann, query.AgendaQuery{To: noon}); return err },
		"/to": func() error {
			_, err := b.service.Agenda(ctx, ann, query.AgendaQuery{From: noon, To: noon})
			return err
		},
		"/tz":    func() error { _, err := b.agenda(noon, time.Hour, "EST"); return err },
		"/types": func() error { _, err := b.agenda(noon, time.Hour, "", "USER_META"); return err },
	} {
		var invalid *entity.ValidationError
		require.ErrorAs(t, read(), &invalid, name)
		require.Equal(t, name, invalid.Fields[0].Pointer)
	}
	_, err := b.agenda(noon, 366*24*time.Hour+time.Second, "")
	require.Error(t, err)
	_, err = b.service.Agenda(ctx, ann, query.AgendaQuery{
		From: noon, To: noon.Add(1), Tags: []string{strings.Repeat("ä", 65)},
	})
	require.Error(t, err)
	require.Empty(t, b.trips())
}

// agenda reads one page of ann's agenda.
func (b *fixture) agenda(from time.Time, length time.Duration, zone string, types ...string) (query.Agenda, error) {
	return b.service.Agenda(ctx, ann, query.AgendaQuery{From: from, To: from.Add(length), Zone: zone, Types: types})
}

func TestCursor_leadsOnInItsOwnQueryAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	target := b.add(ann, product.Note(), `{"title":"n"}`, nil)
	to := entity.Ref{Type: "NOTE", ID: target.Str("noteId")}
	for _, user := range []string{ann, bob} {
		for range 3 {
			links := `"links":[{"targetType":"NOTE","targetId":"` + to.ID + `"}]`
			source := b.add(user, product.Task(), `{"title":"t","dueUtc":"2025-12-01T12:00:00",`+links+`}`, nil)
			b.link(user, product.Task().Ref(source), to)
			b.add(user, product.Note(), `{"title":"n"}`, nil)
		}
	}
	b.put(b.noteOf(bob, to.ID))
	read := map[string]func(user, cursor string) (string, error){
		"column": func(user, cursor string) (string, error) {
			p, err := b.service.Column(ctx, user, query.ColumnQuery{Status: "BACKLOG", Limit: 1, Cursor: cursor})
			return p.Next, err
		},
		"column of a priority": func(user, cursor string) (string, error) {
			p, err := b.service.Column(ctx, user, query.ColumnQuery{Status: "BACKLOG", Priority: 3, Limit: 1, Cursor: cursor})
			return p.Next, err
		},
		"notes": func(user, cursor string) (string, error) {
			p, err := b.service.Notes(ctx, user, query.NotesQuery{State: product.NoteRecent, Limit: 1, Cursor: cursor})
			return p.Next, err
		},
		"backlinks": func(user, cursor string) (string, error) {
			p, err := b.service.Backlinks(ctx, user, to, 1, cursor)
			return p.Next, err
		},
		"agenda": func(user, cursor string) (string, error) {
			p, err := b.service.Agenda(ctx, user, query.AgendaQuery{
				From: noon, To: noon.Add(time.Hour), Limit: 1, Cursor: cursor,
			})
			return p.Next, err
		},
		"agenda with tags": func(user, cursor string) (string, error) {
			p, err := b.service.Agenda(ctx, user, query.AgendaQuery{
				From: noon, To: noon.Add(time.Hour), Limit: 1, Cursor: cursor, Tags: []string{"a"},
			})
			return p.Next, err
		},
		"agenda elsewhere": func(user, cursor string) (string, error) {
			p, err := b.service.Agenda(ctx, user, query.AgendaQuery{
				From: noon, To: noon.Add(time.Hour), Limit: 1, Cursor: cursor, Zone: "Asia/Tokyo",
			})
			return p.Next, err
		},
	}
	for name, ask := range read {
		cursor, err := ask(ann, "")
		require.NoError(t, err)
		if cursor == "" {
			continue
		}
		_, err = ask(ann, cursor)
		require.NoError(t, err, name)
		_, err = ask(bob, cursor)
		require.ErrorIs(t, err, query.ErrCursor, name)
		for other, askOther := range read {
			if other != name {
				_, err := askOther(ann, cursor)
				require.ErrorIs(t, err, query.ErrCursor, "%s in %s", name, other)
			}
		}
		for what, forged := range forgeries(t, cursor) {
			_, err := ask(ann, forged)
			require.ErrorIs(t, err, query.ErrCursor, "%s: %s", name, what)
		}
	}
}

func (b *fixture) noteOf(user, id string) item.Item {
	it := b.add(user, product.Note(), `{"title":"same id"}`, nil).Clone()
	it["SK"], it["noteId"] = item.String(entity.ItemKey(user, entity.Ref{Type: "NOTE", ID: id}).SK), item.String(id)
	return it
}

// forgeries are texts that look like the cursor and are none.
func forgeries(t *testing.T, cursor string) map[string]string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	swap := func(from, to string) string { return encode([]byte(strings.ReplaceAll(string(raw), from, to))) }
	out := map[string]string{
		"no base64": "%%%", "no JSON": encode([]byte("{")), "more behind": encode(append(slices.Clone(raw), raw...)),
		"long": strings.Repeat("A", 1025), "another version": swap(`"v":1`, `"v":2`), "unknown member": swap(`{`, `{"z":1,`),
		"another question": swap(`"q":"`, `"q":"x`), "a leg too far": swap(`"q":`, `"l":7,"q":`),
		"a leg before": swap(`"q":`, `"l":-1,"q":`), "another range": swap(`"x":"TASK#BACKLOG`, `"x":"TASK#ARCHIVED`),
		"another grid":            swap(`"x":"NOTE#0`, `"x":"NOTE#1`),
		"a row that is no entity": swap(`"s":"`, `"s":"LEDGER#stats#`),
		"an edge that is none":    swap(`"x":"TASK#`, `"x":"LINK#`),
		"another time":            swap(`"t":"20`, `"t":"99`), "another id": swap(`"i":"task`, `"i":"a#b`),
	}
	for what, forged := range out {
		if forged == cursor {
			delete(out, what)
		}
	}
	if !strings.Contains(string(raw), `"s":"`) {
		delete(out, "a leg too far")
		delete(out, "a leg before")
	}
	return out
}
