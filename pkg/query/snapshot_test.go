package query_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/table"
	"nexus/pkg/text/fold"
)

func TestSnapshot_hasAllThatTheUserHas(t *testing.T) {
	t.Parallel()
	for _, most := range []int{0, 1, 5, 6} {
		b := setup(t)
		want := someOfEach(b)
		b.add(bob, product.Note(), `{"title":"bob's"}`, nil)
		row := b.appendRow(ann, 1, changelog.Head(repository.Address{User: ann}, repository.NewRevisionID(noon, revUUID)))
		got, next, pages := b.snapshot(most)
		require.Equal(t, want, got)
		require.Equal(t, tokenAt(row), next)
		require.Equal(t, map[int]int{0: 1, 1: 6, 5: 2, 6: 1}[most], pages, "in pages of %d", most)
	}
}

func TestSnapshot_showsEntitiesWithoutWhatMovesWithoutAVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	someOfEach(b)
	b.put(product.NewUserMeta(ann, noon))
	var l lines
	_, err := b.service.Snapshot(ctx, ann, query.SnapshotQuery{}, l.add)
	require.NoError(t, err)
	for _, c := range l.all {
		require.Equal(t, c.Item == nil, c.Entity == nil)
		require.False(t, c.Item.Has(product.AttrHasExceptions), "%s", c.Type)
		require.False(t, c.Item.Has(product.AttrStats), "%s", c.Type)
		switch c.Type {
		case entity.TypeInstance:
			require.Equal(t, "other", c.Item.Str("title"))
			require.False(t, c.Item.Has(product.AttrStartUtc), "not filled in from the series")
		case product.TypeReminder:
			require.Equal(t, "r", c.Item.Str("title"))
		}
	}
}

func TestSnapshot_keepsTheTokenOfItsBeginning(t *testing.T) {
	t.Parallel()
	b := setup(t)
	someOfEach(b)
	var l lines
	l.most = 2
	page, err := b.service.Snapshot(ctx, ann, query.SnapshotQuery{}, l.add)
	require.NoError(t, err)
	require.NotEmpty(t, page.Cursor)
	late := b.add(ann, product.Event(), `{"title":"sorts before the cursor","startUtc":"2025-12-01T10:00:00Z",
		"endUtc":"2025-12-01T11:00:00Z","startTzid":"UTC","endTzid":"UTC"}`, nil)
	_, err = b.store.Update(ctx, table.Update{Key: late.Key(), Set: item.Item{"title": item.String("x")}})
	require.NoError(t, err)
	b.appendRow(ann, 1, entryOf(late))
	l.most = 0
	page, err = b.service.Snapshot(ctx, ann, query.SnapshotQuery{Cursor: page.Cursor}, l.add)
	require.NoError(t, err)
	got, _ := b.since(page.Next, 0)
	require.Equal(t, []string{entryOf(late).String()}, got, "what changed since the first page comes first")
}

func TestSnapshot_resetsOnceItsTokenIsGoodNoMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	someOfEach(b)
	b.appendRow(ann, 1, changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "task_1"}, Version: 1})
	l := lines{most: 2}
	page, err := b.service.Snapshot(ctx, ann, query.SnapshotQuery{}, l.add)
	require.NoError(t, err)
	var reset *query.ResetError
	b.now = b.now.Add(80 * 24 * time.Hour)
	_, err = b.service.Snapshot(ctx, ann, query.SnapshotQuery{Cursor: page.Cursor}, l.add)
	require.ErrorAs(t, err, &reset)
	require.Equal(t, query.ResetExpired, reset.Reason)
	config := query.Config{
		Store: b.store, Registry: product.Registry(), Now: func() time.Time { return noon }, Fold: fold.String, Form: 1,
	}
	_, err = query.New(config).Snapshot(ctx, ann, query.SnapshotQuery{Cursor: page.Cursor}, l.add)
	require.ErrorAs(t, err, &reset)
	require.Equal(t, query.ResetForm, reset.Reason)
	b.now = noon
	b.readUnits()
	_, err = b.service.Snapshot(ctx, ann, query.SnapshotQuery{Cursor: page.Cursor}, (&lines{}).add)
	require.NoError(t, err)
	require.InDelta(t, 0.5+6, b.readUnits(), 0, "its row of the log, six types")
}

func TestSnapshot_followsTypesAndTheSettings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want := someOfEach(b)
	got, next, _ := b.snapshot(1, product.TypeNote, entity.TypeMaster)
	require.Equal(t, []string{want[0], want[7], want[8]}, got)
	row := b.appendRow(ann, 1, changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "task_1"}, Version: 9})
	got, page := b.since(next, 0)
	require.Empty(t, got)
	require.Equal(t, tokenAt(row, product.TypeNote, entity.TypeMaster), page.Next, "rows without its types move it on")
	_, err := b.service.Since(ctx, ann, query.SinceQuery{
		Token: page.Next, Types: []string{entity.TypeUserMeta, entity.TypeMaster, product.TypeNote},
	}, (&lines{}).add)
	require.NoError(t, err, "to name the settings changes nothing")
	got, _, _ = b.snapshot(0, changelog.TypePlan)
	require.Equal(t, append(want[:1:1], want[2:5]...), got)
}

