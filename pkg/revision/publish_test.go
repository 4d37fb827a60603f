package revision_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// notes is a repository of the simplest kind: one row for each word, of a plan's to-dos.
func notes(p *revision.Publisher) *revision.Repository[[]string] {
	return revision.New(p, revision.Shape[[]string]{
		SourceAttr: "reason", Sources: []string{"hand"},
		Rows: func(at repository.Address, revID string, words []string) []item.Item {
			var rows []item.Item
			for i, word := range words {
				rows = append(rows, at.TodoKey(revID, i+1, word).Item())
			}
			return rows
		},
		Read: func(rows []item.Item) ([]string, error) {
			var words []string
			for _, row := range rows {
				key, err := repository.ParseSnapshotKey(row.Str("SK"))
				if err != nil {
					return nil, err
				}
				words = append(words, key.(repository.TodoRow).ActionID)
			}
			return words, nil
		},
	})
}

// publishFixture is notes over a store whose calls can be made to fail.
type publishFixture struct {
	*require.Assertions
	ctx       context.Context
	now       time.Time
	ids       int
	store     *memory.Store
	publisher *revision.Publisher
	notes     *revision.Repository[[]string]
	fault     func(memory.Call) error
}

func newBench(t *testing.T) *publishFixture {
	t.Helper()
	b := &publishFixture{Assertions: require.New(t), ctx: t.Context(), now: time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)}
	b.store = memory.New(b.clock, memory.Options{Fault: func(c memory.Call) error {
		if b.fault != nil {
			return b.fault(c)
		}
		return nil
	}})
	b.publisher = revision.NewPublisher(revision.Config{Store: b.store, Now: b.clock, NewID: b.newID, Inline: 10})
	b.notes = notes(b.publisher)
	return b
}

func (b *publishFixture) clock() time.Time { return b.now }

func (b *publishFixture) newID() string {
	b.ids++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", b.ids, b.ids)
}

func (b *publishFixture) commit(parent, key string, words ...string) (revision.Result[[]string], error) {
	return b.notes.Commit(b.ctx, revision.Request[[]string]{
		Repository: today, ParentRevID: parent, Source: "hand",
		Receipt: revision.Receipt{Key: key, Request: []any{parent, words}},
		Build:   func(context.Context, []string, time.Time) ([]string, error) { return words, nil },
	})
}

func words(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("w%03d", i)
	}
	return out
}

// on fails the calls of an operation at a stage, as often as there are errors; nil lets one pass.
func on(op string, stage memory.Stage, errs ...error) func(memory.Call) error {
	return func(c memory.Call) error {
		if c.Op != op || c.Stage != stage || len(errs) == 0 {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}
}

func (b *publishFixture) orphans() []revision.Orphan {
	b.now = b.now.Add(revision.Patience)
	found, err := b.publisher.Orphans(b.ctx, user)
	b.NoError(err)
	return found
}

func TestPublisher_doubtsARefusalAfterADoubtfulTry(t *testing.T) {
	t.Parallel()
	for _, later := range []error{table.ErrThrottled, table.ErrConflict} {
		b := newBench(t)
		b.fault = on("Transact", memory.Before, table.ErrUnavailable, later, later, later, later)
		_, err := b.commit("", "", words(3)...)
		b.ErrorIs(err, table.ErrUnavailable)
		b.ErrorIs(err, later)
	}
	b := newBench(t)
	b.fault = on("Transact", memory.Before, table.ErrThrottled)
	_, err := b.commit("", "", words(3)...)
	b.ErrorIs(err, table.ErrThrottled)
	b.NotErrorIs(err, table.ErrUnavailable)
}

func TestPublisher_keepsTheSnapshotOfADoubtfulPublication(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lost := table.ErrUnavailable
	b.fault = on("Transact", memory.After, lost, lost, lost, lost, lost)
	_, err := b.commit("", "key", words(40)...)
	b.ErrorIs(err, table.ErrUnavailable)
	b.fault = nil
	base, err := b.notes.Current(b.ctx, today)
	b.NoError(err)
	b.Len(base.State, 40)
	again, err := b.commit("", "key", words(40)...)
	b.NoError(err)
	b.True(again.Replayed)
	b.Equal(base.Head.RevID, again.RevID)
	b.Empty(b.orphans())
}

func TestPublisher_removesWhatALoserWrote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, err := b.commit("", "", words(40)...)
	b.NoError(err)
	var winner revision.Result[[]string]
	raced := false
	b.fault = func(c memory.Call) error {
		if !raced && c.Op == "Transact" && c.Stage == memory.Before {
			raced = true
			winner, err = b.commit(first.RevID, "", words(2)...)
			b.NoError(err)
		}
		return nil
	}
	_, err = b.commit(first.RevID, "", words(41)...)
	var moved *revision.ConflictError
	b.ErrorAs(err, &moved)
	b.Equal(winner.RevID, moved.Current.RevID)
	b.Equal(1+2+40+2+1, b.store.Len(), "the head, two entries, two snapshots, the day")
}

