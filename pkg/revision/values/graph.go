package values

import "slices"

// insert makes a node the parent's child at the place, 0 for the last. A second edge between two nodes remains, and
// the rules refuse it.
func (e *editor) insert(parent, child string, position int) {
	children := e.children[parent]
	if position == 0 || position > len(children) {
		position = len(children) + 1
	}
	e.children[parent] = slices.Insert(children, position-1, child)
	at, _ := slices.BinarySearch(e.parents[child], parent)
	e.parents[child] = slices.Insert(e.parents[child], at, parent)
}

func (e *editor) remove(parent, child string) {
	without := func(of map[string][]string, from, id string) {
		i := slices.Index(of[from], id)
		of[from] = slices.Delete(of[from], i, i+1)
		if len(of[from]) == 0 {
			delete(of, from)
		}
	}
	without(e.children, parent, child)
	without(e.parents, child, parent)
}

// rootOf returns a driver at the root of the node: up through its first milestone, else its first parent; empty if
// there is none, or only a cycle.
func (e *editor) rootOf(id string) string {
	for range len(e.nodes) + 1 {
		n := e.nodes[id]
		if n == nil || n.NodeType == Driver {
			return id
		}
		switch parents := e.parents[id]; {
		case slices.Contains(parents, n.ParentMilestoneID):
			id = n.ParentMilestoneID
		case len(parents) > 0:
			id = e.firstParent(parents)
		default:
			return ""
		}
	}
	return ""
}

// firstParent returns a milestone before a driver, as the rules choose.
func (e *editor) firstParent(parents []string) string {
	for _, id := range parents {
		if e.nodes[id].NodeType == Milestone {
			return id
		}
	}
	return parents[0]
}

// deriveDrivers derives, after all operations, the driver fields of nodes that have moved or are below
// one that has. A driver
// that the client chose stays, and the rules check it.
func (e *editor) deriveDrivers() {
	queue, seen := slices.Clone(e.moved), map[string]bool{}
	for i := 0; i < len(queue); i++ {
		id := queue[i]
		if seen[id] {
			continue
		}
		seen[id] = true
		n := e.nodes[id]
		if n.Deleted() {
			continue
		}
		n.RootDriverID = ""
		if n.NodeType == Action && !e.chosen[id] && !above(id, n.DriverID, e.parents) {
			n.DriverID = e.rootOf(id)
		}
		queue = append(queue, e.children[id]...)
	}
}
