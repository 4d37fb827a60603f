package values

import (
	"slices"
	"strings"
)

// checkHierarchy checks the tree that the edges form: no cycles, every node that is not deleted below a driver, and
// the nodes' references to their ancestors.
func (c *checker) checkHierarchy() {
	up := c.parents()
	order, rest := topDown(c.tree.Nodes, c.tree.Edges, c.nodes)
	at := make(map[string]place, len(c.tree.Nodes))
	for i := range c.tree.Nodes {
		if id := c.tree.Nodes[i].NodeID; at[id] == nil {
			at[id] = c.place.node(i)
		}
	}
	for _, id := range rest {
		c.Add(RuleCycle, id, at[id](""), "is above itself")
	}
	for _, id := range order {
		n := c.nodes[id]
		if n.Deleted() {
			c.checkTombstone(at[id], n)
			continue
		}
		c.checkParents(at[id], n, up[id])
		c.checkRoot(at[id], n, up[id])
		c.checkDriver(at[id], n, up)
	}
}

// topDown returns the nodes' ids with every parent before its children, and those on a cycle.
func topDown(nodes []Node, edges []Edge, known map[string]*Node) (order, cycle []string) {
	down, left, up := map[string][]string{}, map[string]int{}, map[string][]string{}
	below := map[string]int{}
	for _, e := range edges {
		if known[e.ParentNodeID] == nil || known[e.ChildNodeID] == nil {
			continue
		}
		down[e.ParentNodeID] = append(down[e.ParentNodeID], e.ChildNodeID)
		up[e.ChildNodeID] = append(up[e.ChildNodeID], e.ParentNodeID)
		left[e.ChildNodeID]++
		below[e.ParentNodeID]++
	}
	done := map[string]bool{}
	for i := range nodes {
		if id := nodes[i].NodeID; left[id] == 0 && known[id] == &nodes[i] {
			order = append(order, id)
		}
	}
	for i := 0; i < len(order); i++ {
		done[order[i]] = true
		for _, child := range down[order[i]] {
			if left[child]--; left[child] == 0 {
				order = append(order, child)
			}
		}
	}
	return order, onCycle(nodes, up, below, done)
}

// onCycle returns the nodes on a cycle, without those that are only below one.
func onCycle(nodes []Node, up map[string][]string, below map[string]int, done map[string]bool) []string {
	var bottom []string
	for i := range nodes {
		if id := nodes[i].NodeID; below[id] == 0 && !done[id] {
			bottom = append(bottom, id)
		}
	}
	for i := 0; i < len(bottom); i++ {
		done[bottom[i]] = true
		for _, parent := range up[bottom[i]] {
			if below[parent]--; below[parent] == 0 && !done[parent] {
				bottom = append(bottom, parent)
			}
		}
	}
	var rest []string
	for i := range nodes {
		if id := nodes[i].NodeID; !done[id] {
			rest = append(rest, id)
			done[id] = true
		}
	}
	return rest
}

// checkParents checks a node's first milestone against its edges, or chooses it.
func (c *checker) checkParents(at place, n *Node, up []string) {
	if n.NodeType == Driver {
		if n.ParentMilestoneID != "" {
			c.Add(RuleParentForeign, n.NodeID, at("parentMilestoneId"), "a driver has no parents")
		}
		return
	}
	if len(up) == 0 {
		c.Add(RuleNoParent, n.NodeID, at(""), "is below no driver: an edge must lead to it")
	}
	var milestones []string
	for _, id := range up {
		if c.nodes[id].NodeType == Milestone {
			milestones = append(milestones, id)
		}
	}
	switch parent := c.nodes[n.ParentMilestoneID]; {
	case n.ParentMilestoneID == "":
		n.ParentMilestoneID = c.firstMilestone(n, milestones)
	case parent == nil:
		c.Add(RuleParentUnknown, n.NodeID, at("parentMilestoneId"), "is not in the tree")
	case parent.NodeType != Milestone:
		c.Add(RuleParentType, n.NodeID, at("parentMilestoneId"), "is %s", parent.NodeType)
	case !slices.Contains(milestones, n.ParentMilestoneID):
		c.Add(RuleParentNoEdge, n.NodeID, at("parentMilestoneId"), "has no edge to this node")
	}
}

