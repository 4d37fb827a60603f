package values_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
)

// randomTrees grows random trees.
type randomTrees struct {
	luck *rand.Rand
	ids  int
}

func newWood(seed uint64) *randomTrees { return &randomTrees{luck: rand.New(rand.NewPCG(seed, 7))} }

func (w *randomTrees) newID() string {
	w.ids++
	return uuid(w.ids)
}

func (w *randomTrees) pick(ids []string) string { return ids[w.luck.IntN(len(ids))] }

// operation is any operation, sensible or not.
func (w *randomTrees) operation(t values.Tree) values.Operation {
	ids := []string{"", "x#y", act(999999)}
	for _, n := range t.Nodes {
		ids = append(ids, n.NodeID)
	}
	title := fmt.Sprintf("title %d", w.luck.IntN(100))
	types := []values.NodeType{
		values.Driver, values.Milestone, values.Milestone, values.Action, values.Action, values.Action, "GOAL",
	}
	o := values.Operation{NodeID: w.pick(ids)}
	switch n := w.luck.IntN(20); {
	case n < 7:
		o.Kind, o.NodeID, o.NodeType, o.Title = values.OpCreate, "", types[w.luck.IntN(len(types))], &title
		if o.NodeType != values.Driver {
			o.ParentID = w.pick(ids)
		}
	case n < 9:
		o.Kind, o.Title = values.OpUpdate, &title
	case n < 12:
		o.Kind, o.ParentID, o.Position = values.OpMove, w.pick(ids), w.luck.IntN(4)
	case n < 13:
		o.Kind, o.ParentID = values.OpLink, w.pick(ids)
	case n < 14:
		o.Kind, o.ParentID = values.OpUnlink, w.pick(ids)
	case n < 16:
		o.Kind, o.Order = values.OpReorder, children(t, o.NodeID)
		w.luck.Shuffle(len(o.Order), func(i, j int) { o.Order[i], o.Order[j] = o.Order[j], o.Order[i] })
	default:
		o.Kind = []values.OperationKind{
			values.OpComplete, values.OpReopen, values.OpArchive, values.OpDelete, values.OpRestore,
		}[w.luck.IntN(5)]
	}
	return o
}

// grow applies random operations one at a time, without those that are refused.
func (w *randomTrees) grow(t testing.TB, tree values.Tree, steps int) values.Tree {
	for range steps {
		var broken revision.Violations
		next := values.Edit(&broken, tree, monday, w.newID, []values.Operation{w.operation(tree)})
		if broken.Len() == 0 {
			require.Less(t, len(next.Nodes), values.MaxNodes)
			tree = next
		}
	}
	return tree
}

func TestApply_givesTheOtherTree(t *testing.T) {
	t.Parallel()
	for seed := range 60 {
		w := newWood(uint64(seed))
		a := w.grow(t, values.Tree{}, 40)
		b := w.grow(t, a, 1+w.luck.IntN(60))
		c := w.grow(t, values.Tree{}, 40) // of another root
		for _, pair := range [][2]values.Tree{{a, b}, {b, a}, {a, c}, {values.Tree{}, b}, {b, values.Tree{}}} {
			require.Equal(t, pair[1], values.Compare(pair[0], pair[1]).Apply(pair[0]), "seed %d", seed)
		}
		require.Empty(t, values.Compare(b, b))
	}
}

func TestCompare_namesOnlyWhatMoved(t *testing.T) {
	t.Parallel()
	before, after, broken := edited(t,
		op{
			Kind: values.OpCreate, NodeID: act(8), NodeType: values.Action, Title: text("Rest"), ParentID: drv(1), Position: 1,
		},
		op{Kind: values.OpMove, NodeID: act(1), ParentID: drv(2), Position: 1})
	require.Empty(t, broken)
	d := values.Compare(before, after)
	require.Len(t, d.Moved, 1, "those that made room have not moved")
	require.Equal(t, mil(2), d.Moved[0].Before.ParentNodeID)
	require.Equal(t, drv(2), d.Moved[0].After.ParentNodeID)
	require.Len(t, d.Added.Edges, 1)
	require.Empty(t, d.Removed)
	require.Len(t, d.Changed, 1)
}

func TestCommit_takesWhatOperationsMake(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := newWood(42)
	res := b.plant()
	for range 30 {
		next := w.grow(t, res.State, 6)
		whole := values.Tree{Nodes: slices.Clone(next.Nodes), Edges: slices.Clone(next.Edges)}
		made, err := b.service.Commit(b.ctx, "ann", values.Commit{
			ParentRevID: res.RevID, Message: "m", Source: values.SourceDailyUpdate, Tree: strip(res.State, whole),
		})
		b.NoError(err)
		for i := range made.State.Nodes { // the moment of creation alone is the commit's
			if node(&res.State, made.State.Nodes[i].NodeID) == nil {
				made.State.Nodes[i].CreatedAt = next.Nodes[i].CreatedAt
			}
		}
		b.Equal(next, made.State)
		base, err := b.service.Current(b.ctx, "ann")
		b.NoError(err)
		res = values.Result{Revision: values.Revision{Commit: made.Commit, State: base.State}}
	}
}

// strip leaves out of a tree what the server says of new nodes.
func strip(before, t values.Tree) *values.Tree {
	for i := range t.Nodes {
		if node(&before, t.Nodes[i].NodeID) == nil {
			t.Nodes[i].CreatedAt = values.Node{}.CreatedAt
		}
	}
	return &t
}

func TestRollback_returnsARandomHistoryToEachRevision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := newWood(43)
	head := b.plant()
	kept := []values.Revision{head.Revision}
	for range 25 {
		var ops []values.Operation
		for len(ops) == 0 {
			var broken revision.Violations
			o := w.operation(head.State)
			if values.Edit(&broken, head.State, head.RevTs, w.newID, []values.Operation{o}); broken.Len() == 0 {
				ops = append(ops, o)
			}
		}
		var err error
		head, err = b.edit(head.RevID, ops...)
		b.NoError(err)
		kept = append(kept, head.Revision)
	}
	for _, i := range w.luck.Perm(len(kept)) {
		res, err := b.service.Rollback(b.ctx, "ann", head.RevID, kept[i].RevID, "back", "")
		b.NoError(err)
		b.Equal(kept[i].State, res.State)
		b.Equal(b.snapshot(kept[i].RevID), b.snapshot(res.RevID), "row for row")
		head = res.Result
	}
	for _, was := range kept {
		is, err := b.service.Revision(b.ctx, "ann", was.RevID)
		b.NoError(err)
		b.Equal(was, is)
	}
	page, err := b.service.History(b.ctx, "ann", 100, "")
	b.NoError(err)
	b.Len(page.Commits, 2*len(kept))
}

// snapshot are the rows of a revision, without the partition that they stand in.
func (b *fixture) snapshot(revID string) []item.Item {
	rows := b.partition(repository.Address{User: "ann"}.SnapshotPK(revID))
	for i := range rows {
		rows[i] = rows[i].Clone()
		delete(rows[i], item.AttrPK)
	}
	return rows
}
