package query_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

func TestBacklinks_areTheUsersOwnLivingSources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.add(ann, product.Note(), `{"title":"n"}`, nil)
	to := entity.Ref{Type: "NOTE", ID: note.Str("noteId")}
	source := func(user, title string, linked bool) item.Item {
		text := `{"title":"` + title + `"}`
		if linked {
			text = `{"title":"` + title + `","links":[{"targetType":"NOTE","targetId":"` + to.ID + `"}]}`
		}
		it := b.add(user, product.Task(), text, nil)
		b.link(user, product.Task().Ref(it), to)
		return it
	}
	var want []string
	for i := range 5 {
		source(bob, "another's", true)
		source(ann, fmt.Sprint(i), true)
		want = append(want, fmt.Sprint(i))
	}
	source(ann, "link removed meanwhile", false)
	b.set(source(ann, "expired", true), item.Item{"ttl": item.Int(noon.Unix())})
	b.link(ann, entity.Ref{Type: "TASK", ID: "task_gone"}, to)
	// The same source id at another user.
	b.link(bob, entity.Ref{Type: "TASK", ID: "task_gone"}, to)
	b.link("carl", entity.Ref{Type: "TASK", ID: "task_gone"}, to)

	for _, limit := range []int{1, 2, 3, 100} {
		got, _ := pages(b, func(cursor string) (query.Page, error) {
			return b.service.Backlinks(ctx, ann, to, limit, cursor)
		})
		require.Equal(t, want, got)
	}
	b.trips()
	_, err := b.service.Backlinks(ctx, ann, to, 0, "")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Query": 1, "Get": 1, "BatchGet": 1}, b.trips())
	for _, ref := range []entity.Ref{
		{Type: "NOTE", ID: "note_x"}, {Type: "NOTE", ID: "a#b"}, {Type: "TASK", ID: to.ID}, {Type: "USER_META", ID: ann}, {},
	} {
		_, err := b.service.Backlinks(ctx, ann, ref, 0, "")
		require.ErrorIs(t, err, query.ErrNotFound)
	}
	_, err = b.service.Backlinks(ctx, bob, to, 0, "")
	require.ErrorIs(t, err, query.ErrNotFound)
}

func TestBacklinks_endAPageOfLargeSourcesAtAMegabyte(t *testing.T) {
	t.Parallel()
	b := setup(t)
	to := entity.Ref{Type: "NOTE", ID: b.add(ann, product.Note(), `{"title":"n"}`, nil).Str("noteId")}
	body := strings.Repeat("a", 32<<10)
	var want []string
	for i := range 70 {
		want = append(want, fmt.Sprintf("%02d", i))
		it := b.add(ann, product.Note(),
			fmt.Sprintf(`{"title":"%02d","body":%q,"links":[{"targetType":"NOTE","targetId":%q}]}`, i, body, to.ID), nil)
		b.link(ann, product.Note().Ref(it), to)
	}
	got, n := pages(b, func(cursor string) (query.Page, error) { return b.service.Backlinks(ctx, ann, to, 100, cursor) })
	require.Equal(t, want, got)
	require.Equal(t, 3, n)
}

func TestBacklinks_costNothingForEdgesOfOtherUsers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.add(ann, product.Note(), `{"title":"n"}`, nil)
	to := entity.Ref{Type: "NOTE", ID: note.Str("noteId")}
	mine := b.add(ann, product.Task(), `{"title":"mine","links":[{"targetType":"NOTE","targetId":"`+to.ID+`"}]}`, nil)
	b.link(ann, product.Task().Ref(mine), to)
	for i := range 500 {
		b.link(fmt.Sprintf("aaa%d", i), entity.Ref{Type: "EVENT", ID: "evt_1"}, to)
		b.link(fmt.Sprintf("zzz%d", i), product.Task().Ref(mine), to)
	}
	b.rows()
	got, n := pages(b, func(cursor string) (query.Page, error) { return b.service.Backlinks(ctx, ann, to, 1, cursor) })
	require.Equal(t, []string{"mine"}, got)
	require.Equal(t, 1, n)
	require.Equal(t, 3, b.rows(), "the target, one edge and its source")
}

func TestBacklinks_fromExceptionsGoOnAfterTheirCursors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.add(ann, product.Note(), `{"title":"n"}`, nil)
	to := entity.Ref{Type: "NOTE", ID: note.Str("noteId")}
	master := b.standup(ann, "")
	var want []string
	for _, date := range []string{"20251201", "20251208", "20251215", "20251222"} {
		it := b.differ(ann, master, date, `{"title":"`+date+`","links":[{"targetType":"NOTE","targetId":"`+to.ID+`"}]}`)
		b.link(ann, product.Instance().Ref(it), to)
		want = append(want, date)
	}
	for _, limit := range []int{1, 2, 3, 5} {
		got, _ := pages(b, func(cursor string) (query.Page, error) {
			return b.service.Backlinks(ctx, ann, to, limit, cursor)
		})
		require.Equal(t, want, got)
	}
}

func TestDecodeCursor_refusesAnotherPartition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	to := entity.Ref{Type: "NOTE", ID: b.add(ann, product.Note(), `{"title":"n"}`, nil).Str("noteId")}
	for range 2 {
		it := b.add(ann, product.Task(), `{"title":"t","links":[{"targetType":"NOTE","targetId":"`+to.ID+`"}]}`, nil)
		b.link(ann, product.Task().Ref(it), to)
	}
	page, err := b.service.Backlinks(ctx, ann, to, 1, "")
	require.NoError(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(page.Next)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(raw, &fields))
	for _, forged := range []string{
		"", "TASK", "TASK#", "#task_1", "TASK#task_1#x", "USER_META#ann", "LINK#TASK", "TASK#note_1",
		"INSTANCE#mst_1#20251202", "NOTE#a b",
	} {
		fields["x"] = forged
		text, err := json.Marshal(fields)
		require.NoError(t, err)
		_, err = b.service.Backlinks(ctx, ann, to, 1, base64.RawURLEncoding.EncodeToString(text))
		require.ErrorIs(t, err, query.ErrCursor, forged)
	}
}
