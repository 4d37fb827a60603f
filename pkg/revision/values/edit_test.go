package values_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
)

type op = values.Operation

// edited applies operations to the garden as it is after its first commit.
func edited(t *testing.T, ops ...op) (values.Tree, values.Tree, []revision.Violation) {
	t.Helper()
	b := setup(t)
	first := b.plant()
	var broken revision.Violations
	after := values.Edit(&broken, first.State, first.RevTs, b.newID, ops)
	var rules *revision.RuleError
	if err := broken.Err(); err != nil {
		require.ErrorAs(t, err, &rules)
		return first.State, after, rules.Violations
	}
	return first.State, after, nil
}

// children are the ids of a node's children in their order.
func children(t values.Tree, parent string) []string {
	var ids []string
	for _, e := range t.Edges {
		if e.ParentNodeID == parent {
			ids = append(ids, e.ChildNodeID)
		}
	}
	return ids
}

func TestOperation_editsATree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ops   []op
		check func(r *require.Assertions, before, after values.Tree)
	}{
		"create at a place": {[]op{
			{Kind: values.OpCreate, NodeID: act(8), NodeType: values.Action, Title: text("Rest"), ParentID: drv(1), Position: 2},
		},
			func(r *require.Assertions, _, after values.Tree) {
				r.Equal([]string{mil(1), act(8), act(2)}, children(after, drv(1)))
				n := node(&after, act(8))
				r.Equal(drv(1), n.DriverID)
				r.Equal(drv(1), n.RootDriverID)
				r.Equal(monday, n.CreatedAt)
			}},
		"create below a milestone": {[]op{
			{Kind: values.OpCreate, NodeType: values.Action, Title: text("Rest"), ParentID: mil(2)},
		},
			func(r *require.Assertions, before, after values.Tree) {
				added := values.Compare(before, after).Added.Nodes
				r.Len(added, 1)
				r.Equal(mil(2), added[0].ParentMilestoneID)
				r.Equal(drv(1), added[0].DriverID)
			}},
		"update": {[]op{{Kind: values.OpUpdate, NodeID: act(1), Title: text("Run on Friday"), Notes: text("slowly")}},
			func(r *require.Assertions, _, after values.Tree) {
				r.Equal("Run on Friday", node(&after, act(1)).Title)
				r.Equal("slowly", node(&after, act(1)).Notes)
			}},
		"move a branch to another driver": {[]op{{Kind: values.OpMove, NodeID: mil(1), ParentID: drv(2), Position: 1}},
			func(r *require.Assertions, _, after values.Tree) {
				r.Equal([]string{mil(1), act(3)}, children(after, drv(2)))
				for _, id := range []string{mil(1), mil(2), act(1)} {
					r.Equal(drv(2), node(&after, id).RootDriverID, id)
				}
				r.Equal(drv(2), node(&after, act(1)).DriverID, "the actions below follow")
			}},
		"move within a parent": {[]op{{Kind: values.OpMove, NodeID: act(2), ParentID: drv(1), Position: 1}},
			func(r *require.Assertions, before, after values.Tree) {
				r.Equal([]string{act(2), mil(1)}, children(after, drv(1)))
				r.Len(values.Compare(before, after).Moved, 1)
			}},
		"a second parent": {[]op{{Kind: values.OpLink, NodeID: act(1), ParentID: mil(1), Position: 1}},
			func(r *require.Assertions, _, after values.Tree) {
				r.Equal([]string{act(1), mil(2)}, children(after, mil(1)))
				r.Equal(mil(2), node(&after, act(1)).ParentMilestoneID, "the first stays the first")
			}},
		"a parent less": {[]op{
			{Kind: values.OpLink, NodeID: act(1), ParentID: mil(1)}, {Kind: values.OpUnlink, NodeID: act(1), ParentID: mil(2)},
		},
			func(r *require.Assertions, _, after values.Tree) {
				r.Empty(children(after, mil(2)))
				r.Equal(mil(1), node(&after, act(1)).ParentMilestoneID)
			}},
		"reorder": {[]op{{Kind: values.OpReorder, NodeID: drv(1), Order: []string{act(2), mil(1)}}},
			func(r *require.Assertions, _, after values.Tree) {
				r.Equal([]string{act(2), mil(1)}, children(after, drv(1)))
			}},
		"complete and reopen": {[]op{
			{Kind: values.OpComplete, NodeID: act(1)}, {Kind: values.OpComplete, NodeID: act(2)},
			{Kind: values.OpReopen, NodeID: act(2)},
		},
			func(r *require.Assertions, _, after values.Tree) {
				r.Equal(monday, node(&after, act(1)).CompletedAt)
				r.Zero(node(&after, act(2)).CompletedAt)
			}},
		"archive": {[]op{{Kind: values.OpArchive, NodeID: mil(1)}},
			func(r *require.Assertions, before, after values.Tree) {
				r.True(node(&after, mil(1)).Archived)
				r.Equal(before.Edges, after.Edges, "what is archived keeps its place")
			}},
		"delete takes what hangs on nothing else": {[]op{
			{Kind: values.OpLink, NodeID: act(1), ParentID: drv(1)}, {Kind: values.OpDelete, NodeID: mil(1)},
		},
			func(r *require.Assertions, _, after values.Tree) {
				r.True(node(&after, mil(1)).Deleted())
				r.True(node(&after, mil(2)).Deleted())
				r.False(node(&after, act(1)).Deleted(), "it has another parent")
				r.Equal([]string{act(2), act(1)}, children(after, drv(1)))
				r.Empty(node(&after, act(1)).ParentMilestoneID)
			}},
		"restore where it was": {[]op{{Kind: values.OpDelete, NodeID: act(1)}, {Kind: values.OpRestore, NodeID: act(1)}},
			func(r *require.Assertions, before, after values.Tree) { r.Equal(before, after) }},
		"restore elsewhere": {[]op{
			{Kind: values.OpDelete, NodeID: mil(1)}, {Kind: values.OpRestore, NodeID: act(1), ParentID: drv(2)},
		},
			func(r *require.Assertions, _, after values.Tree) {
				r.Equal(drv(2), node(&after, act(1)).DriverID)
				r.Empty(node(&after, act(1)).ParentMilestoneID)
				r.True(node(&after, mil(1)).Deleted())
			}},
		"restore what was archived": {[]op{
			{Kind: values.OpArchive, NodeID: act(1)}, {Kind: values.OpRestore, NodeID: act(1)},
		},
			func(r *require.Assertions, before, after values.Tree) { r.Equal(before, after) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after, broken := edited(t, c.ops...)
			require.Empty(t, broken)
			c.check(require.New(t), before, after)
		})
	}
}

