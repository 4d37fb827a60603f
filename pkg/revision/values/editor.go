package values

import (
	"slices"
	"strconv"
	"time"

	"nexus/pkg/revision"
)

// editor applies operations to a tree. It reports faults of an operation by itself; the rules of the tree are checked
// on the result.
type editor struct {
	*revision.Violations
	nodes    map[string]*Node
	order    []string            // ids in the order in which they came
	children map[string][]string // in order
	parents  map[string][]string // in the order of their ids
	moved    []string            // nodes whose place has changed
	chosen   map[string]bool     // nodes whose driver the client named
	// forgotten are the nodes whose words an operation removed.
	forgotten map[string]bool
	now       time.Time
	newID     func() string
	ops       []Operation
	touched   map[string]int // the last operation about a node
	op        int            // the current one
}

func newEditor(v *revision.Violations, t Tree, now time.Time, newID func() string) *editor {
	e := &editor{
		Violations: v, nodes: map[string]*Node{}, children: map[string][]string{}, parents: map[string][]string{},
		chosen: map[string]bool{}, forgotten: map[string]bool{}, now: now, newID: newID, touched: map[string]int{},
	}
	for _, n := range t.Nodes {
		e.nodes[n.NodeID] = &n
		e.order = append(e.order, n.NodeID)
	}
	for _, edge := range t.Edges { // in order
		e.insert(edge.ParentNodeID, edge.ChildNodeID, 0)
	}
	return e
}

// apply carries out the operations in sequence.
func (e *editor) apply(ops []Operation) {
	switch {
	case len(ops) == 0:
		e.Add(RuleNoOperation, "", "/operations", "must name at least one edit")
	case len(ops) > MaxOperations:
		e.Add(RuleTooManyOperations, "", "/operations", "a commit has at most %d operations, not %d", MaxOperations, len(ops))
		return
	}
	e.ops = ops
	for i, o := range ops {
		e.op = i
		e.carryOut(o)
		e.touched[o.NodeID] = i
	}
	e.deriveDrivers()
}

func (e *editor) at(field string) string { return "/operations/" + strconv.Itoa(e.op) + field }

func (e *editor) carryOut(o Operation) {
	takes, known := speaks[o.Kind]
	if !known {
		e.Add(RuleOperation, o.NodeID, e.at("/op"), "is no kind of operation")
		return
	}
	foreign := false
	for _, name := range []string{
		"nodeType", "title", "notes", "driverId", "parentMilestoneId", "parentId", "fromId", "position", "order",
	} {
		if o.fields()[name] && !slices.Contains(takes, name) {
			e.Add(RuleOperationField, o.NodeID, e.at("/"+name), "has no meaning for %s", o.Kind)
			foreign = true
		}
	}
	if foreign {
		return
	}
	if o.Kind == OpCreate {
		e.create(o)
		return
	}
	n := e.nodes[o.NodeID]
	if n == nil {
		e.Add(RuleOperationNode, o.NodeID, e.at("/nodeId"), "is not in the tree")
		return
	}
	switch {
	case n.Deleted() && o.Kind != OpRestore && o.Kind != OpForget:
		e.Add(RuleOperationState, n.NodeID, e.at("/nodeId"), "is deleted and can only be restored or forgotten")
		return
	case !n.Deleted() && o.Kind == OpForget:
		e.Add(RuleOperationState, n.NodeID, e.at("/nodeId"), "is not deleted: only the words of a deleted node are forgotten")
		return
	}
	e.edit(o, n)
}

func (e *editor) edit(o Operation, n *Node) {
	switch o.Kind {
	case OpUpdate:
		e.update(o, n)
	case OpMove:
		e.move(o, n)
	case OpLink:
		if e.parent(o) {
			e.insert(o.ParentID, n.NodeID, o.Position)
		}
	case OpUnlink:
		if e.isChild(o.ParentID, n.NodeID, "/parentId") {
			e.remove(o.ParentID, n.NodeID)
			e.forgetPlace(n)
		}
	case OpReorder:
		e.reorder(o, n)
	case OpComplete:
		n.CompletedAt = e.now
	case OpReopen:
		n.CompletedAt = time.Time{}
	case OpArchive:
		n.Archived = true
	case OpDelete:
		e.bury(n)
	case OpForget:
		e.forget(n)
	case OpRestore:
		e.restore(o, n)
	}
}

// tree returns the present tree, its nodes in their order and its edges by parent and place.
func (e *editor) tree() Tree {
	t := Tree{Nodes: make([]Node, 0, len(e.order))}
	for _, id := range e.order {
		t.Nodes = append(t.Nodes, *e.nodes[id])
	}
	for parent, children := range e.children {
		for i, child := range children {
			t.Edges = append(t.Edges, Edge{ParentNodeID: parent, Order: i + 1, ChildNodeID: child})
		}
	}
	t.sort()
	return t
}

// places points to the last operation about a node, and in it to the field as the client sent it.
func (e *editor) places(t *Tree) places {
	const whole = "/operations"
	nowhere := func(string) string { return whole }
	of := func(id string, spoken map[string]string) place {
		i, touched := e.touched[id]
		if !touched {
			return nowhere
		}
		return func(field string) string {
			at := whole + "/" + strconv.Itoa(i)
			if other, renamed := spoken[field]; renamed {
				field = other
			}
			if field == "nodeId" || slices.Contains(speaks[e.ops[i].Kind], field) {
				return at + "/" + field
			}
			return at
		}
	}
	return places{
		node: func(i int) place { return of(t.Nodes[i].NodeID, nil) },
		edge: func(i int) place {
			if _, touched := e.touched[t.Edges[i].ChildNodeID]; touched {
				return of(t.Edges[i].ChildNodeID, map[string]string{"childNodeId": "nodeId", "parentNodeId": "parentId"})
			}
			return of(t.Edges[i].ParentNodeID, map[string]string{"parentNodeId": "nodeId"})
		},
		whole: whole,
	}
}
