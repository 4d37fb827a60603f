package values

import (
	"maps"
	"slices"
)

// checkEdges checks every edge by itself, and the order of each node's children.
func (c *checker) checkEdges() {
	type pair struct{ parent, child string }
	pairs := map[pair]bool{}
	orders := map[string][]int{} // of a parent, the positions of its edges in the request
	for i := range c.tree.Edges {
		e := &c.tree.Edges[i]
		at := c.place.edge(i)
		switch {
		case e.ParentNodeID == e.ChildNodeID:
			c.Add(RuleEdgeToItself, e.ChildNodeID, at("childNodeId"), "cannot be its own child")
		case pairs[pair{e.ParentNodeID, e.ChildNodeID}]:
			c.Add(RuleEdgeTwice, e.ChildNodeID, at(""), "is a child of %s twice", e.ParentNodeID)
		}
		pairs[pair{e.ParentNodeID, e.ChildNodeID}] = true
		c.checkEnds(at, e)
		orders[e.ParentNodeID] = append(orders[e.ParentNodeID], i)
	}
	for _, parent := range slices.Sorted(maps.Keys(orders)) {
		c.checkOrder(orders[parent])
	}
}

func (c *checker) checkEnds(at place, e *Edge) {
	parent, child := c.nodes[e.ParentNodeID], c.nodes[e.ChildNodeID]
	switch {
	case parent == nil:
		c.Add(RuleEdgeParentUnknown, e.ParentNodeID, at("parentNodeId"), "is not in the tree")
	case parent.Deleted():
		c.Add(RuleEdgeParentDeleted, e.ParentNodeID, at("parentNodeId"), "is deleted and has no children")
	case parent.NodeType == Action:
		c.Add(RuleEdgeParentAction, e.ParentNodeID, at("parentNodeId"), "is an action and has no children")
	}
	switch {
	case child == nil:
		c.Add(RuleEdgeChildUnknown, e.ChildNodeID, at("childNodeId"), "is not in the tree")
		return
	case child.Deleted():
		c.Add(RuleEdgeChildDeleted, e.ChildNodeID, at("childNodeId"), "is deleted and has no parents")
	case child.NodeType == Driver:
		c.Add(RuleEdgeChildDriver, e.ChildNodeID, at("childNodeId"), "is a driver: drivers have children only")
	}
	switch e.ChildNodeType {
	case "":
		e.ChildNodeType = child.NodeType
	case child.NodeType:
	default:
		c.Add(RuleEdgeChildType, e.ChildNodeID, at("childNodeType"), "is %s", child.NodeType)
	}
}

// checkOrder checks that a node's children are counted from 1 without a gap.
func (c *checker) checkOrder(edges []int) {
	seen := make([]bool, len(edges)+1)
	for _, i := range edges {
		e := c.tree.Edges[i]
		at := c.place.edge(i)("order")
		switch {
		case e.Order < 1 || e.Order > len(edges):
			c.Add(RuleOrder, e.ChildNodeID, at, "the %d children of %s are counted from 1 to %d, without a gap", len(edges),
				e.ParentNodeID, len(edges))
		case seen[e.Order]:
			c.Add(RuleOrderTwice, e.ChildNodeID, at, "%s has another child at this place", e.ParentNodeID)
		default:
			seen[e.Order] = true
		}
	}
}

// parents returns the parents of each node, by the edges between known nodes, in the order of the parents' ids.
func (c *checker) parents() map[string][]string {
	up := map[string][]string{}
	for _, e := range c.tree.Edges {
		if c.nodes[e.ParentNodeID] != nil && c.nodes[e.ChildNodeID] != nil {
			up[e.ChildNodeID] = append(up[e.ChildNodeID], e.ParentNodeID)
		}
	}
	for child := range up {
		slices.Sort(up[child])
	}
	return up
}
