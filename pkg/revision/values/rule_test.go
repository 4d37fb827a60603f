package values_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
)

// finding is a violation without its words.
type finding struct {
	rule    revision.Rule
	node    string
	pointer string
}

// violation is a tree that breaks one rule: the garden with one mistake.
type violation struct {
	mistake func(t *values.Tree)
	want    finding
	// also are findings that follow from the mistake.
	also []revision.Rule
}

func node(t *values.Tree, id string) *values.Node {
	for i := range t.Nodes {
		if t.Nodes[i].NodeID == id {
			return &t.Nodes[i]
		}
	}
	return nil
}

func at(i int, field string) string { return fmt.Sprintf("/nodes/%d%s", i, field) }

// The positions of nodes and edges in a garden that was read: nodes by id, edges by parent and place.
const (
	posAct1, posAct2, posAct3, posDrv1, posDrv2, posMil1, posMil2 = 0, 1, 2, 3, 4, 5, 6
	edgeDrv1Mil1, edgeDrv1Act2, edgeDrv2Act3                      = 0, 1, 2
	edgeMil1Mil2, edgeMil2Act1                                    = 3, 4
)

func violations() map[string]violation {
	later := monday.Add(48 * time.Hour)
	return map[string]violation{
		"an id of another form": {func(t *values.Tree) { node(t, act(4)).NodeID = "task_1" }, finding{
			values.RuleNodeID, "task_1", at(7, "/nodeId")}, []revision.Rule{values.RuleEdgeChildUnknown, values.RuleNoParent}},
		"a new id that can be guessed": {func(t *values.Tree) {
			node(t, act(4)).
				NodeID = "act_4"
			t.Edges[5].ChildNodeID = "act_4"
		}, finding{values.RuleNewNodeID, "act_4", at(7, "/nodeId")}, nil},
		"a node twice": {func(t *values.Tree) { t.Nodes[7] = t.Nodes[posAct1]; t.Edges = t.Edges[:5] },
			finding{values.RuleNodeTwice, act(1), at(7, "/nodeId")}, nil},
		"an unknown type": {func(t *values.Tree) { node(t, act(4)).NodeType = "GOAL" },
			finding{values.RuleNodeType, act(4), at(7, "/nodeType")}, []revision.Rule{values.RuleDriverForeign}},
		"another type than before": {func(t *values.Tree) { node(t, mil(2)).NodeType = values.Driver },
			finding{values.RuleNodeTypeChanged, mil(2), at(posMil2, "/nodeType")}, []revision.Rule{
				values.RuleEdgeChildDriver, values.RuleEdgeChildType, values.RuleParentForeign, values.RuleParentType,
				values.RuleRootDriver, values.RuleDriverNotAbove,
			}},
		"no title": {func(t *values.Tree) { node(t, act(1)).Title = "" },
			finding{values.RuleTitleMissing, act(1), at(posAct1, "/title")}, nil},
		"a long title": {func(t *values.Tree) { node(t, act(1)).Title = strings.Repeat("ä", 501) },
			finding{values.RuleTitleLong, act(1), at(posAct1, "/title")}, nil},
		"a title that is no text": {func(t *values.Tree) { node(t, act(1)).Title = "a\xff" },
			finding{values.RuleText, act(1), at(posAct1, "/title")}, nil},
		"long notes": {func(t *values.Tree) { node(t, act(1)).Notes = strings.Repeat("a", 10<<10+1) },
			finding{values.RuleNotesLong, act(1), at(posAct1, "/notes")}, nil},
		"notes that are no text": {func(t *values.Tree) { node(t, act(1)).Notes = "\xc0" },
			finding{values.RuleText, act(1), at(posAct1, "/notes")}, nil},
		"another creation": {func(t *values.Tree) { node(t, act(1)).CreatedAt = monday.Add(-time.Hour) },
			finding{values.RuleCreatedAt, act(1), at(posAct1, "/createdAt")}, nil},
		"a creation of one's own": {func(t *values.Tree) { node(t, act(4)).CreatedAt = monday.Add(-time.Hour) },
			finding{values.RuleCreatedAt, act(4), at(7, "/createdAt")}, nil},
		"a driver that is completed": {func(t *values.Tree) { node(t, drv(1)).CompletedAt = monday },
			finding{values.RuleCompletedDriver, drv(1), at(posDrv1, "/completedAt")}, nil},
		"completed tomorrow": {func(t *values.Tree) { node(t, act(1)).CompletedAt = later },
			finding{values.RuleCompletedAt, act(1), at(posAct1, "/completedAt")}, nil},
		"deleted and in sight": {func(t *values.Tree) { cut(t, act(1)); node(t, act(1)).DeletedAt = monday },
			finding{values.RuleDeletedUnarchived, act(1), at(posAct1, "/archived")}, nil},
		"deleted tomorrow": {func(t *values.Tree) { bury(t, act(1), later) },
			finding{values.RuleDeletedAt, act(1), at(posAct1, "/deletedAt")}, nil},
		"deleted before it was there": {func(t *values.Tree) { bury(t, act(1), monday.Add(-time.Hour)) },
			finding{values.RuleDeletedAt, act(1), at(posAct1, "/deletedAt")}, nil},
		"a node left out": {func(t *values.Tree) { t.Nodes = t.Nodes[1:]; cut(t, act(1)) },
			finding{values.RuleNodeLost, act(1), "/nodes"}, nil},

		"an action without a driver": {func(t *values.Tree) { node(t, act(1)).DriverID = "" },
			finding{values.RuleDriverMissing, act(1), at(posAct1, "/driverId")}, nil},
		"a driver that is not there": {func(t *values.Tree) { node(t, act(1)).DriverID = drv(9) },
			finding{values.RuleDriverUnknown, act(1), at(posAct1, "/driverId")}, nil},
		"a driver that is none": {func(t *values.Tree) { node(t, act(1)).DriverID = mil(1) },
			finding{values.RuleDriverType, act(1), at(posAct1, "/driverId")}, nil},
		"a driver of another branch": {func(t *values.Tree) { node(t, act(1)).DriverID = drv(2) },
			finding{values.RuleDriverNotAbove, act(1), at(posAct1, "/driverId")}, nil},
		"a milestone with a driverId": {func(t *values.Tree) { node(t, mil(1)).DriverID = drv(1) },
			finding{values.RuleDriverForeign, mil(1), at(posMil1, "/driverId")}, nil},
		"a deleted driver": {func(t *values.Tree) { deleteDriver(t) },
			finding{values.RuleDriverDeleted, act(3), at(posAct3, "/driverId")}, []revision.Rule{values.RuleEdgeParentDeleted}},
		"a milestone that is not there": {func(t *values.Tree) { node(t, act(1)).ParentMilestoneID = mil(9) },
			finding{values.RuleParentUnknown, act(1), at(posAct1, "/parentMilestoneId")}, nil},
		"a milestone that is none": {func(t *values.Tree) { node(t, act(1)).ParentMilestoneID = drv(1) },
			finding{values.RuleParentType, act(1), at(posAct1, "/parentMilestoneId")}, nil},
		"a milestone of no edge": {func(t *values.Tree) { node(t, act(1)).ParentMilestoneID = mil(1) },
			finding{values.RuleParentNoEdge, act(1), at(posAct1, "/parentMilestoneId")}, nil},
		"a driver with a milestone": {func(t *values.Tree) { node(t, drv(1)).ParentMilestoneID = mil(1) },
			finding{values.RuleParentForeign, drv(1), at(posDrv1, "/parentMilestoneId")}, nil},
		"another root": {func(t *values.Tree) { node(t, mil(2)).RootDriverID = drv(2) },
			finding{values.RuleRootDriver, mil(2), at(posMil2, "/rootDriverId")}, nil},
		"a node that hangs nowhere": {func(t *values.Tree) { t.Edges = t.Edges[:5] },
			finding{values.RuleNoParent, act(4), at(7, "")}, nil},
		"a cycle": {func(t *values.Tree) { cut(t, mil(1)); link(t, mil(2), 2, mil(1)) },
			finding{values.RuleCycle, mil(1), at(posMil1, "")}, []revision.Rule{values.RuleCycle, values.RuleOrder}},
		"an edge from nowhere": {func(t *values.Tree) { link(t, mil(9), 1, act(1)) },
			finding{values.RuleEdgeParentUnknown, mil(9), "/edges/6/parentNodeId"}, nil},
		"an edge to nowhere": {func(t *values.Tree) { link(t, mil(2), 2, act(9)) },
			finding{values.RuleEdgeChildUnknown, act(9), "/edges/6/childNodeId"}, nil},
		"an edge to a driver": {func(t *values.Tree) { link(t, drv(1), 3, drv(2)) },
			finding{values.RuleEdgeChildDriver, drv(2), "/edges/6/childNodeId"}, nil},
		"an edge from an action": {func(t *values.Tree) { link(t, act(2), 1, act(1)) },
			finding{values.RuleEdgeParentAction, act(2), "/edges/6/parentNodeId"}, nil},
		"an edge from a tombstone": {func(t *values.Tree) { deleteDriver(t) },
			finding{values.RuleEdgeParentDeleted, drv(2), "/edges/2/parentNodeId"}, []revision.Rule{values.RuleDriverDeleted}},
		"an edge to a tombstone": {func(t *values.Tree) {
			n := node(t, act(1))
			n.Archived, n.DeletedAt = true,
				monday
		}, finding{values.RuleEdgeChildDeleted, act(1), "/edges/4/childNodeId"}, nil},
		"a child of another type": {func(t *values.Tree) { t.Edges[edgeDrv1Act2].ChildNodeType = values.Milestone },
			finding{values.RuleEdgeChildType, act(2), "/edges/1/childNodeType"}, nil},
		"an edge twice": {func(t *values.Tree) { link(t, mil(2), 2, act(1)) },
			finding{values.RuleEdgeTwice, act(1), "/edges/6"}, nil},
		"an edge to itself": {func(t *values.Tree) { link(t, mil(2), 2, mil(2)) },
			finding{values.RuleEdgeToItself, mil(2), "/edges/6/childNodeId"}, []revision.Rule{values.RuleCycle}},
		"a gap in the order": {func(t *values.Tree) { t.Edges[edgeDrv1Act2].Order = 3 },
			finding{values.RuleOrder, act(2), "/edges/1/order"}, nil},
		"an order from 0": {func(t *values.Tree) { t.Edges[edgeMil2Act1].Order = 0 },
			finding{values.RuleOrder, act(1), "/edges/4/order"}, nil},
		"two children at one place": {func(t *values.Tree) { t.Edges[edgeDrv1Act2].Order = 1 },
			finding{values.RuleOrderTwice, act(2), "/edges/1/order"}, nil},
		"a tombstone with another title": {func(t *values.Tree) { node(t, act(2)).Title = "" },
			finding{values.RuleTitleMissing, act(2), at(posAct2, "/title")}, nil},
		"a tombstone of no place": {func(t *values.Tree) {
			bury(t, act(1), monday)
			node(t,
				act(1)).DriverID = drv(9)
		}, finding{values.RuleTombstonePlace, act(1), at(posAct1, "/driverId")}, nil},
	}
}

