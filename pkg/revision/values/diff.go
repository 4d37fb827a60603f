package values

import (
	"cmp"
	"slices"

	"nexus/pkg/revision"
)

// Diff turns one tree into another.
type Diff struct {
	Added   Part         `json:"added"`
	Removed Part         `json:"removed"`
	Changed []NodeChange `json:"changed"`
	// Moved are the edges whose child changed its parent, or its place among its siblings, without those that only made
	// room.
	Moved []EdgeMove `json:"moved"`
}

// Part is some of a tree's nodes and edges.
type Part struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// NodeChange is a node before and after.
type NodeChange struct {
	Before Node `json:"before"`
	After  Node `json:"after"`
}

// EdgeMove is an edge before and after.
type EdgeMove struct {
	Before Edge `json:"before"`
	After  Edge `json:"after"`
}

// Compare returns the difference that turns a into b. Both are trees that were read.
func Compare(a, b Tree) Diff {
	var d Diff
	was, is := a.index(), b.index()
	for _, n := range a.Nodes {
		switch after := is[n.NodeID]; {
		case after == nil:
			d.Removed.Nodes = append(d.Removed.Nodes, n)
		case !sameNode(n, *after):
			d.Changed = append(d.Changed, NodeChange{n, *after})
		}
	}
	for _, n := range b.Nodes {
		if was[n.NodeID] == nil {
			d.Added.Nodes = append(d.Added.Nodes, n)
		}
	}
	d.compareEdges(a.Edges, b.Edges)
	return d
}

type ends struct{ parent, child string }

func (e Edge) ends() ends { return ends{e.ParentNodeID, e.ChildNodeID} }

func (d *Diff) compareEdges(a, b []Edge) {
	was := map[ends]Edge{}
	for _, e := range a {
		was[e.ends()] = e
	}
	is := map[ends]Edge{}
	common := map[string][]EdgeMove{} // by parent, in the order of after
	var added []Edge
	for _, e := range b {
		is[e.ends()] = e
		if before, ok := was[e.ends()]; ok {
			common[e.ParentNodeID] = append(common[e.ParentNodeID], EdgeMove{before, e})
		} else {
			added = append(added, e)
		}
	}
	var removed []Edge
	for _, e := range a {
		if _, stays := is[e.ends()]; !stays {
			removed = append(removed, e)
		}
	}
	for _, siblings := range common {
		d.Moved = append(d.Moved, outOfOrder(siblings)...)
	}
	d.pair(removed, added)
	slices.SortFunc(d.Moved, func(x, y EdgeMove) int { return compareEdges(x.After, y.After) })
	slices.SortFunc(d.Added.Edges, compareEdges)
	slices.SortFunc(d.Removed.Edges, compareEdges)
}

// pair treats a removed and an added edge of the same child as a move.
func (d *Diff) pair(removed, added []Edge) {
	left := map[string][]Edge{}
	for _, e := range removed {
		left[e.ChildNodeID] = append(left[e.ChildNodeID], e)
	}
	for _, e := range added {
		if from := left[e.ChildNodeID]; len(from) > 0 {
			d.Moved = append(d.Moved, EdgeMove{from[0], e})
			left[e.ChildNodeID] = from[1:]
			continue
		}
		d.Added.Edges = append(d.Added.Edges, e)
	}
	for _, edges := range left {
		d.Removed.Edges = append(d.Removed.Edges, edges...)
	}
}

// outOfOrder returns the fewest of a parent's children, given in their present order, without which the rest has kept
// its order: all but a longest rising run of former places. A child of which only the type changed counts as moved.
func outOfOrder(siblings []EdgeMove) []EdgeMove {
	places := make([]int, len(siblings))
	for i, s := range siblings {
		places[i] = s.Before.Order
	}
	kept := revision.LongestRising(places)
	var moved []EdgeMove
	for i, s := range siblings {
		if !kept[i] || s.Before.ChildNodeType != s.After.ChildNodeType {
			moved = append(moved, s)
		}
	}
	return moved
}

// Apply returns the tree that the difference turns t into. T is the tree that the difference was taken from.
func (d Diff) Apply(t Tree) Tree {
	gone := map[string]bool{}
	for _, n := range d.Removed.Nodes {
		gone[n.NodeID] = true
	}
	changed := map[string]Node{}
	for _, c := range d.Changed {
		changed[c.Before.NodeID] = c.After
	}
	var out Tree
	for _, n := range t.Nodes {
		if after, ok := changed[n.NodeID]; ok {
			n = after
		}
		if !gone[n.NodeID] {
			out.Nodes = append(out.Nodes, n)
		}
	}
	out.Nodes = append(out.Nodes, d.Added.Nodes...)
	out.Edges = d.applyEdges(t.Edges)
	out.sort()
	return out
}

// applyEdges removes the deleted edges and inserts the added ones at their places, in the order of the places. The
// others have kept their order, so that every earlier place is then filled.
func (d Diff) applyEdges(edges []Edge) []Edge {
	gone := map[ends]bool{}
	arriving := slices.Clone(d.Added.Edges)
	for _, e := range d.Removed.Edges {
		gone[e.ends()] = true
	}
	for _, m := range d.Moved {
		gone[m.Before.ends()] = true
		arriving = append(arriving, m.After)
	}
	children := map[string][]Edge{}
	for _, e := range edges {
		if !gone[e.ends()] {
			children[e.ParentNodeID] = append(children[e.ParentNodeID], e)
		}
	}
	slices.SortFunc(arriving, func(x, y Edge) int { return cmp.Compare(x.Order, y.Order) })
	for _, e := range arriving {
		siblings := children[e.ParentNodeID]
		children[e.ParentNodeID] = slices.Insert(siblings, min(e.Order-1, len(siblings)), e)
	}
	var out []Edge
	for _, siblings := range children {
		for i, e := range siblings {
			e.Order = i + 1
			out = append(out, e)
		}
	}
	return out
}
