package revision_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestNewPublisher_refusesAMissingPart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	whole := revision.Config{Store: b.store, Now: b.clock, NewID: b.newID}
	for _, spoil := range []func(*revision.Config){
		func(c *revision.Config) { c.Store = nil }, func(c *revision.Config) { c.Now = nil },
		func(c *revision.Config) { c.NewID = nil },
		func(c *revision.Config) { c.Inline = -1 }, func(c *revision.Config) { c.Inline = table.MaxActions + 1 },
	} {
		c := whole
		spoil(&c)
		b.Panics(func() { revision.NewPublisher(c) })
	}
	for _, inline := range []int{0, 1, table.MaxActions} {
		c := whole
		c.Inline = inline
		b.NotPanics(func() { revision.NewPublisher(c) })
	}
}

func TestNew_refusesAShapeWithoutAPart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	whole := revision.Shape[int]{
		SourceAttr: "reason",
		Rows:       func(repository.Address, string, int) []item.Item { return nil },
		Read:       func([]item.Item) (int, error) { return 0, nil },
	}
	b.NotPanics(func() { revision.New(b.publisher, whole) })
	b.Panics(func() { revision.New(nil, whole) })
	for _, spoil := range []func(*revision.Shape[int]){
		func(s *revision.Shape[int]) { s.SourceAttr = "" }, func(s *revision.Shape[int]) { s.Rows = nil },
		func(s *revision.Shape[int]) { s.Read = nil },
	} {
		shape := whole
		spoil(&shape)
		b.Panics(func() { revision.New(b.publisher, shape) })
	}
}

func TestRollback_restoresAnEarlierState(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, err := b.commit("", "", words(3)...)
	b.NoError(err)
	second, err := b.commit(first.RevID, "", words(5)...)
	b.NoError(err)
	_, err = b.notes.Rollback(b.ctx, today, second.RevID, first.RevID, "two\nlines", revision.Receipt{})
	var broken *revision.RuleError
	b.ErrorAs(err, &broken)
	back, err := b.notes.Rollback(b.ctx, today, second.RevID, first.RevID, "as it was", revision.Receipt{})
	b.NoError(err)
	b.Equal(words(3), back.State)
	b.Equal(first.RevID, back.OriginRevID)
	b.Equal(revision.SourceRollback, back.Source)
	now, err := b.notes.Current(b.ctx, today)
	b.NoError(err)
	b.Equal(words(3), now.State)
}

// TestCommit_isOneTransactionUpToInlineActions: nothing goes ahead of it, so what writes ahead may be down.
func TestCommit_isOneTransactionUpToInlineActions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fault = func(c memory.Call) error {
		if c.Op == "Load" {
			return table.ErrThrottled
		}
		return nil
	}
	_, err := b.commit("", "", words(7)...) // the head, the entry, the day, and seven rows
	b.NoError(err)
	b.fault = nil
	for _, key := range []string{"", "key"} {
		b = newBench(t)
		b.publisher = revision.NewPublisher(revision.Config{Store: b.store, Now: b.clock, NewID: b.newID})
		b.notes = notes(b.publisher)
		for _, n := range []int{97, 98, 99, 250} { // around what one transaction takes
			base, err := b.notes.Open(b.ctx, today)
			b.NoError(err)
			res, err := b.commit(base.Head.RevID, keyed(key, n), words(n)...)
			b.NoError(err, "%d rows, key %q", n, key)
			was, err := b.notes.Revision(b.ctx, today, res.RevID)
			b.NoError(err)
			b.Equal(words(n), was.State)
		}
	}
}

// keyed makes a key of each number, unless there is to be none.
func keyed(key string, n int) string {
	if key == "" {
		return ""
	}
	return fmt.Sprint(key, n)
}

