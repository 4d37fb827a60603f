package query_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/changes/token"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/table"
	"nexus/pkg/text/fold"
)

func TestSince_hasWhatChangedAsItIsNow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.appendRow(ann, 1, changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "task_0"}, Version: 1})
	note := b.add(ann, product.Note(), `{"title":"n"}`, nil)
	task := b.add(ann, product.Task(), `{"title":"t"}`, nil)
	swept := b.add(ann, product.Task(), `{"title":"swept"}`, nil)
	lapsed := b.add(ann, product.Task(), `{"title":"lapsed"}`, item.Item{entity.AttrTTL: item.Int(noon.Unix())})
	leaving := b.add(ann, product.Task(), `{"title":"leaving"}`, item.Item{entity.AttrTTL: item.Int(noon.Unix() + 60)})
	rev := repository.NewRevisionID(noon, revUUID)
	values, plan := repository.Address{User: ann}, repository.Address{User: ann, Date: "2040-01-01"}
	b.put(head(values, noon))
	b.put(head(plan, noon))
	b.put(product.NewUserMeta(ann, noon))
	require.NoError(t, b.store.Delete(ctx, deletion(swept)))
	b.appendRow(ann, 2, entryOf(note), entryOf(task), entryOf(leaving), changelog.Head(values, rev))
	b.appendRow(ann, 3, entryOf(swept), entryOf(lapsed), entryOf(leaving), changelog.Head(plan, rev),
		changelog.Entry{Ref: entity.Ref{Type: entity.TypeUserMeta, ID: ann}},
		changelog.Entry{Ref: entity.Ref{Type: "HABIT", ID: "habit_1"}, Version: 1},
		changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "note_1"}, Version: 1})
	deleted := changelog.Head(repository.Address{User: ann, Date: "2040-01-02"}, repository.RemovalID(rev))
	last := b.appendRow(ann, 4, removal(swept), entryOf(note), deleted)
	got, page := b.since(tokenAt(first), 0)
	require.Equal(t, []string{
		entryOf(note).String(), entryOf(task).String(),
		strings.TrimSuffix(entryOf(leaving).String(), "!") + " until " + item.FormatInstant(noon.Add(time.Minute)),
		"VALUES  " + rev, removal(swept).String() + " gone",
		strings.TrimSuffix(entryOf(lapsed).String(), "!") + " gone", "PLAN 2040-01-01 " + rev,
		"USER_META ann 0", "PLAN 2040-01-02 " + repository.RemovalID(rev) + " gone",
	}, got, "each once; one past its ttl is gone at its own version")
	require.Equal(t, query.SincePage{Next: tokenAt(last)}, page)
}

func TestSince_ofNothingNewIsHalfAUnit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, empty, _ := b.snapshot(0)
	task := changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "task_1"}, Version: 1}
	for _, rows := range []int{0, 1} {
		text := empty
		if rows > 0 {
			text = tokenAt(b.appendRow(ann, 1, task))
		}
		b.trips()
		b.readUnits()
		got, page := b.since(text, 0)
		require.Empty(t, got)
		require.Equal(t, query.SincePage{Next: text}, page)
		require.Equal(t, map[string]int{"Query": 1}, b.trips())
		require.InDelta(t, 0.5, b.readUnits(), 0)
	}
}

func TestSince_costsHalfAUnitForEachItem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	row := b.appendRow(ann, 1, changelog.Entry{Ref: entity.Ref{Type: "TASK", ID: "task_1"}, Version: 1})
	var entries []changelog.Entry
	for i := range 100 {
		entries = append(entries, entryOf(b.add(ann, product.Note(), fmt.Sprintf(`{"title":"%d"}`, i), nil)))
	}
	b.appendRow(ann, 2, entries...)
	b.readUnits()
	got, _ := b.since(tokenAt(row), 0)
	require.Len(t, got, 100)
	require.Equal(t, map[string]int{"Query": 1, "Peek": 1}, b.trips())
	require.InDelta(t, 0.5+50, b.readUnits(), 0, "the log, and the notes")
}

