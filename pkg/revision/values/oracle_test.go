package values_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/revision/values"
)

// wrong holds a tree against the hierarchy's rules in the plainest way: node by node, by walking up.
func wrong(t values.Tree) string {
	for _, n := range t.Nodes {
		var up []values.Node
		for _, e := range t.Edges {
			if e.ChildNodeID == n.NodeID {
				up = append(up, *node(&t, e.ParentNodeID))
			}
		}
		switch {
		case n.Deleted() && (len(up) > 0 || len(children(t, n.NodeID)) > 0):
			return n.NodeID + " is deleted and has edges"
		case n.Deleted():
			continue
		case n.NodeType == values.Driver && len(up) > 0:
			return n.NodeID + " is a driver with parents"
		case n.NodeType != values.Driver && len(up) == 0:
			return n.NodeID + " hangs on nothing"
		case n.NodeType == values.Action && len(children(t, n.NodeID)) > 0:
			return n.NodeID + " is an action with children"
		}
		ancestors := ancestorsOf(t, n.NodeID)
		if slices.Contains(ancestors, n.NodeID) {
			return n.NodeID + " is above itself"
		}
		if n.NodeType == values.Action && !slices.Contains(ancestors, n.DriverID) {
			return n.NodeID + " is not below its driver"
		}
		if root := node(&t, n.RootDriverID); root == nil || root.NodeType != values.Driver ||
			n.NodeType != values.Driver && !slices.Contains(ancestors, root.NodeID) {
			return n.NodeID + " has no root above it"
		}
		milestones := slices.ContainsFunc(up, func(p values.Node) bool { return p.NodeType == values.Milestone })
		first := slices.ContainsFunc(up, func(p values.Node) bool {
			return p.NodeType == values.Milestone && p.NodeID == n.ParentMilestoneID
		})
		if milestones != first || !milestones && n.ParentMilestoneID != "" {
			return n.NodeID + " has another first milestone than one of its parents"
		}
	}
	for i, e := range t.Edges {
		if want := slices.Index(children(t, e.ParentNodeID), e.ChildNodeID) + 1; e.Order != want {
			return fmt.Sprintf("edge %d has the order %d, want %d", i, e.Order, want)
		}
		if e.ChildNodeType != node(&t, e.ChildNodeID).NodeType {
			return fmt.Sprintf("edge %d has another type than its child", i)
		}
	}
	return ""
}

// ancestorsOf are all nodes above one, itself if it is on a cycle.
func ancestorsOf(t values.Tree, id string) []string {
	var found []string
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		for _, e := range t.Edges {
			if e.ChildNodeID == queue[0] && !slices.Contains(found, e.ParentNodeID) {
				found = append(found, e.ParentNodeID)
				queue = append(queue, e.ParentNodeID)
			}
		}
	}
	return found
}

// spoil changes a few things of a tree, in any way that a client could.
func (w *randomTrees) spoil(t values.Tree) values.Tree {
	t = values.Tree{Nodes: slices.Clone(t.Nodes), Edges: slices.Clone(t.Edges)}
	ids := []string{"", "x#y", act(999999)}
	for _, n := range t.Nodes {
		ids = append(ids, n.NodeID)
	}
	types := []values.NodeType{values.Driver, values.Milestone, values.Action, ""}
	for range 1 + w.luck.IntN(3) {
		n, e := &t.Nodes[w.luck.IntN(len(t.Nodes))], &t.Edges[w.luck.IntN(len(t.Edges))]
		switch w.luck.IntN(13) {
		case 0:
			n.NodeID = w.pick(ids)
		case 1:
			n.NodeType = types[w.luck.IntN(len(types))]
		case 2:
			n.DriverID = w.pick(ids)
		case 3:
			n.ParentMilestoneID = w.pick(ids)
		case 4:
			n.RootDriverID = w.pick(ids)
		case 5:
			e.ParentNodeID = w.pick(ids)
		case 6:
			e.ChildNodeID = w.pick(ids)
		case 7:
			e.Order = w.luck.IntN(4)
		case 8:
			n.Archived, n.DeletedAt = true, monday
		case 9:
			n.Archived = !n.Archived
		case 10:
			t.Edges = append(t.Edges, values.Edge{
				ParentNodeID: w.pick(ids), Order: 1 + w.luck.IntN(3), ChildNodeID: w.pick(ids),
			})
		case 11:
			w.luck.Shuffle(len(t.Edges), func(i, j int) { t.Edges[i], t.Edges[j] = t.Edges[j], t.Edges[i] })
		case 12:
			*e, t.Edges = t.Edges[len(t.Edges)-1], t.Edges[:len(t.Edges)-1]
			if len(t.Edges) == 0 {
				return t
			}
		}
	}
	return t
}

func TestCheckHierarchy_holdsForWhateverIsAccepted(t *testing.T) {
	t.Parallel()
	accepted := 0
	for seed := range 40 {
		b := setup(t)
		w := newWood(uint64(seed))
		head := b.plant()
		for range 15 {
			if res, err := b.edit(head.RevID, w.operation(head.State)); err == nil {
				b.Empty(wrong(res.State))
				head = res
			}
		}
		for range 60 {
			next := w.spoil(head.State)
			res, err := b.service.Commit(b.ctx, "ann", values.Commit{
				ParentRevID: head.RevID, Message: "m", Source: values.SourceDailyUpdate, Tree: &next,
			})
			if err != nil {
				broken(t, err) // and nothing else is wrong
				continue
			}
			accepted++
			b.Empty(wrong(res.State))
			now, err := b.service.Current(b.ctx, "ann")
			b.NoError(err)
			b.Equal(res.State, now.State)
			if head = res; len(head.State.Edges) < 3 {
				break
			}
		}
	}
	require.Greater(t, accepted, 200)
}