// TestPublisher_writesWholeRevisionsOfSeveralRepositories: rows that go ahead belong to some of the revisions
// alone.
func TestPublisher_writesWholeRevisionsOfSeveralRepositories(t *testing.T) {
	t.Parallel()
	tomorrow := repository.Address{User: user, Date: "2026-01-20"}
	for _, sizes := range [][]int{{2, 40}, {40, 2}, {40, 41}, {2, 3}, {6, 6}, {0, 9}, {200, 93}, {200, 94}, {96, 200}} {
		b := newBench(t)
		if sizes[0]+sizes[1] > table.MaxActions { // around what one transaction takes
			b.publisher = revision.NewPublisher(revision.Config{Store: b.store, Now: b.clock, NewID: b.newID})
			b.notes = notes(b.publisher)
		}
		yesterday := repository.Address{User: user, Date: "2026-01-18"}
		named, _, err := b.publisher.Write(b.ctx, user, revision.Receipt{}, true,
			func(context.Context) ([]*revision.Prepared, error) {
				base := revision.Base[[]string]{Repository: yesterday}
				return []*revision.Prepared{b.notes.Prepare(base, b.now, revision.Change[[]string]{State: words(1)})}, nil
			})
		b.NoError(err)
		var first, second revision.Base[[]string]
		revIDs, replayed, err := b.publisher.Write(b.ctx, user, revision.Receipt{Key: "key"}, true,
			func(ctx context.Context) ([]*revision.Prepared, error) {
				var err error
				first, err = b.notes.Open(ctx, today)
				b.NoError(err)
				second, err = b.notes.Open(ctx, tomorrow)
				b.NoError(err)
				return []*revision.Prepared{
					b.notes.Prepare(first, b.now, revision.Change[[]string]{State: words(sizes[0])}),
					b.notes.Prepare(second, b.now, revision.Change[[]string]{
						State: words(sizes[1]), RolledFrom: yesterday, RolledFromRevID: named[0],
					}),
				}, nil
			})
		b.NoError(err)
		b.False(replayed)
		for i, at := range []repository.Address{today, tomorrow} {
			base, err := b.notes.Current(b.ctx, at)
			b.NoError(err)
			b.Equal(revIDs[i], base.Head.RevID)
			b.Equal([]string{"", named[0]}[i], base.Head.RolledFromRevID)
			b.Len(base.State, sizes[i], "%v", sizes)
			was, err := b.notes.Revision(b.ctx, at, revIDs[i])
			b.NoError(err)
			b.Len(was.State, sizes[i])
		}
		b.Empty(b.orphans())
	}
}

// TestPublisher_repeatsAWriteWithoutAParentIfItsHeadMoved: another error is the caller's to judge.
func TestPublisher_repeatsAWriteWithoutAParentIfItsHeadMoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	write := func() ([]string, error) {
		revIDs, _, err := b.publisher.Write(b.ctx, user, revision.Receipt{}, false,
			func(ctx context.Context) ([]*revision.Prepared, error) {
				base, err := b.notes.Open(ctx, today)
				b.NoError(err)
				return []*revision.Prepared{
					b.notes.Prepare(base, b.publisher.When(base.Head), revision.Change[[]string]{State: words(3)})}, nil
			})
		return revIDs, err
	}
	b.fault = on("Transact", memory.Before, table.ErrThrottled)
	_, err := write()
	b.ErrorIs(err, table.ErrThrottled)
	overtaken := false
	b.fault = func(c memory.Call) error {
		if !overtaken && c.Op == "Transact" && c.Stage == memory.Before {
			overtaken = true
			_, err := b.commit("", "", "first")
			b.NoError(err)
		}
		return nil
	}
	revIDs, err := write()
	b.NoError(err)
	b.True(overtaken)
	base, err := b.notes.Current(b.ctx, today)
	b.NoError(err)
	b.Equal(revIDs[0], base.Head.RevID)
}

func TestPublisher_writesEveryRowAheadInTransactions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.publisher = revision.NewPublisher(revision.Config{
		Store: b.store, Now: b.clock, NewID: b.newID, LoadInTransactions: true,
	})
	b.notes = notes(b.publisher)
	_, err := b.commit("", "", words(250)...)
	b.NoError(err)
	base, err := b.notes.Current(b.ctx, today)
	b.NoError(err)
	b.Equal(words(250), base.State)
	b.fault = on("Transact", memory.Before, nil, table.ErrThrottled) // the second hundred of the next
	_, err = b.commit(base.Head.RevID, "", words(250)...)
	b.ErrorIs(err, table.ErrThrottled)
}