func TestSince_endsBehindTheRowWithWhichItHasEnough(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rows := []changelog.Row{b.appendRow(ann, 1, changelog.Entry{Ref: entity.Ref{Type: "TASK", ID: "task_1"}, Version: 1})}
	for n := range 5 {
		var entries []changelog.Entry
		for range 3 {
			entries = append(entries, entryOf(b.add(ann, product.Note(), `{"title":"n"}`, nil)))
		}
		rows = append(rows, b.appendRow(ann, int64(n+2), entries...))
	}
	for limit, want := range map[int]int{1: 1, 3: 1, 4: 2, 6: 2, 14: 5, 15: 5, 16: 5} {
		got, page := b.since(tokenAt(rows[0]), limit)
		require.Len(t, got, 3*want, "limit %d", limit)
		require.Equal(t, query.SincePage{Next: tokenAt(rows[want]), More: want < 5}, page, "limit %d", limit)
	}
	l := lines{most: 4}
	page, err := b.service.Since(ctx, ann, query.SinceQuery{Token: tokenAt(rows[0])}, l.add)
	require.NoError(t, err)
	require.Equal(t, query.SincePage{Next: tokenAt(rows[2]), More: true}, page, "never inside a row")
	require.Len(t, l.texts, 6)
	require.True(t, strings.HasSuffix(l.texts[4], " omitted") && strings.HasSuffix(l.texts[5], " omitted"))
	for _, limit := range []int{-1, 501} {
		_, err := b.service.Since(ctx, ann, query.SinceQuery{Token: tokenAt(rows[0]), Limit: limit}, l.add)
		require.ErrorContains(t, err, "limit")
	}
}

// Each case is a log that a client's token meets: the rules of a token, one by one.
func TestSince_resetsWhereRowsMayBeMissing(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	entry := changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "task_1"}, Version: 1}
	type rows = []changelog.Row
	row := func(n int64, x uint64, first bool, age time.Duration) changelog.Row {
		return changelog.NewRow(n, []changelog.Entry{entry}, x, first, noon.Add(-age))
	}
	const expired, unknown = query.ResetExpired, query.ResetUnknown
	empty := func(age time.Duration) string { return token.Empty(token.FormIn(0), ann, noon.Add(-age), nil).String() }
	at := func(n int64, x uint64) string { return tokenAt(changelog.Row{N: n, X: x}) }
	for name, c := range map[string]struct {
		rows rows
		text string
		want query.ResetReason // "" for an answer
		next string
	}{
		"its row is there":               {rows{row(5, 7, false, day)}, at(5, 7), "", at(5, 7)},
		"rows follow":                    {rows{row(5, 7, false, day), row(6, 8, false, 0)}, at(5, 7), "", at(6, 8)},
		"its row was swept":              {rows{row(6, 8, false, 0)}, at(5, 7), expired, ""},
		"all was swept":                  {nil, at(5, 7), expired, ""},
		"its row is of another log":      {rows{row(5, 9, false, 0)}, at(5, 7), unknown, ""},
		"its row is 80 days old":         {rows{row(5, 7, false, 80*day)}, at(5, 7), expired, ""},
		"its row is nearly 80 days old":  {rows{row(5, 7, false, 80*day-time.Second)}, at(5, 7), "", at(5, 7)},
		"a row behind it is missing":     {rows{row(5, 7, false, 0), row(7, 8, false, 0)}, at(5, 7), expired, ""},
		"rows may have been lost":        {rows{row(5, 7, false, 0), row(6, 8, true, 0)}, at(5, 7), expired, ""},
		"nothing for a new user":         {nil, empty(0), "", empty(0)},
		"the log begins":                 {rows{row(1, 7, true, 0)}, empty(day), "", at(1, 7)},
		"the log began without a mark":   {rows{row(1, 7, false, 0), row(2, 8, false, 0)}, empty(day), "", at(2, 8)},
		"the log does not begin at 1":    {rows{row(2, 8, false, 0)}, empty(day), expired, ""},
		"the log went on":                {rows{row(9, 8, false, 85*day), row(10, 3, true, 0)}, empty(day), expired, ""},
		"an old log is no log":           {rows{row(9, 8, false, 85*day)}, empty(day), "", empty(day)},
		"an old log from 1 on is no log": {rows{row(1, 8, true, 85*day)}, empty(day), "", empty(day)},
		"a new user, 80 days ago":        {nil, empty(80 * day), expired, ""},
		"a new user, nearly 80 days ago": {nil, empty(80*day - time.Second), "", empty(80*day - time.Second)},
	} {
		b := setup(t)
		for _, r := range c.rows {
			b.putRow(ann, r)
		}
		if c.want != "" {
			require.Equal(t, c.want, b.reset(ann, c.text), name)
			continue
		}
		_, page := b.since(c.text, 0)
		require.Equal(t, c.next, page.Next, name)
	}
}

