package values_test

import (
	"testing"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/idempotency"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
)

func commitOf(parent values.Result) values.Commit {
	return values.Commit{
		ParentRevID: parent.RevID, Message: "again", Source: values.SourceDailyUpdate, Tree: &parent.State,
	}
}

func TestCommit_takesATreeThatWasReadAsItIs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.plant()
	base, err := b.service.Current(b.ctx, "ann")
	b.NoError(err)
	b.Equal(first.State, base.State)
	second := b.commit(first.RevID, base.State)
	b.Equal(base.State, second.State)
	b.Equal(first.RevTs.Add(time.Second), second.RevTs, "two commits in one second are a second apart in history")
	b.Equal(first.RevID, second.ParentRevID)
}

func TestCommit_onAnotherParentIsAConflictWithTheHead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.plant()
	second := b.commit(first.RevID, first.State)
	for _, parent := range []string{"", first.RevID, repository.NewRevisionID(monday, uuid(99))} {
		before := b.store.Len()
		_, err := b.edit(parent, values.Operation{Kind: values.OpComplete, NodeID: act(1)})
		var conflict *revision.ConflictError
		b.ErrorAs(err, &conflict)
		b.Equal(second.RevID, conflict.Current.RevID)
		b.Equal(before, b.store.Len())
	}
}

func TestCommit_answersARepetitionWithTheFirstResult(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.plant()
	c := commitOf(first)
	c.IdempotencyKey = "monday"
	made, err := b.service.Commit(b.ctx, "ann", c)
	b.NoError(err)
	b.False(made.Replayed)
	rows := b.store.Len()
	again, err := b.service.Commit(b.ctx, "ann", c)
	b.NoError(err)
	b.True(again.Replayed)
	b.Equal(made.Revision, again.Revision)
	b.Equal(rows, b.store.Len())

	c.Message = "something else"
	_, err = b.service.Commit(b.ctx, "ann", c)
	b.ErrorIs(err, idempotency.ErrKeyReused)
	b.now = b.now.Add(24 * time.Hour)
	c.ParentRevID = made.RevID
	_, err = b.service.Commit(b.ctx, "ann", c)
	b.NoError(err, "a key is kept for a day")
	c.IdempotencyKey = "a\nb"
	_, err = b.service.Commit(b.ctx, "ann", c)
	b.ErrorIs(err, idempotency.ErrKey)
}

func TestCurrent_isMissingForATreeThatWasNeverCommitted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.service.Current(b.ctx, "ann")
	b.True(isNotFound(err))
	first := b.plant()
	_, err = b.service.Revision(b.ctx, "ben", first.RevID)
	b.True(isNotFound(err), "another user's")
	for _, id := range []string{"", "rev_1", "rev_#", repository.NewRevisionID(monday, uuid(99))} {
		_, err = b.service.Revision(b.ctx, "ann", id)
		b.True(isNotFound(err), id)
	}
	_, err = b.service.AsOf(b.ctx, "ann", monday.Add(-time.Second))
	b.True(isNotFound(err))
	_, err = b.service.Children(b.ctx, "ann", first.RevID, "a#b")
	b.True(isNotFound(err))
	_, err = b.service.Current(b.ctx, "a#b")
	b.ErrorIs(err, entity.ErrID)
}

func TestHistory_isReadInPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.plant()
	want := []string{res.RevID}
	for range 6 {
		res = b.commit(res.RevID, res.State)
		want = append([]string{res.RevID}, want...)
	}
	var got []string
	before := ""
	for range 10 {
		page, err := b.service.History(b.ctx, "ann", 3, before)
		b.NoError(err)
		for _, c := range page.Commits {
			got = append(got, c.RevID)
		}
		if before = page.Before; before == "" {
			break
		}
	}
	b.Equal(want, got)
	_, err := b.service.History(b.ctx, "ann", 3, "rev_1")
	b.ErrorIs(err, entity.ErrID)
}

func TestRollback_restoresTheTreeAndKeepsHistory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.plant()
	second, err := b.edit(first.RevID,
		values.Operation{Kind: values.OpDelete, NodeID: mil(1)},
		values.Operation{
			Kind: values.OpCreate, NodeID: act(9), NodeType: values.Action, Title: text("Stretch"), ParentID: drv(1),
		})
	b.NoError(err)
	third, err := b.service.Rollback(b.ctx, "ann", second.RevID, first.RevID, "too much", "")
	b.NoError(err)
	b.Equal(first.State, third.State)
	base, err := b.service.Current(b.ctx, "ann")
	b.NoError(err)
	b.Equal(first.State, base.State)
	b.Equal(revision.SourceRollback, third.Source)
	b.Equal(first.RevID, third.OriginRevID)
	page, err := b.service.History(b.ctx, "ann", 0, "")
	b.NoError(err)
	b.Len(page.Commits, 3)
	kept, err := b.service.Revision(b.ctx, "ann", second.RevID)
	b.NoError(err)
	b.Equal(second.Revision, kept)

	_, err = b.service.Rollback(b.ctx, "ann", first.RevID, second.RevID, "stale", "")
	var conflict *revision.ConflictError
	b.ErrorAs(err, &conflict)
	_, err = b.service.Rollback(b.ctx, "ann", third.RevID, repository.NewRevisionID(monday, uuid(98)), "nowhere", "")
	b.True(isNotFound(err))
}