func cut(t *values.Tree, child string) {
	for i, e := range t.Edges {
		if e.ChildNodeID == child {
			t.Edges = append(t.Edges[:i], t.Edges[i+1:]...)
			return
		}
	}
}

func link(t *values.Tree, parent string, order int, child string) {
	t.Edges = append(t.Edges, values.Edge{ParentNodeID: parent, Order: order, ChildNodeID: child})
}

func bury(t *values.Tree, id string, when time.Time) {
	cut(t, id)
	node(t, id).Archived, node(t, id).DeletedAt = true, when
}

func deleteDriver(t *values.Tree) {
	node(t, drv(2)).Archived, node(t, drv(2)).DeletedAt = true, monday
}

func TestCommit_namesTheNodeOfEachBrokenRuleAndWritesNothing(t *testing.T) {
	t.Parallel()
	kinds := map[revision.Rule]bool{}
	for name, c := range violations() {
		kinds[c.want.rule] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
	require.GreaterOrEqual(t, len(kinds), 30)
}

func (c violation) check(t *testing.T) {
	b := setup(t)
	first := b.plant()
	next := values.Tree{
		Nodes: append([]values.Node{}, first.State.Nodes...), Edges: append([]values.Edge{}, first.State.Edges...),
	}
	next.Nodes = append(next.Nodes, values.Node{NodeID: act(4), NodeType: values.Action, Title: "New", DriverID: drv(1)})
	link(&next, mil(1), 2, act(4))
	c.mistake(&next)
	rows := b.table()
	_, err := b.service.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: first.RevID, Message: "m", Source: values.SourceWeeklyReview, Tree: &next,
	})
	var got []finding
	for _, v := range broken(t, err) {
		got = append(got, finding{v.Rule, v.Subject, v.Pointer})
		b.Contains(append(c.also, c.want.rule), v.Rule)
		b.NotEmpty(v.Detail)
	}
	b.Contains(got, c.want)
	b.Equal(rows, b.table(), "nothing is written")
}