func TestSince_resetsAForeignTokenAndOneOfAnotherForm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	row := b.appendRow(ann, 1, changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "task_1"}, Version: 1})
	b.putRow(bob, row)
	require.Equal(t, query.ResetUnknown, b.reset(bob, tokenAt(row)), "a row like it is no reason")
	require.Equal(t, query.ResetUnknown, b.reset(bob, token.Empty(token.FormIn(0), ann, noon, nil).String()))
	later := token.Token{Form: token.FormIn(1), Owner: token.OwnerOf(ann), N: row.N, X: row.X}
	require.Equal(t, query.ResetForm, b.reset(ann, later.String()), "of before the operator lowered it")
	config := query.Config{
		Store: b.store, Registry: product.Registry(), Now: func() time.Time { return b.now }, Fold: fold.String, Form: 1,
	}
	b.service = query.New(config)
	require.Equal(t, query.ResetForm, b.reset(ann, tokenAt(row)))
	require.Equal(t, query.ResetForm, b.reset(ann, token.Empty(token.FormIn(0), ann, noon, nil).String()))
	_, page := b.since(later.String(), 0)
	require.Equal(t, later.String(), page.Next)
	_, next, _ := b.snapshot(0)
	require.Equal(t, later.String(), next)
}

// The table is restored as it was after row 2, and written on: row 3 is another one now.
func TestSince_resetsAfterARestoreFromAPointInTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entry := changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "task_1"}, Version: 1}
	rows := []changelog.Row{b.appendRow(ann, 1, entry), b.appendRow(ann, 2, entry)}
	restored := setup(t)
	page, err := b.store.Query(ctx, table.Query{Partition: entity.UserPK(ann)})
	require.NoError(t, err)
	for _, row := range page.Items {
		restored.put(row)
	}
	rows = append(rows, b.appendRow(ann, 3, entry), b.appendRow(ann, 4, entry))
	require.Equal(t, query.ResetExpired, restored.reset(ann, tokenAt(rows[2])), "not yet written on")
	restored.putRow(ann, changelog.NewRow(3, []changelog.Entry{entry}, 77, false, noon))
	_, since := restored.since(tokenAt(rows[1]), 0)
	require.Equal(t, tokenAt(changelog.Row{N: 3, X: 77}), since.Next)
	require.Equal(t, query.ResetUnknown, restored.reset(ann, tokenAt(rows[2])))
	require.Equal(t, query.ResetExpired, restored.reset(ann, tokenAt(rows[3])))
}

func TestSince_refusesAMistakeWithoutAReset(t *testing.T) {
	t.Parallel()
	b := setup(t)
	row := b.appendRow(ann, 1, changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "task_1"}, Version: 1})
	ask := func(text string, types ...string) error {
		_, err := b.service.Since(ctx, ann, query.SinceQuery{Token: text, Types: types}, (&lines{}).add)
		return err
	}
	for _, text := range []string{"", "undefined", tokenAt(row)[1:], tokenAt(row) + "A", strings.ToLower(tokenAt(row))} {
		require.ErrorIs(t, ask(text), query.ErrToken, text)
	}
	require.ErrorIs(t, ask(tokenAt(row), "TASK"), query.ErrTypes)
	require.ErrorIs(t, ask(tokenAt(row, "TASK"), "TASK", "NOTE"), query.ErrTypes)
	require.NoError(t, ask(tokenAt(row, "TASK", "NOTE"), "NOTE", "TASK"))
	require.ErrorContains(t, ask(tokenAt(row), "TASKS"), "types")
}

