package values

import (
	"cmp"
	"slices"
	"time"
)

func (e *editor) create(o Operation) {
	if o.NodeID == "" {
		prefix := o.NodeType.idPrefix()
		if prefix == "" {
			e.Add(RuleNodeType, "", e.at("/nodeType"), "must be one of %s, %s, %s", Driver, Milestone, Action)
			return
		}
		o.NodeID = prefix + "_" + e.newID()
		e.touched[o.NodeID] = e.op
	}
	if e.nodes[o.NodeID] != nil {
		e.Add(RuleNodeTwice, o.NodeID, e.at("/nodeId"), "is in the tree already")
		return
	}
	n := &Node{NodeID: o.NodeID, NodeType: o.NodeType, CreatedAt: e.now}
	e.write(o, n)
	if o.NodeType == Driver && o.ParentID != "" {
		e.Add(RuleEdgeChildDriver, o.NodeID, e.at("/parentId"), "a driver has no parent")
		return
	}
	if o.NodeType != Driver && !e.parent(o) {
		return
	}
	e.nodes[n.NodeID] = n
	e.order = append(e.order, n.NodeID)
	if o.NodeType != Driver {
		e.insert(o.ParentID, n.NodeID, o.Position)
	}
	switch {
	case o.DriverID != nil:
		n.DriverID = *o.DriverID
		e.chosen[n.NodeID] = true
	case o.NodeType == Action:
		n.DriverID = e.rootOf(o.ParentID)
	}
}

func (e *editor) update(o Operation, n *Node) {
	e.write(o, n)
	if o.DriverID != nil {
		n.DriverID, e.chosen[n.NodeID] = *o.DriverID, true
	}
	if o.ParentMilestoneID != nil {
		n.ParentMilestoneID = *o.ParentMilestoneID
		e.moved = append(e.moved, n.NodeID)
	}
}

func (e *editor) move(o Operation, n *Node) {
	if !e.parent(o) {
		return
	}
	from := o.FromID
	if parents := e.parents[n.NodeID]; from == "" {
		if len(parents) != 1 {
			e.Add(RuleOperationParent, n.NodeID, e.at("/fromId"), "must say which of %d parents the node leaves", len(parents))
			return
		}
		from = parents[0]
	}
	if !e.isChild(from, n.NodeID, "/fromId") {
		return
	}
	e.remove(from, n.NodeID)
	e.insert(o.ParentID, n.NodeID, o.Position)
	if from != o.ParentID {
		e.forgetPlace(n)
	}
}

// forgetPlace clears the node's fields about its place, so that they are derived again from its edges.
func (e *editor) forgetPlace(n *Node) {
	if !slices.Contains(e.parents[n.NodeID], n.ParentMilestoneID) {
		n.ParentMilestoneID = ""
	}
	e.moved = append(e.moved, n.NodeID)
}

func (e *editor) reorder(o Operation, n *Node) {
	now, then := slices.Sorted(slices.Values(e.children[n.NodeID])), slices.Sorted(slices.Values(o.Order))
	if !slices.Equal(now, then) {
		e.Add(RuleOperationOrder, n.NodeID, e.at("/order"), "must name each of the node's %d children once", len(now))
		return
	}
	e.children[n.NodeID] = slices.Clone(o.Order)
}

// bury makes tombstones of the node and of every node that is left without a parent.
func (e *editor) bury(n *Node) {
	for _, parent := range slices.Clone(e.parents[n.NodeID]) {
		e.remove(parent, n.NodeID)
	}
	for queue := []*Node{n}; len(queue) > 0; queue = queue[1:] {
		gone := queue[0]
		gone.Archived, gone.DeletedAt = true, e.now
		e.touched[gone.NodeID] = e.op
		for _, id := range slices.Clone(e.children[gone.NodeID]) {
			e.remove(gone.NodeID, id)
			switch child := e.nodes[id]; {
			case child.Deleted():
			case len(e.parents[id]) == 0:
				queue = append(queue, child)
			default:
				e.forgetPlace(child)
			}
		}
	}
}

// forget removes the words of a tombstone. One that was forgotten before keeps the time of that.
func (e *editor) forget(n *Node) {
	if n.Forgotten() {
		return
	}
	n.Title, n.Notes, n.ForgottenAt = "", "", e.now
	e.forgotten[n.NodeID] = true
}

func (e *editor) restore(o Operation, n *Node) {
	if !n.Deleted() {
		if o.ParentID != "" || o.Position != 0 {
			e.Add(RuleOperationField, n.NodeID, e.at(""), "has its place: it was archived and not deleted")
			return
		}
		n.Archived = false
		e.write(o, n)
		return
	}
	if n.NodeType != Driver {
		if o.ParentID == "" {
			o.ParentID = n.ParentMilestoneID
		}
		if o.ParentID == "" {
			o.ParentID = cmp.Or(n.DriverID, n.RootDriverID) // an action names its driver, a milestone only the one at its root
		}
		if !e.parent(o) {
			return
		}
	}
	n.Archived, n.DeletedAt, n.ForgottenAt = false, time.Time{}, time.Time{}
	e.write(o, n)
	if n.NodeType != Driver {
		e.insert(o.ParentID, n.NodeID, o.Position)
		e.forgetPlace(n)
	}
}

// write sets the texts that the operation brings.
func (e *editor) write(o Operation, n *Node) {
	if o.Title != nil {
		n.Title = *o.Title
	}
	if o.Notes != nil {
		n.Notes = *o.Notes
	}
}

// parent reports whether the operation's parent can take a child.
func (e *editor) parent(o Operation) bool {
	parent := e.nodes[o.ParentID]
	switch {
	case parent == nil:
		e.Add(RuleOperationParent, o.NodeID, e.at("/parentId"), "names no node of the tree")
	case parent.Deleted():
		e.Add(RuleOperationParent, o.NodeID, e.at("/parentId"), "names a node that is deleted")
	case o.Position < 0 || o.Position > len(e.children[o.ParentID])+1:
		e.Add(RuleOperationPosition, o.NodeID, e.at("/position"), "must be 1 to %d, or 0 for the last",
			len(e.children[o.ParentID])+1)
	default:
		return true
	}
	return false
}

func (e *editor) isChild(parent, child, field string) bool {
	if slices.Contains(e.children[parent], child) {
		return true
	}
	e.Add(RuleOperationParent, child, e.at(field), "names no parent of the node")
	return false
}
