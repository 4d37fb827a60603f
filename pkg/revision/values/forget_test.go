package values_test

import (
	"slices"
	"testing"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
)

// nodeOf returns a node of a tree.
func nodeIn(t values.Tree, id string) values.Node {
	return t.Nodes[slices.IndexFunc(t.Nodes, func(n values.Node) bool { return n.NodeID == id })]
}

func forgotten(id string) values.Operation {
	return values.Operation{Kind: values.OpForget, NodeID: id}
}
func deleted(id string) values.Operation { return values.Operation{Kind: values.OpDelete, NodeID: id} }

func restored(id string, title *string) values.Operation {
	return values.Operation{Kind: values.OpRestore, NodeID: id, Title: title}
}

func TestForget_removesTheWordsOfADeletedNodeAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := b.plant()
	_, err := b.edit(head.RevID, forgotten(act(2)))
	b.Equal(values.RuleOperationState, broken(t, err)[0].Rule)
	notes := "a sentence"
	head, err = b.edit(head.RevID, values.Operation{Kind: values.OpUpdate, NodeID: act(2), Notes: &notes}, deleted(act(2)))
	b.NoError(err)
	b.now = b.now.Add(time.Hour)
	head, err = b.edit(head.RevID, forgotten(act(2)))
	b.NoError(err)
	n := nodeIn(head.State, act(2))
	b.Equal([]string{"", ""}, []string{n.Title, n.Notes})
	b.Equal(b.now, n.ForgottenAt)
	b.Equal(monday.Add(time.Second), n.DeletedAt)
	read, err := b.service.Current(b.ctx, "ann")
	b.NoError(err)
	b.Equal(head.State, read.State)
	b.now = b.now.Add(time.Hour)
	again, err := b.edit(head.RevID, forgotten(act(2)))
	b.NoError(err)
	b.Equal(n, nodeIn(again.State, act(2)), "the first time stays")

	// In one commit, and of all that a deletion takes along.
	head, err = b.edit(again.RevID, deleted(mil(1)), forgotten(mil(1)), forgotten(mil(2)), forgotten(act(1)))
	b.NoError(err)
	for _, id := range []string{mil(1), mil(2), act(1)} {
		b.Empty(nodeIn(head.State, id).Title)
	}
	d := values.Compare(again.State, head.State)
	b.Len(d.Changed, 3)
}

func TestRestore_bringsATitleForAForgottenNode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head, err := b.edit(b.plant().RevID, deleted(act(2)), forgotten(act(2)))
	b.NoError(err)
	before := b.table()
	for _, ops := range [][]values.Operation{
		{restored(act(2), nil)}, {restored(act(2), text(""))},
		{restored(act(2), text("x")), deleted(act(2)), forgotten(act(1))},
	} {
		_, err = b.edit(head.RevID, ops...)
		rule := values.RuleTitleMissing
		if len(ops) > 1 {
			rule = values.RuleOperationState
		}
		b.Equal(rule, broken(t, err)[0].Rule)
	}
	b.Equal(before, b.table())
	back, err := b.edit(head.RevID, restored(act(2), text("Sleep by eleven")))
	b.NoError(err)
	n := nodeIn(back.State, act(2))
	b.Equal("Sleep by eleven", n.Title)
	b.Zero(n.ForgottenAt)
	b.False(n.Deleted())
	later, err := b.edit(back.RevID, deleted(act(2)))
	b.NoError(err)
	b.Equal("Sleep by eleven", nodeIn(later.State, act(2)).Title)
	// Also by an update of the same commit, and for a node that has its words.
	back, err = b.edit(later.RevID, restored(act(2), text("Sleep")), deleted(act(2)), forgotten(act(2)),
		restored(act(2), nil),
		values.Operation{Kind: values.OpUpdate, NodeID: act(2), Title: text("Sleep well")})
	b.NoError(err)
	b.Equal("Sleep well", nodeIn(back.State, act(2)).Title)
}

// TestCommit_ofATreeCannotForget: a whole tree may have forgotten tombstones as they are, with or without the member
// that a client of before does not know.
func TestCommit_ofATreeCannotForget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head, err := b.edit(b.plant().RevID, deleted(act(2)), forgotten(act(2)), deleted(act(3)))
	b.NoError(err)
	with := func(change func(tree *values.Tree)) error {
		tree := values.Tree{Nodes: slices.Clone(head.State.Nodes), Edges: slices.Clone(head.State.Edges)}
		change(&tree)
		res, err := b.service.Commit(b.ctx, "ann", values.Commit{
			ParentRevID: head.RevID, Message: "review", Source: values.SourceWeeklyReview, Tree: &tree,
		})
		if err == nil {
			b.Equal(head.State, res.State)
			head = res
		}
		return err
	}
	b.NoError(with(func(*values.Tree) {}))
	b.NoError(with(func(tree *values.Tree) { node(tree, act(2)).ForgottenAt = time.Time{} }))
	b.NoError(with(func(tree *values.Tree) {
		tree.Nodes = slices.DeleteFunc(tree.Nodes, func(n values.Node) bool { return n.NodeID == act(2) })
	}))
	for rule, change := range map[revision.Rule]func(*values.Tree){
		values.RuleTombstoneChanged: func(tree *values.Tree) { node(tree, act(2)).Title = "Sleep by ten" },
		values.RuleForgottenAt:      func(tree *values.Tree) { node(tree, act(3)).ForgottenAt = monday },
	} {
		b.Equal(rule, broken(t, with(change))[0].Rule)
	}
	err = with(func(tree *values.Tree) { node(tree, act(2)).ForgottenAt = monday.Add(-time.Hour) })
	b.Equal(values.RuleForgottenAt, broken(t, err)[0].Rule)
	err = with(func(tree *values.Tree) { node(tree, drv(1)).ForgottenAt = monday })
	b.Equal(values.RuleForgottenAt, broken(t, err)[0].Rule)
}

// TestForget_leavesATitleThatTheReleaseBeforeTakes: it refuses a node without one, and writes what it knows of it.
func TestForget_leavesATitleThatTheReleaseBeforeTakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head, err := b.edit(b.plant().RevID, deleted(act(2)), forgotten(act(2)))
	b.NoError(err)
	row, err := b.store.Get(b.ctx, repository.Address{User: "ann"}.NodeKey(head.RevID, act(2)))
	b.NoError(err)
	b.Equal("forgotten", row.Str("title"))
	b.Equal("2026-01-19T09:00:01Z", row.Str("forgottenAt"))
	b.False(row.Has("notes"))
}

func TestRollback_namesTheNodesWhoseWordsComeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.plant()
	head, err := b.edit(first.RevID, deleted(act(2)), forgotten(act(2)), deleted(act(3)))
	b.NoError(err)
	for range 2 { // the second is a repetition
		back, err := b.service.Rollback(b.ctx, "ann", head.RevID, first.RevID, "back", "key")
		b.NoError(err)
		b.Equal([]string{act(2)}, back.Remembered)
		b.Equal("Sleep by ten", nodeIn(back.State, act(2)).Title)
	}
	_, err = b.service.Prune(b.ctx, "ann", revision.Pruning{Keep: revision.Keep{Last: 1}})
	b.NoError(err)
	back, err := b.service.Rollback(b.ctx, "ann", head.RevID, first.RevID, "back", "key")
	b.NoError(err)
	b.Empty(back.Remembered, "what it followed was pruned")
}