// lagging answers reads that may lag as of a moment ago.
type lagging struct {
	table.Reader
	before table.Reader
	reads  []string
}

func (l *lagging) Peek(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	l.reads = append(l.reads, "Peek")
	return l.before.Peek(ctx, keys)
}

func (l *lagging) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	l.reads = append(l.reads, fmt.Sprint("BatchGet ", len(keys)))
	return l.Reader.BatchGet(ctx, keys)
}

func (l *lagging) Query(ctx context.Context, q table.Query) (table.Page, error) {
	l.reads = append(l.reads, map[bool]string{true: "Query that may lag", false: "Query"}[q.Eventual])
	if q.Eventual {
		return l.before.Query(ctx, q)
	}
	return l.Reader.Query(ctx, q)
}

func (b *fixture) lag(behind *fixture) *lagging {
	l := &lagging{Reader: b.store, before: behind.store}
	b.service = query.New(query.Config{
		Store: l, Registry: product.Registry(), Now: func() time.Time { return b.now }, Fold: fold.String,
	})
	return l
}

func TestSince_servesAtLeastWhatTheLogSays(t *testing.T) {
	t.Parallel()
	b, before := setup(t), setup(t)
	values := repository.Address{User: ann}
	var entries []changelog.Entry
	add := func(at int64, old, now item.Item) item.Item {
		it := b.add(ann, product.Task(), `{"title":"t"}`, now)
		it[entity.AttrVersion] = item.Int(at)
		b.put(it)
		former := it.Clone()
		former[entity.AttrVersion] = item.Int(at - 1)
		delete(former, entity.AttrTTL)
		for name, v := range old {
			former[name] = v
		}
		before.put(former)
		return it
	}
	changed := add(4, nil, nil)
	lapsing := add(5, item.Item{entity.AttrVersion: item.Int(5)}, item.Item{entity.AttrTTL: item.Int(noon.Unix() + 60)})
	same := add(6, item.Item{entity.AttrVersion: item.Int(6)}, nil)
	made := b.add(ann, product.Task(), `{"title":"made"}`, nil)
	gone := add(7, nil, nil)
	require.NoError(t, b.store.Delete(ctx, deletion(gone)))
	b.put(head(values, noon.Add(time.Second)))
	before.put(head(values, noon))
	for _, it := range []item.Item{changed, lapsing, same, made} {
		entries = append(entries, entryOf(it))
	}
	later := repository.NewRevisionID(noon.Add(time.Second), revUUID)
	entries = append(entries, removal(gone), changelog.Head(values, later))
	first := b.appendRow(ann, 1, entries[0])
	b.appendRow(ann, 2, entries...)
	for n := range int64(2) {
		before.put(mustGet(b, device.ChangeKey(ann, n+1)))
	}
	l := b.lag(before)
	got, _ := b.since(tokenAt(first), 0)
	require.Equal(t, []string{
		entryOf(changed).String(),
		strings.TrimSuffix(entryOf(lapsing).String(), "!") + " until " + item.FormatInstant(noon.Add(time.Minute)),
		entryOf(same).String(), entryOf(made).String(), removal(gone).String() + " gone",
		"VALUES  " + later,
	}, got)
	require.Equal(t, []string{"Query that may lag", "Peek", "BatchGet 5"}, l.reads, "all but the one that is as announced")
}

func mustGet(b *fixture, key item.Key) item.Item {
	row, err := b.store.Get(ctx, key)
	require.NoError(b, err)
	return row
}

func TestSince_readsConsistentlyBeforeAReset(t *testing.T) {
	t.Parallel()
	b, before := setup(t), setup(t)
	task := b.add(ann, product.Task(), `{"title":"t"}`, nil)
	row := b.appendRow(ann, 1, entryOf(task))
	l := b.lag(before) // it has not come to row 1
	got, page := b.since(tokenAt(row), 0)
	require.Empty(t, got)
	require.Equal(t, tokenAt(row), page.Next)
	require.Equal(t, []string{"Query that may lag", "Query"}, l.reads)
}
