package revision_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestOrphans_findAnUnfinishedSnapshotForRemoval(t *testing.T) {
	t.Parallel()
	for calls := 1; calls <= 4; calls++ {
		b := newBench(t)
		died := errors.New("the process has died")
		n := 0
		b.fault = func(c memory.Call) error {
			if c.Stage != memory.Before || c.Op == "Get" {
				return nil
			}
			if n++; n > calls {
				return died
			}
			return nil
		}
		_, err := b.commit("", "", words(70)...) // a draft, three loads, and the transaction that is not reached
		b.ErrorIs(err, died)
		b.fault = nil
		b.now = b.now.Add(revision.Patience - time.Minute)
		found, err := b.publisher.Orphans(b.ctx, user)
		b.NoError(err)
		b.Empty(found, "its writer may still be at work")
		b.now = b.now.Add(time.Minute)
		found, err = b.publisher.Orphans(b.ctx, user)
		b.NoError(err)
		b.Len(found, 1)
		b.Equal(today, found[0].Repository)
		_, err = b.notes.Revision(b.ctx, today, found[0].RevID)
		var missing *revision.NotFoundError
		b.ErrorAs(err, &missing, "what was not committed is shown to no caller")
		removed, err := b.publisher.Remove(b.ctx, found[0])
		b.NoError(err)
		b.Equal(found[0].Rows, removed)
		b.Equal([]int{0, 25, 50, 70}[calls-1], removed)
		b.Empty(b.orphans())
		b.now = b.now.Add(24 * time.Hour)
		for _, o := range b.orphans() {
			_, err := b.publisher.Remove(b.ctx, o)
			b.NoError(err)
		}
		b.Zero(b.store.Len())
	}
}

func TestRemove_keepsASlowWriterFromPublishing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	swept := false
	b.fault = func(c memory.Call) error {
		if !swept && c.Op == "Transact" && c.Stage == memory.Before {
			swept = true
			found := b.orphans()
			b.Len(found, 1)
			_, err := b.publisher.Remove(b.ctx, found[0])
			b.NoError(err)
		}
		return nil
	}
	res, err := b.commit("", "", words(40)...)
	b.NoError(err, "the writer begins again")
	base, err := b.notes.Current(b.ctx, today)
	b.NoError(err)
	b.Len(base.State, 40)
	b.Equal(res.RevID, base.Head.RevID)
	page, err := b.notes.History(b.ctx, today, 0, "")
	b.NoError(err)
	b.Len(page.Commits, 1)
}

func TestOrphans_findRowsThatArriveAfterTheirRemoval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	died := errors.New("the process has died")
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			return died
		}
		return nil
	}
	_, err := b.commit("", "", words(40)...)
	b.ErrorIs(err, died)
	b.fault = nil
	found := b.orphans()
	b.Len(found, 1)
	removed, err := b.publisher.Remove(b.ctx, found[0])
	b.NoError(err)
	b.Equal(40, removed)
	late := today.TodoKey(found[0].RevID, 1, "w000")
	b.Empty(b.orphans(), "nothing is left but the sealed draft")
	b.NoError(b.store.Load(b.ctx, []item.Item{late.Item()}))
	_, stray, err := b.publisher.Stray(b.ctx, late)
	b.NoError(err)
	b.False(stray, "the draft still announces it")
	found = b.orphans()
	b.Len(found, 1)
	b.Equal(1, found[0].Rows)
	removed, err = b.publisher.Remove(b.ctx, found[0])
	b.NoError(err)
	b.Equal(1, removed)
}

func TestStray_isNotASnapshotThatIsPublishedMeantime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	writer := newActor(b.store, func([]table.Action) {})
	theirs := notes(revision.NewPublisher(revision.Config{Store: writer, Now: b.clock, NewID: b.newID, Inline: 10}))
	var made revision.Result[[]string]
	busy := writer.begin(func() {
		var err error
		made, err = theirs.Commit(b.ctx, revision.Request[[]string]{
			Repository: today, Source: "hand",
			Build: func(context.Context, []string, time.Time) ([]string, error) { return words(40), nil },
		})
		b.NoError(err)
	})
	for busy && writer.during != "Transact" {
		busy = writer.proceed(done)
	}
	b.True(busy, "the rows are there, and the revision is not")
	drafts, err := b.store.Query(b.ctx, table.Query{
		Partition: repository.UserPK(user), Range: table.Range{Prefix: repository.DraftPrefix()},
	})
	b.NoError(err)
	b.Len(drafts.Items, 1)
	draft, err := repository.ParseRow(drafts.Items[0].Key())
	b.NoError(err)
	gets := 0
	b.fault = func(c memory.Call) error {
		if c.Op == "Get" && c.Stage == memory.After {
			if gets++; gets == 1 {
				busy = writer.proceed(done)
			}
		}
		return nil
	}
	_, stray, err := b.publisher.Stray(b.ctx, today.TodoKey(draft.RevisionID, 1, "w000"))
	b.NoError(err)
	b.False(stray)
	b.False(busy)
	b.Equal(draft.RevisionID, made.RevID)
}
