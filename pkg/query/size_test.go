package query_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/product"
	"nexus/pkg/query"
)

// sentSize returns the size of items as a function sends them: JSON within JSON, with each byte escaped at worst twice.
func sentSize(found []query.Found) int {
	n := 0
	for _, f := range found {
		text := f.Type.AppendJSON(nil, f.Item)
		n += len(text) + strings.Count(string(text), `"`) + strings.Count(string(text), `\`)
	}
	return n
}

// maxSent bounds the items of an answer, in bytes: four times a page, of the 6 MB of Lambda.
const maxSent = 4<<20 + 256<<10

func TestBoard_ofLargeTasksFitsIntoAnAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{`\"`, `\\`, `\t`, `\n`, "\x7f", "<"} {
		user := fmt.Sprintf("user%d", text[len(text)-1])
		var all []string
		for i := range 120 {
			status := product.TaskStatuses()[i%4]
			all = append(all, fmt.Sprint(i))
			b.add(user, product.Task(), fmt.Sprintf(`{"title":"%d","status":%q,"description":"%s"}`, i, status,
				strings.Repeat(text, 10_000)), nil)
		}
		columns, err := b.service.Board(ctx, user, 100)
		require.NoError(t, err)
		sent, shown := 0, []string{}
		for _, column := range columns {
			sent += sentSize(column.Items)
			require.NotEmpty(t, column.Items)
			shown = append(shown, titles(column.Items)...)
			if column.Next == "" {
				continue
			}
			rest, _ := pages(b, func(cursor string) (query.Page, error) {
				return b.service.Column(ctx, user, query.ColumnQuery{
					Status: column.Status, Limit: 100, Cursor: cmp.Or(cursor, column.Next),
				})
			})
			shown = append(shown, rest...)
		}
		require.LessOrEqual(t, sent, maxSent, "%q", text)
		slices.Sort(shown)
		slices.Sort(all)
		require.Equal(t, all, shown)
	}
}

// A page of several ranges reads a megabyte of each.
func TestNotes_aPageOfLargeOnesEndsAtAMegabyte(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 90 {
		b.add(ann, product.Note(), fmt.Sprintf(`{"title":"%02d","isPinned":%t,"body":"%s"}`, i, i < 28,
			strings.Repeat(`\"`, 32<<10)), nil)
	}
	got, n := pages(b, func(cursor string) (query.Page, error) {
		page, err := b.service.Notes(ctx, ann, query.NotesQuery{Limit: 100, Cursor: cursor})
		require.LessOrEqual(t, sentSize(page.Items), maxSent)
		return page, err
	})
	require.Equal(t, 3, n)
	slices.Sort(got)
	require.Len(t, slices.Compact(got), 90)
}