func TestCommit_namesEverythingWrongAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := garden()
	tree.Nodes[4].DriverID, tree.Nodes[5].Title, tree.Edges[0].Order = "", "", 7
	_, err := b.service.Commit(b.ctx, "ann", values.Commit{Source: "whim", Tree: &tree})
	var rules []revision.Rule
	for _, v := range broken(t, err) {
		rules = append(rules, v.Rule)
	}
	require.ElementsMatch(t, []revision.Rule{
		revision.RuleMessageMissing, revision.RuleSourceUnknown, values.RuleDriverMissing, values.RuleTitleMissing,
		values.RuleOrder,
	}, rules)
	var asFields *revision.RuleError
	require.ErrorAs(t, err, &asFields)
	fields := asFields.Fields()
	require.Len(t, fields, 5)
	require.Contains(t, fields[2].Detail, act(2))
	require.Contains(t, fields[2].Detail, string(values.RuleTitleMissing))
	require.NotContains(t, err.Error(), "\xff")
}

func TestCommit_boundsItsOwnText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := garden()
	for message, rule := range map[string]revision.Rule{
		strings.Repeat("m", 501): revision.RuleMessageLong, "\xff": revision.RuleMessageText, "": revision.RuleMessageMissing,
	} {
		_, err := b.service.Commit(b.ctx, "ann", values.Commit{
			Message: message, Source: values.SourceWeeklyReview, Tree: &tree,
		})
		b.Equal(rule, broken(t, err)[0].Rule)
	}
	first := b.plant()
	_, err := b.service.Rollback(b.ctx, "ann", first.RevID, first.RevID, "", "")
	b.Equal(revision.RuleMessageMissing, broken(t, err)[0].Rule)
}