// TestPublisher_keepsTheSnapshotIfARefusalFollowsADoubt: the doubtful try may still take effect.
func TestPublisher_keepsTheSnapshotIfARefusalFollowsADoubt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fault = on("Transact", memory.Before, table.ErrUnavailable, table.ErrThrottled)
	_, err := b.commit("", "", words(40)...)
	b.ErrorIs(err, table.ErrUnavailable)
	b.ErrorIs(err, table.ErrThrottled)
	b.fault = nil
	b.Len(b.orphans(), 1)
}

func TestPublisher_triesNoCommitAgainWhoseTimeIsOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(b.ctx)
	b.ctx = ctx
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			cancel()
			return table.ErrConflict
		}
		return nil
	}
	_, err := b.commit("", "", words(3)...)
	b.ErrorIs(err, table.ErrConflict)
	b.NotErrorIs(err, table.ErrUnavailable, "nothing was written for certain")
}

func TestHistory_isReadInPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	empty, err := b.notes.History(b.ctx, today, 0, "")
	b.NoError(err)
	b.Equal(revision.Page{}, empty)
	var ids []string
	parent := ""
	for range 120 {
		res, err := b.commit(parent, "", "word")
		b.NoError(err)
		parent = res.RevID
		ids = append([]string{parent}, ids...)
	}
	for limit, want := range map[int]int{
		-1: 1, 0: revision.DefaultPage, 1: 1, 7: 7, 40: 40, 60: 60, 100: 100, 101: revision.MaxPage,
	} {
		var read []string
		before := ""
		for first := true; first || before != ""; first = false {
			page, err := b.notes.History(b.ctx, today, limit, before)
			b.NoError(err)
			b.Len(page.Commits, min(want, len(ids)-len(read)), "limit %d", limit)
			for _, c := range page.Commits {
				read = append(read, c.RevID)
			}
			before = page.Before
			b.True(before == "" || len(page.Commits) == want, "a page that is not full is the last")
		}
		b.Equal(ids, read, "limit %d", limit)
	}
	_, err = b.notes.History(b.ctx, today, 0, "rev_1")
	b.ErrorIs(err, entity.ErrID)
}

func TestDraft_isForgottenADayAfterItsWriterBegan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	begun := b.now
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			return table.ErrUnavailable
		}
		return nil
	}
	_, err := b.commit("", "", words(40)...)
	b.ErrorIs(err, table.ErrUnavailable)
	b.fault = nil
	named := func(after time.Duration) []revision.Orphan {
		b.now = begun.Add(after)
		orphans, err := b.publisher.Orphans(b.ctx, user)
		b.NoError(err)
		return orphans
	}
	b.Empty(named(15*time.Minute-time.Second), "its writer may still be at work")
	found := named(15 * time.Minute)
	b.Len(found, 1)
	_, err = b.publisher.Remove(b.ctx, found[0])
	b.NoError(err)
	b.Empty(named(24*time.Hour - time.Second))
	_, err = b.publisher.Remove(b.ctx, found[0])
	b.NoError(err)
	b.Equal(1, b.store.Len(), "the draft stays")
	b.Len(named(24*time.Hour), 1)
	_, err = b.publisher.Remove(b.ctx, found[0])
	b.NoError(err)
	b.Zero(b.store.Len())
}

func TestStray_isARowOfASnapshotAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const revID = "rev_20260302T080000Z_0123456789abcdef0123456789abcdef"
	for _, key := range []item.Key{
		today.HeadKey(), today.LogKey(revID), today.DraftKey(revID), entity.MetaKey(user), {PK: "x", SK: "y"},
	} {
		_, stray, err := b.publisher.Stray(b.ctx, key)
		b.NoError(err, key)
		b.False(stray, key)
	}
	o, stray, err := b.publisher.Stray(b.ctx, today.TodoKey(revID, 1, "act_1"))
	b.NoError(err)
	b.True(stray)
	b.Equal(revision.Orphan{Repository: today, RevID: revID, StartedAt: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}, o)
}

