package values_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
	"nexus/pkg/table/memory"
)

// forest is a tree with so many nodes: one driver, milestones below it, and actions below those, up to fifty each.
func forest(nodes int) values.Tree {
	t := values.Tree{Nodes: []values.Node{{NodeID: drv(1), NodeType: values.Driver, Title: "Everything"}}}
	milestone := ""
	for i := 1; i < nodes; i++ {
		if i%50 == 1 {
			milestone = mil(i)
			t.Nodes = append(t.Nodes, values.Node{NodeID: milestone, NodeType: values.Milestone, Title: "Stage"})
			link(&t, drv(1), 1+i/50, milestone)
			continue
		}
		t.Nodes = append(t.Nodes, values.Node{
			NodeID: act(i), NodeType: values.Action, Title: fmt.Sprintf("Step %d", i), Notes: "A line or two about how.",
			DriverID: drv(1),
		})
		link(&t, milestone, 1+(i-2)%50, act(i))
	}
	return t
}

func TestCheckSize_boundsATreeToTwoThousandNodes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.commit("", forest(values.MaxNodes))
	base, err := b.service.Current(b.ctx, "ann")
	b.NoError(err)
	b.Equal(res.State, base.State)
	b.Len(base.State.Nodes, values.MaxNodes)

	for name, c := range map[string]struct {
		tree func() values.Tree
		rule revision.Rule
	}{
		"nodes": {func() values.Tree { return forest(values.MaxNodes + 1) }, values.RuleTooManyNodes},
		"edges": {func() values.Tree {
			tree := garden()
			tree.Edges = make([]values.Edge, values.MaxEdges+1)
			return tree
		}, values.RuleTooManyEdges},
		"text": {func() values.Tree {
			tree := forest(1000)
			for i := range tree.Nodes {
				tree.Nodes[i].Notes = strings.Repeat("a", 5<<10)
			}
			return tree
		}, values.RuleTooMuchText},
	} {
		tree := c.tree()
		_, err := b.service.Commit(b.ctx, "ann", values.Commit{
			ParentRevID: res.RevID, Message: "m", Source: values.SourceDailyUpdate, Tree: &tree,
		})
		found := broken(t, err)
		require.Len(t, found, 1, name)
		require.Equal(t, c.rule, found[0].Rule, name)
	}
	// Tombstones count: a tree that leaves two thousand of them out has no room for another.
	_, err = b.edit(res.RevID, values.Operation{Kind: values.OpCreate, NodeType: values.Driver, Title: text("One more")})
	b.Equal(values.RuleTooManyNodes, broken(t, err)[0].Rule)
}

func TestTree_mayBeAsDeepAsItHasNodes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := values.Tree{Nodes: []values.Node{{NodeID: drv(0), NodeType: values.Driver, Title: "The top"}}}
	above := drv(0)
	for i := 1; i < values.MaxNodes-1; i++ {
		tree.Nodes = append(tree.Nodes, values.Node{NodeID: mil(i), NodeType: values.Milestone, Title: "A step down"})
		link(&tree, above, 1, mil(i))
		above = mil(i)
	}
	tree.Nodes = append(tree.Nodes, values.Node{
		NodeID: act(1), NodeType: values.Action, Title: "The bottom", DriverID: drv(0),
	})
	link(&tree, above, 1, act(1))
	res := b.commit("", tree)
	b.Equal(drv(0), node(&res.State, act(1)).RootDriverID)
	moved, err := b.edit(res.RevID, values.Operation{Kind: values.OpMove, NodeID: mil(1000), ParentID: drv(0)})
	b.NoError(err)
	b.Len(moved.State.Nodes, values.MaxNodes)
	_, err = b.edit(moved.RevID, values.Operation{Kind: values.OpMove, NodeID: mil(1), ParentID: mil(999)})
	b.Equal(values.RuleCycle, broken(t, err)[0].Rule)
}

func TestCommit_ofALargeTreeMovesTheHeadLast(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.commit("", forest(values.MaxNodes))
	var ops []string
	for _, c := range b.count(func() error {
		_, err := b.edit(first.RevID, values.Operation{Kind: values.OpComplete, NodeID: act(2)})
		return err
	}) {
		if len(ops) == 0 || ops[len(ops)-1] != c.Op {
			ops = append(ops, c.Op)
		}
	}
	b.Equal([]string{"Get", "Query", "Put", "Load", "Transact"}, ops)
	last := b.calls[len(b.calls)-1]
	b.Len(last.Keys, 3, "the head, the log entry, the draft")
	b.Equal(memory.After, last.Stage)
}

func TestCommit_answersAThousandMistakesInBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := forest(1500)
	long := strings.Repeat("x", 1<<16) + "\xff"
	for i := range tree.Nodes {
		tree.Nodes[i].NodeID, tree.Nodes[i].RootDriverID = fmt.Sprint(i)+long[:100], long
	}
	tree.Edges[0].ParentNodeID, tree.Edges[1].ChildNodeID = long, long
	_, err := b.service.Commit(b.ctx, "ann", values.Commit{Message: "m", Source: values.SourceDailyUpdate, Tree: &tree})
	size := 0
	for _, v := range broken(t, err) {
		size += len(v.Subject) + len(v.Detail) + len(v.Pointer)
	}
	b.Less(size, 256*600)
}

// BenchmarkCommit is a commit of one edit: processor time and memory by the size of the tree.
func BenchmarkCommit(b *testing.B) {
	for _, nodes := range []int{30, 300, values.MaxNodes} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s := setup(b)
			head := s.commit("", forest(nodes))
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				var err error
				if head, err = s.edit(head.RevID, values.Operation{
					Kind: values.OpUpdate, NodeID: act(2), Title: text("again"),
				}); err != nil {
					b.Fatal(err)
				}
				s.calls = nil
			}
		})
	}
}