func TestOperation_isRefusedWithItsPlaceIfItMakesNoSense(t *testing.T) {
	t.Parallel()
	gone := op{Kind: values.OpDelete, NodeID: act(1)}
	for name, c := range map[string]struct {
		ops  []op
		rule revision.Rule
		at   string
	}{
		"none":            {[]op{}, values.RuleNoOperation, "/operations"},
		"too many":        {make([]op, values.MaxOperations+1), values.RuleTooManyOperations, "/operations"},
		"an unknown kind": {[]op{{Kind: "destroy", NodeID: act(1)}}, values.RuleOperation, "/operations/0/op"},
		"an unknown node": {[]op{{Kind: values.OpArchive, NodeID: act(9)}}, values.RuleOperationNode, "/operations/0/nodeId"},
		"a field of another kind": {[]op{{Kind: values.OpArchive, NodeID: act(1), Position: 3}},
			values.RuleOperationField, "/operations/0/position"},
		"a node of no type": {[]op{{Kind: values.OpCreate, ParentID: drv(1), Title: text("x")}},
			values.RuleNodeType, "/operations/0/nodeType"},
		"a node that is there": {[]op{{Kind: values.OpCreate, NodeID: act(1), NodeType: values.Action,
			ParentID: drv(1)}}, values.RuleNodeTwice, "/operations/0/nodeId"},
		"a driver below another": {[]op{{Kind: values.OpCreate, NodeType: values.Driver, ParentID: drv(1),
			Title: text("x")}}, values.RuleEdgeChildDriver, "/operations/0/parentId"},
		"a parent that is not there": {[]op{{Kind: values.OpMove, NodeID: act(1), ParentID: mil(9)}},
			values.RuleOperationParent, "/operations/0/parentId"},
		"a parent that is deleted": {[]op{gone, {Kind: values.OpDelete, NodeID: mil(2)},
			{Kind: values.OpMove, NodeID: act(2), ParentID: mil(2)}}, values.RuleOperationParent, "/operations/2/parentId"},
		"a place beyond the last": {[]op{{Kind: values.OpMove, NodeID: act(1), ParentID: drv(1), Position: 4}},
			values.RuleOperationPosition, "/operations/0/position"},
		"one of several parents": {[]op{{Kind: values.OpLink, NodeID: act(1), ParentID: mil(1)},
			{Kind: values.OpMove, NodeID: act(1), ParentID: drv(1)}}, values.RuleOperationParent, "/operations/1/fromId"},
		"from where it is not": {[]op{{Kind: values.OpMove, NodeID: act(1), FromID: drv(2), ParentID: drv(1)}},
			values.RuleOperationParent, "/operations/0/fromId"},
		"an order that forgets one": {[]op{{Kind: values.OpReorder, NodeID: drv(1), Order: []string{act(2)}}},
			values.RuleOperationOrder, "/operations/0/order"},
		"a tombstone": {[]op{gone, {Kind: values.OpComplete, NodeID: act(1)}}, values.RuleOperationState,
			"/operations/1/nodeId"},
		"a restored place of its own": {[]op{{Kind: values.OpRestore, NodeID: act(1), ParentID: drv(1)}},
			values.RuleOperationField, "/operations/0"},
		"below itself": {[]op{{Kind: values.OpMove, NodeID: mil(1), ParentID: mil(2)}}, values.RuleCycle, "/operations/0"},
		"below an action": {[]op{{Kind: values.OpMove, NodeID: act(2), ParentID: act(1)}},
			values.RuleEdgeParentAction, "/operations/0/parentId"},
		"a driver that is not above": {[]op{{Kind: values.OpUpdate, NodeID: act(1), DriverID: text(drv(2))}},
			values.RuleDriverNotAbove, "/operations/0/driverId"},
		"hanging on nothing": {[]op{{Kind: values.OpUnlink, NodeID: act(2), ParentID: drv(1)}},
			values.RuleNoParent, "/operations/0"},
		"an id that can be guessed": {[]op{{Kind: values.OpCreate, NodeID: "act_1", NodeType: values.Action,
			Title: text("x"), ParentID: drv(1)}}, values.RuleNewNodeID, "/operations/0/nodeId"},
		"a driver cannot be completed": {[]op{{Kind: values.OpComplete, NodeID: drv(1)}}, values.RuleCompletedDriver,
			"/operations/0"},
		"no title": {[]op{{Kind: values.OpCreate, NodeID: act(8), NodeType: values.Action,
			ParentID: drv(1)}}, values.RuleTitleMissing, "/operations/0/title"},
		"a title, and moved then": {[]op{{Kind: values.OpUpdate, NodeID: act(1), Title: text("")},
			{Kind: values.OpMove, NodeID: act(1), ParentID: drv(1)}}, values.RuleTitleMissing, "/operations/1"},
		"a second edge between two": {[]op{{Kind: values.OpLink, NodeID: act(1), ParentID: mil(2)}},
			values.RuleEdgeTwice, "/operations/0"},
		"a driver cannot get a parent": {[]op{{Kind: values.OpLink, NodeID: drv(2), ParentID: drv(1)}},
			values.RuleEdgeChildDriver, "/operations/0/nodeId"},
		"restored below what is deleted": {[]op{{Kind: values.OpDelete, NodeID: mil(1)},
			{Kind: values.OpRestore, NodeID: act(1)}}, values.RuleOperationParent, "/operations/1/parentId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, broken := edited(t, c.ops...)
			var got []revision.Violation
			for _, v := range broken {
				if v.Rule == c.rule && v.Pointer == c.at {
					got = append(got, v)
				}
			}
			require.NotEmpty(t, got, "%v", broken)
		})
	}
}

func TestOperation_hasEachFieldThatAFindingPointsAt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.plant()
	pointer := regexp.MustCompile(`^/operations(/[0-4](/(op|nodeId|nodeType|title|notes|driverId|parentMilestoneId|` +
		`parentId|fromId|position|order))?)?$`)
	w := newWood(44)
	rules := map[revision.Rule]bool{}
	for range 3000 {
		var ops []op
		for range 1 + w.luck.IntN(5) {
			ops = append(ops, w.operation(first.State))
		}
		var found revision.Violations
		values.Edit(&found, first.State, first.RevTs, w.newID, ops)
		if found.Len() == 0 {
			continue
		}
		for _, v := range broken(t, found.Err()) {
			rules[v.Rule] = true
			b.Regexp(pointer, v.Pointer, "%v: %+v", v, ops)
		}
	}
	b.Greater(len(rules), 10)
}