func TestPart_isTheRowsUnderAPrefix(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	res, err := b.commit("", "", words(12)...)
	b.NoError(err)
	part, err := b.notes.Part(b.ctx, today, res.RevID, today.TodoKey(res.RevID, 3, "w002").SK)
	b.NoError(err)
	b.Equal([]item.Item{today.TodoKey(res.RevID, 3, "w002").Item()}, part)
	b.fault = on("Query", memory.Before, table.ErrThrottled)
	_, err = b.notes.Part(b.ctx, today, res.RevID, "")
	b.ErrorIs(err, table.ErrThrottled)
}

func TestReceipt_hasAKeyOf1To255PrintableCharacters(t *testing.T) {
	t.Parallel()
	for key, fits := range map[string]bool{
		strings.Repeat("k", 255): true, strings.Repeat("ä", 255): true, strings.Repeat("k", 256): false,
		strings.Repeat("ä", 256): false, "a b": true, "a\tb": false, "\xff": false,
	} {
		b := newBench(t)
		_, err := b.commit("", key, "word")
		if fits {
			b.NoError(err, "%.10q", key)
		} else {
			b.ErrorIs(err, idempotency.ErrKey, "%.10q", key)
		}
	}
	b := newBench(t)
	_, err := b.commit("", "key", "one")
	b.NoError(err)
	_, err = b.commit("", "key", "another")
	b.ErrorIs(err, idempotency.ErrKeyReused)
	b.now = b.now.Add(24*time.Hour - time.Second)
	again, err := b.commit("", "key", "one")
	b.NoError(err)
	b.True(again.Replayed)
	b.now = b.now.Add(time.Second)
	_, err = b.commit("", "key", "one")
	var moved *revision.ConflictError
	b.ErrorAs(err, &moved, "after a day it is another request")
	_, err = b.commit(again.RevID, "key", "another")
	b.NoError(err)
}

func TestCheckMessage_namesWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for message, rule := range map[string]revision.Rule{
		strings.Repeat("ä", 500): "", strings.Repeat("ä", 501): revision.RuleMessageLong, "": "",
		"\xff":       revision.RuleMessageText,
		"two\nlines": revision.RuleMessageText,
	} {
		var found revision.Violations
		b.notes.CheckCommit(&found, message, "hand")
		var broken *revision.RuleError
		if err := found.Err(); rule == "" {
			b.NoError(err)
		} else {
			b.ErrorAs(err, &broken)
			b.Equal(rule, broken.Violations[0].Rule)
		}
	}
	var found revision.Violations
	b.notes.CheckCommit(&found, "message", "foot")
	b.EqualError(found.Err(), "1 rules are broken: must be one of hand (source-unknown)")
	found.Add("order", "act_1", "/todos/0", "comes twice")
	b.EqualError(found.Err(), "2 rules are broken: must be one of hand (source-unknown); ...")
	var broken *revision.RuleError
	b.ErrorAs(found.Err(), &broken)
	b.Equal([]entity.FieldError{
		{Pointer: "/reason", Detail: "must be one of hand (source-unknown)"},
		{Pointer: "/todos/0", Detail: "act_1: comes twice (order)"},
	}, broken.Fields())
	for i := range 300 {
		found.Add("order", strings.Repeat("x", 100), "", "%s", fmt.Sprint(i, strings.Repeat("y", 500)))
	}
	b.Equal(256, found.Len())
	b.ErrorAs(found.Err(), &broken)
	b.Equal(strings.Repeat("x", 64)+"…", broken.Violations[255].Subject)
	b.Equal("253"+strings.Repeat("y", 397)+"…", broken.Violations[255].Detail)
}

func TestRevision_errorsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	none := revision.ConflictError{Repository: today}
	require.Equal(t, fmt.Sprint(today)+": the repository has no revision yet", none.Error())
	moved := revision.ConflictError{Repository: today, Current: revision.Head{RevID: "rev_1"}}
	require.Equal(t, fmt.Sprint(today)+": the head is rev_1", moved.Error())
	empty := revision.NotFoundError{Repository: today}
	require.Equal(t, fmt.Sprint(today)+": the repository has no revision", empty.Error())
	missing := revision.NotFoundError{Repository: today, What: "rev_1"}
	require.Equal(t, fmt.Sprint(today)+": rev_1 does not exist", missing.Error())
}
