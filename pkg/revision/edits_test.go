package revision_test

import (
	"fmt"
	"slices"

	"nexus/pkg/revision/values"
)

// operations are one to three edits that obey the rules, each of another node.
func (w *fixture) operations(t values.Tree) []values.Operation {
	var ops []values.Operation
	title := fmt.Sprintf("title %d", w.luck.IntN(1000))
	var drivers, alive []values.Node
	for _, n := range t.Nodes {
		switch {
		case n.Deleted():
		case n.NodeType == values.Driver:
			drivers = append(drivers, n)
		default:
			alive = append(alive, n)
		}
	}
	if len(drivers) == 0 {
		root := "drv_" + w.newID()
		ops = append(ops, values.Operation{Kind: values.OpCreate, NodeID: root, NodeType: values.Driver, Title: &title})
		for range 10 {
			ops = append(ops, values.Operation{
				Kind: values.OpCreate, NodeID: "act_" + w.newID(), NodeType: values.Action, Title: &title, ParentID: root,
			})
		}
		return ops
	}
	w.luck.Shuffle(len(alive), func(i, j int) { alive[i], alive[j] = alive[j], alive[i] })
	root := drivers[w.luck.IntN(len(drivers))].NodeID
	for range 1 + w.luck.IntN(3) {
		switch n := w.luck.IntN(6); {
		case n < 2 || len(alive) == 0:
			ops = append(ops, values.Operation{
				Kind: values.OpCreate, NodeID: "act_" + w.newID(), NodeType: values.Action, Title: &title, ParentID: root,
			})
			continue
		case n == 2:
			ops = append(ops, values.Operation{Kind: values.OpUpdate, NodeID: alive[0].NodeID, Title: &title})
		case n == 3:
			ops = append(ops, values.Operation{Kind: values.OpDelete, NodeID: alive[0].NodeID})
		case n == 4:
			ops = append(ops, values.Operation{Kind: values.OpMove, NodeID: alive[0].NodeID, ParentID: root, Position: 1})
		default:
			ops = append(ops, values.Operation{Kind: values.OpArchive, NodeID: alive[0].NodeID})
		}
		alive = slices.Delete(alive, 0, 1)
	}
	return ops
}