func TestPublisher_recognisesAPublicationThatWasOvertaken(t *testing.T) {
	t.Parallel()
	for _, size := range []int{3, 40} { // in the transaction, and ahead of it
		b := newBench(t)
		var onTop revision.Result[[]string]
		overtaken := false
		b.fault = func(c memory.Call) error {
			if overtaken || c.Op != "Transact" || c.Stage != memory.After || len(c.Keys) == 1 {
				return nil
			}
			overtaken = true
			base, err := b.notes.Current(b.ctx, today)
			b.NoError(err)
			onTop, err = b.commit(base.Head.RevID, "", "another")
			b.NoError(err)
			return table.ErrUnavailable
		}
		res, err := b.commit("", "", words(size)...)
		b.NoError(err, "the log says so, though the head has moved on")
		b.Equal(res.RevID, onTop.ParentRevID)
		now, err := b.notes.Current(b.ctx, today)
		b.NoError(err)
		b.Equal(onTop.RevID, now.Head.RevID)
		was, err := b.notes.Revision(b.ctx, today, res.RevID)
		b.NoError(err)
		b.Equal(words(size), was.State)
		b.Empty(b.orphans())
	}
}

func TestPublisher_answersATwinAfterTheReceiptAsARepetition(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"Get", "Transact"} { // after the receipt was read; before the twin's own transaction
		b := newBench(t)
		var twin revision.Result[[]string]
		met := false
		b.fault = func(c memory.Call) error {
			stage := memory.Before
			if op == "Get" {
				stage = memory.After
			}
			if !met && c.Op == op && c.Stage == stage {
				met = true
				var err error
				twin, err = b.commit("", "key", words(4)...)
				b.NoError(err)
			}
			return nil
		}
		res, err := b.commit("", "key", words(4)...)
		b.NoError(err, op)
		b.True(res.Replayed, op)
		b.Equal(twin.Revision, res.Revision)
	}
}

func TestRevision_showsNoSnapshotThatLostRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	res, err := b.commit("", "", words(4)...)
	b.NoError(err)
	b.NoError(b.store.Delete(b.ctx, table.Delete{Key: today.TodoKey(res.RevID, 2, "w001")}))
	_, err = b.notes.Revision(b.ctx, today, res.RevID)
	b.ErrorIs(err, revision.ErrBroken)
}

func TestLongestRising_isKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		places []int
		want   []bool
	}{
		{nil, []bool{}},
		{[]int{1, 2, 3}, []bool{true, true, true}},
		{[]int{3, 1, 2}, []bool{false, true, true}},
		{[]int{2, 3, 4, 1}, []bool{true, true, true, false}},
		{[]int{5, 1, 4, 2, 3}, []bool{false, true, false, true, true}},
	} {
		require.Equal(t, c.want, revision.LongestRising(c.places))
	}
}

func TestPublisher_doubtsTheOutcomeOfAnUnknownError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	odd := errors.New("the line went dead")
	b.fault = on("Transact", memory.After, odd)
	res, err := b.commit("", "", words(40)...)
	b.NoError(err, "the repetition finds what the first try did")
	base, err := b.notes.Current(b.ctx, today)
	b.NoError(err)
	b.Equal(res.RevID, base.Head.RevID)

	b.fault = on("Load", memory.After, odd)
	_, err = b.commit(res.RevID, "", words(40)...)
	b.ErrorIs(err, odd)
	b.Len(b.orphans(), 1, "rows may still be on their way: the draft stays until a later look")
}