// firstMilestone returns the former first milestone, if it still is a parent.
func (c *checker) firstMilestone(n *Node, milestones []string) string {
	if was := c.before[n.NodeID]; was != nil && slices.Contains(milestones, was.ParentMilestoneID) {
		return was.ParentMilestoneID
	}
	if len(milestones) == 0 {
		return ""
	}
	return milestones[0]
}

// checkRoot checks rootDriverId against the chain of first parents, or derives it. Parents were checked before.
func (c *checker) checkRoot(at place, n *Node, up []string) {
	roots := c.roots(n, up)
	switch {
	case len(roots) == 0:
	case n.RootDriverID == "":
		n.RootDriverID = roots[0]
		if was := c.before[n.NodeID]; was != nil && slices.Contains(roots, was.RootDriverID) {
			n.RootDriverID = was.RootDriverID
		}
	case !slices.Contains(roots, n.RootDriverID):
		c.Add(RuleRootDriver, n.NodeID, at("rootDriverId"), "must be %s", strings.Join(roots, " or "))
	}
}

// roots returns the drivers that a node may have at its root: one, unless it is directly below several.
func (c *checker) roots(n *Node, up []string) []string {
	if n.NodeType == Driver {
		return []string{n.NodeID}
	}
	if parent := c.nodes[n.ParentMilestoneID]; parent != nil {
		if parent.RootDriverID == "" {
			return nil // it has a separate finding
		}
		return []string{parent.RootDriverID}
	}
	var drivers []string
	for _, id := range up {
		if c.nodes[id].NodeType == Driver {
			drivers = append(drivers, id)
		}
	}
	if slices.Contains(drivers, n.DriverID) {
		return []string{n.DriverID}
	}
	return drivers
}

// checkDriver checks driverId against the tree.
func (c *checker) checkDriver(at place, n *Node, up map[string][]string) {
	field := at("driverId")
	if n.NodeType != Action {
		if n.DriverID != "" {
			c.Add(RuleDriverForeign, n.NodeID, field, "only an action has a driverId")
		}
		return
	}
	driver := c.nodes[n.DriverID]
	switch {
	case n.DriverID == "":
		c.Add(RuleDriverMissing, n.NodeID, field, "an action must name its driver")
	case driver == nil:
		c.Add(RuleDriverUnknown, n.NodeID, field, "is not in the tree")
	case driver.NodeType != Driver:
		c.Add(RuleDriverType, n.NodeID, field, "is %s", driver.NodeType)
	case driver.Deleted():
		c.Add(RuleDriverDeleted, n.NodeID, field, "is deleted")
	case n.RootDriverID != n.DriverID && len(up[n.NodeID]) > 0 && !above(n.NodeID, n.DriverID, up):
		c.Add(RuleDriverNotAbove, n.NodeID, field, "is not above the action")
	}
}

// above reports whether the target is among the node's ancestors.
func above(id, target string, up map[string][]string) bool {
	seen, queue := map[string]bool{}, []string{id}
	for i := 0; i < len(queue); i++ {
		for _, parent := range up[queue[i]] {
			if parent == target {
				return true
			}
			if !seen[parent] {
				seen[parent] = true
				queue = append(queue, parent)
			}
		}
	}
	return false
}

// checkTombstone checks that a deleted node's record of its place names nodes of the tree.
func (c *checker) checkTombstone(at place, n *Node) {
	was := c.before[n.NodeID]
	if n.RootDriverID == "" && was != nil {
		n.RootDriverID = was.RootDriverID
	}
	for _, remembered := range []struct{ name, id string }{
		{"driverId", n.DriverID}, {"parentMilestoneId", n.ParentMilestoneID}, {"rootDriverId", n.RootDriverID},
	} {
		if remembered.id != "" && c.nodes[remembered.id] == nil {
			c.Add(RuleTombstonePlace, n.NodeID, at(remembered.name), "is not in the tree")
		}
	}
}