// TestCheckText_refusesWhatIsSentAlone has a tree from before the rule for titles and notes.
func TestCheckText_refusesWhatIsSentAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const title, notes = "two\nlines \u202e", "a\x01b\rc"
	first := b.plant()
	for _, row := range b.partition("U#ann#VALUES#" + first.RevID) {
		if row.Key().SK == "NODE#"+act(1) {
			_, err := b.store.Update(b.ctx, table.Update{Key: row.Key(), Set: item.Item{
				"title": item.String(title), "notes": item.String(notes),
			}})
			b.NoError(err)
		}
	}
	old, err := b.service.Current(b.ctx, "ann")
	b.NoError(err)
	b.Equal(title, node(&old.State, act(1)).Title)

	// The node and its neighbours are edited elsewhere, by operations and as a whole tree.
	next, err := b.edit(first.RevID, values.Operation{Kind: values.OpUpdate, NodeID: act(2), Title: text("Sleep")})
	b.NoError(err)
	next, err = b.edit(next.RevID, values.Operation{Kind: values.OpUpdate, NodeID: act(1), Notes: text("plain")})
	b.NoError(err)
	next, err = b.edit(next.RevID, values.Operation{Kind: values.OpDelete, NodeID: act(3)})
	b.NoError(err)
	whole := next.State
	next = b.commit(next.RevID, whole)
	b.Equal(title, node(&next.State, act(1)).Title)

	for field, operation := range map[string]values.Operation{
		"title": {Kind: values.OpUpdate, NodeID: act(2), Title: text(title)},
		"notes": {Kind: values.OpUpdate, NodeID: act(1), Notes: text(notes)},
	} {
		_, err := b.edit(next.RevID, operation)
		violations := broken(t, err)
		b.Len(violations, 1)
		b.Equal(values.RuleText, violations[0].Rule)
		b.Contains(violations[0].Pointer, field)
		b.Regexp(`U\+[0-9A-F]{4}`, violations[0].Detail)
	}
	_, err = b.edit(next.RevID, values.Operation{Kind: values.OpUpdate, NodeID: act(1), Title: text("one line")})
	b.NoError(err)
	_, err = b.edit(b.head(), values.Operation{Kind: values.OpUpdate, NodeID: act(1), Title: text(title)})
	b.Equal(values.RuleText, broken(t, err)[0].Rule, "the title is no longer the parent's")
}

// head is the present revision.
func (b *fixture) head() string {
	current, err := b.service.Current(b.ctx, "ann")
	b.NoError(err)
	return current.Head.RevID
}

func TestCheckTombstone_keepsTombstonesInLaterSnapshots(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.plant()
	gone, err := b.edit(first.RevID, values.Operation{Kind: values.OpDelete, NodeID: act(1)})
	b.NoError(err)
	stone := *node(&gone.State, act(1))
	b.True(stone.Archived)
	b.Equal(gone.RevTs, stone.DeletedAt)

	// A client that leaves tombstones out loses none.
	left := values.Tree{Edges: gone.State.Edges}
	for _, n := range gone.State.Nodes {
		if n.NodeID != act(1) {
			left.Nodes = append(left.Nodes, n)
		}
	}
	next := b.commit(gone.RevID, left)
	b.Equal(gone.State, next.State)

	// One that changes it is refused, and one that restores it is not.
	changed := values.Tree{Nodes: append([]values.Node{}, next.State.Nodes...), Edges: next.State.Edges}
	node(&changed, act(1)).Title = "Something else"
	_, err = b.service.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: next.RevID, Message: "m", Source: values.SourceWeeklyReview, Tree: &changed,
	})
	b.Equal(finding{values.RuleTombstoneChanged, act(1), at(posAct1, "")},
		finding{broken(t, err)[0].Rule, broken(t, err)[0].Subject, broken(t, err)[0].Pointer})
	back := values.Tree{
		Nodes: append([]values.Node{}, next.State.Nodes...), Edges: append([]values.Edge{}, next.State.Edges...),
	}
	node(&back, act(1)).Archived, node(&back, act(1)).DeletedAt = false, time.Time{}
	link(&back, mil(2), 1, act(1))
	b.Equal(first.State, b.commit(next.RevID, back).State)
}