func TestSnapshot_refusesACursorOfAnotherQuestion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	someOfEach(b)
	l := lines{most: 2}
	page, err := b.service.Snapshot(ctx, ann, query.SnapshotQuery{Types: []string{"EVENT", "INSTANCE"}}, l.add)
	require.NoError(t, err)
	require.NotEmpty(t, page.Next, "it is over")
	l = lines{most: 1}
	page, err = b.service.Snapshot(ctx, ann, query.SnapshotQuery{Types: []string{"EVENT", "INSTANCE"}}, l.add)
	require.NoError(t, err)
	list, err := b.service.All(ctx, ann, query.AllQuery{Type: product.Event(), Limit: 1})
	require.NoError(t, err)
	_, err = b.service.Snapshot(ctx, ann, query.SnapshotQuery{Types: []string{"EVENTS"}}, l.add)
	require.ErrorContains(t, err, "types")
	for _, c := range []struct {
		user string
		q    query.SnapshotQuery
		want error
	}{
		{bob, query.SnapshotQuery{Cursor: page.Cursor}, query.ErrCursor},
		{ann, query.SnapshotQuery{Cursor: page.Cursor + "A"}, query.ErrCursor},
		{ann, query.SnapshotQuery{Cursor: list.Next + "e30"}, query.ErrCursor},
		{ann, query.SnapshotQuery{Cursor: page.Cursor, Types: []string{"EVENT"}}, query.ErrTypes},
		{ann, query.SnapshotQuery{Cursor: page.Cursor, Types: []string{"INSTANCE", "EVENT"}}, nil},
		{ann, query.SnapshotQuery{Cursor: page.Cursor}, nil},
	} {
		_, err := b.service.Snapshot(ctx, c.user, c.q, (&lines{}).add)
		require.ErrorIs(t, err, c.want)
	}
}

// An empty user: the log and the settings. Then the year of a user: a unit for each 4 KB, rounded once for each type.
func TestSnapshot_costsWhatItReads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.snapshot(0)
	require.Equal(t, map[string]int{"Query": 1 + 7, "BatchGet": 2}, b.trips())
	require.InDelta(t, 1+7+125, b.readUnits(), 0, "the log, seven types; settings, values and 123 days of plans")
	for i := range 100 {
		b.add(ann, product.Note(), fmt.Sprintf(`{"title":"%d","body":"%s"}`, i, strings.Repeat("x", 800)), nil)
	}
	b.readUnits()
	b.snapshot(0, product.TypeNote)
	require.Equal(t, map[string]int{"Query": 2, "BatchGet": 1}, b.trips())
	require.InDelta(t, 1+1+26, b.readUnits(), 0)
}

func TestSnapshot_isBrakedToThirtyPagesAMinute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 30 {
		b.snapshot(0)
	}
	b.now = b.now.Add(15 * time.Second)
	_, err := b.service.Snapshot(ctx, ann, query.SnapshotQuery{}, (&lines{}).add)
	var busy *query.BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, 45*time.Second, busy.RetryAfter)
	_, err = b.service.Snapshot(ctx, bob, query.SnapshotQuery{}, (&lines{}).add)
	require.NoError(t, err, "others are not")
	b.now = b.now.Add(busy.RetryAfter)
	b.snapshot(0)
}

// digestOf computes what docs/sync.md says of a digest.
func digestOf(texts ...string) string {
	sum := make([]byte, 16)
	for _, text := range texts {
		one := sha256.Sum256([]byte(text))
		for i := range sum {
			sum[i] ^= one[i]
		}
	}
	return hex.EncodeToString(sum)
}

func TestCheck_isTheDigestOfAllThings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	shown := someOfEach(b)
	var texts []string
	for _, line := range shown {
		line, _, lapses := strings.Cut(line, " until ")
		if lapses {
			line += "!"
		}
		if !strings.HasPrefix(line, "PLAN ") {
			texts = append(texts, strings.ReplaceAll(line, "  ", " "))
		}
	}
	row := b.appendRow(ann, 7, changelog.Entry{Ref: entity.Ref{Type: product.TypeTask, ID: "task_1"}, Version: 9})
	got, err := b.service.Check(ctx, ann, nil)
	require.NoError(t, err)
	require.Equal(t, len(texts), got.Count)
	require.Equal(t, digestOf(texts...), hex.EncodeToString(got.Digest[:]))
	require.Equal(t, tokenAt(row), got.Next)

	_, err = b.service.Check(ctx, ann, nil)
	var busy *query.BusyError
	require.ErrorAs(t, err, &busy)
	b.now = b.now.Add(time.Minute)
	got, err = b.service.Check(ctx, ann, []string{product.TypeNote, changelog.TypePlan})
	require.NoError(t, err)
	require.Equal(t, 2, got.Count)
	require.Equal(t, digestOf(texts[0], texts[5]), hex.EncodeToString(got.Digest[:]))
	require.Equal(t, tokenAt(row, product.TypeNote, changelog.TypePlan), got.Next)
	b.now = b.now.Add(time.Minute)
	_, err = b.service.Check(ctx, ann, []string{"TASKS"})
	require.ErrorContains(t, err, "types")
}
