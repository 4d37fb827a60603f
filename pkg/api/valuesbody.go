package api

import (
	"net/http"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/revision/values"
)

// Members about the values tree.
const (
	memberNodes      = "nodes"
	memberEdges      = "edges"
	memberOperations = "operations"
	memberNodeID     = "nodeId"
	memberTitle      = entity.AttrTitle
	memberNotes      = "notes"
	memberRemembered = "remembered"
)

// Names of the schemas about the values tree.
const (
	valuesNode      = "ValuesNode"
	valuesEdge      = "ValuesEdge"
	valuesOperation = "ValuesOperation"
	valuesRevision  = "ValuesRevision"
	valuesDiff      = "ValuesDiff"
	valuesCommit    = "ValuesCommit"
)

// readCommitOfTree reads the members of a values tree's commit by type; the repository checks the rules.
func readCommitOfTree(c call) (values.Commit, *Problem) {
	var wrong findings
	r := &reading{doc: c.doc, wrong: &wrong}
	commit := values.Commit{
		ParentRevID: r.text(memberParentRevID), Message: r.text(memberMessage), Source: r.text(memberSource),
		IdempotencyKey: c.key,
	}
	nodes, hasNodes := readList(r, memberNodes, readNode)
	edges, hasEdges := readList(r, memberEdges, readEdge)
	operations, hasOperations := readList(r, memberOperations, readOperation)
	r.finish()
	switch {
	case hasOperations && (hasNodes || hasEdges):
		wrong.add("/"+memberOperations, "must not stand beside a whole tree")
	case hasOperations:
		commit.Operations = listed(operations)
	case !hasNodes || !hasEdges:
		wrong.add("", "must have %s and %s, or %s", memberNodes, memberEdges, memberOperations)
	default:
		commit.Tree = &values.Tree{Nodes: nodes, Edges: edges}
	}
	if len(wrong) > 0 {
		return values.Commit{}, refuseFields(wrong...)
	}
	return commit, nil
}

func readNode(r *reading) values.Node {
	return values.Node{
		NodeID: r.text(memberNodeID), NodeType: values.NodeType(r.text("nodeType")), Title: r.text(memberTitle),
		Notes: r.text(memberNotes), CreatedAt: r.instant(entity.AttrCreatedAt), CompletedAt: r.instant("completedAt"),
		Archived: r.flag("archived"), DeletedAt: r.instant("deletedAt"), ForgottenAt: r.instant("forgottenAt"),
		DriverID: r.text("driverId"), ParentMilestoneID: r.text("parentMilestoneId"), RootDriverID: r.text("rootDriverId"),
	}
}

func readEdge(r *reading) values.Edge {
	return values.Edge{
		ParentNodeID: r.text("parentNodeId"), Order: r.whole("order"), ChildNodeID: r.text("childNodeId"),
		ChildNodeType: values.NodeType(r.text("childNodeType")),
	}
}

func readOperation(r *reading) values.Operation {
	return values.Operation{
		Kind: values.OperationKind(r.text("op")), NodeID: r.text(memberNodeID), NodeType: values.NodeType(r.text("nodeType")),
		Title: r.mayText(memberTitle), Notes: r.mayText(memberNotes), DriverID: r.mayText("driverId"),
		ParentMilestoneID: r.mayText("parentMilestoneId"), ParentID: r.text("parentId"), FromID: r.text("fromId"),
		Position: r.whole("position"), Order: r.texts("order"),
	}
}

func commitValuesBody() *body {
	const driver = "drv_1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
	return &body{
		required: true, limit: maxCommit, schema: schemaRef(valuesCommit),
		example: map[string]any{
			memberMessage: "Begun", memberSource: values.SourceWeeklyReview,
			memberNodes: []any{
				map[string]any{memberNodeID: driver, "nodeType": values.Driver, memberTitle: "Stay healthy"},
				map[string]any{
					memberNodeID: exampleAction, "nodeType": values.Action, memberTitle: "Run", "driverId": driver,
				},
			},
			memberEdges: []any{map[string]any{"parentNodeId": driver, "order": 1, "childNodeId": exampleAction}},
		},
	}
}

// nodeIDSchema returns the schema of a node's id, of any type.
func nodeIDSchema(doc string) object {
	return idSchema(doc, repository.DriverPrefix, repository.MilestonePrefix, repository.ActionPrefix,
		repository.NodePrefix)
}

func driverIDSchema(doc string) object {
	return idSchema(doc, repository.DriverPrefix, repository.NodePrefix)
}

func milestoneIDSchema(doc string) object {
	return idSchema(doc, repository.MilestonePrefix, repository.NodePrefix)
}

func actionIDSchema(doc string) object {
	return idSchema(doc, repository.ActionPrefix, repository.NodePrefix)
}

func nodeIDPath() map[string]object {
	return map[string]object{memberNodeID: nodeIDSchema("A node's id.")}
}

func revisionNodePath() map[string]object {
	paths := nodeIDPath()
	paths[memberRevID] = revIDSchema("A revision.")
	return paths
}

func childrenAnswered() []documented {
	return []documented{{status: http.StatusOK, doc: "The revision and the edges.", schema: record(
		[]string{memberRevID, memberRevTs, memberItems},
		append(headMembers(), member{memberItems, listOf(schemaRef(valuesEdge))}),
	)}}
}

func nodeSchema() object {
	return closed([]string{memberNodeID, "nodeType", memberTitle}, object{
		{memberNodeID,
			nodeIDSchema("Its id, which stays the same in every revision. A new node's ends in a lower-case UUID.")},
		{"nodeType", nodeTypeSchema()},
		{memberTitle, object{
			{"type", "string"}, {"maxLength", 500},
			{"description", "Empty in a tombstone that was forgotten, and nowhere else."},
		}},
		{memberNotes, textSchema("At most 10 KB.")},
		{entity.AttrCreatedAt, instantSchema("When it was committed first.")},
		{"completedAt", instantSchema("When it was done; a driver never is.")},
		{"archived", flagSchema("Out of sight, in its place.")},
		{"deletedAt", instantSchema("When it was deleted: an archived node with it is a tombstone, without edges.")},
		{"forgottenAt", instantSchema("When the words of a tombstone were removed. The operation forget sets it.")},
		{"driverId", driverIDSchema("The driver that an action serves: required for an ACTION.")},
		{"parentMilestoneId", milestoneIDSchema("The first of the milestones that it is a child of.")},
		{"rootDriverId",
			driverIDSchema("The driver at its top. It follows from the edges; where it is sent, it must be right.")},
	})
}

func nodeTypeSchema() object {
	return enumSchema(
		"A DRIVER only has children; a MILESTONE has milestones and actions below it; an ACTION has nothing.", values.Driver,
		values.Milestone, values.Action)
}

func edgeSchema() object {
	return closed([]string{"parentNodeId", "order", "childNodeId"}, object{
		{"parentNodeId", nodeIDSchema("From this node")}, {"childNodeId", nodeIDSchema("to this one.")},
		{"order", countSchema("The child's place among those of the parent, from 1, without a gap.", 1, values.MaxEdges)},
		{"childNodeType", nodeTypeSchema()},
	})
}

func operationSchema() object {
	return closed([]string{"op"}, object{
		{"op", enumSchema("What to do. Members that it does not speak of are refused.", values.OpCreate, values.OpUpdate,
			values.OpMove, values.OpLink,
			values.OpUnlink, values.OpReorder, values.OpComplete, values.OpReopen, values.OpArchive, values.OpDelete,
			values.OpForget, values.OpRestore)},
		{memberNodeID, nodeIDSchema("The node. May be left out of create, which then makes an id.")},
		{"nodeType", nodeTypeSchema()},
		{memberTitle, textSchema("create, update, restore: required of a node that was forgotten.")},
		{memberNotes, textSchema("create, update, restore.")},
		{"driverId", driverIDSchema(
			"create, update: the driver that an action serves; create takes that at the parent's top unless given.")},
		{"parentMilestoneId", milestoneIDSchema("update: which of its milestones is the first.")},
		{"parentId", nodeIDSchema("create, move, link, restore: below which node; unlink: which parent to leave.")},
		{"fromId", nodeIDSchema("move: which parent to leave, if there are several.")},
		{"position",
			countSchema("create, move, link, restore: the place among the parent's children, from 1; the last unless given.", 0,
				values.MaxEdges)},
		{"order", listOf(nodeIDSchema("A child."))},
	})
}

func valuesSchemas() object {
	tree := object{
		{memberNodes, atMost(values.MaxNodes, listOf(schemaRef(valuesNode)))},
		{memberEdges, atMost(values.MaxEdges, listOf(schemaRef(valuesEdge)))},
	}
	part := record([]string{memberNodes, memberEdges}, tree)
	return object{
		{headSchema, record(nil, headMembers())},
		{valuesNode, nodeSchema()},
		{valuesEdge, edgeSchema()},
		{valuesOperation, operationSchema()},
		{valuesCommit, closed([]string{memberMessage, memberSource}, append(append(
			commitMembers(memberSource, values.SourceWeeklyReview, values.SourceDailyUpdate, values.SourceCompletion), tree...),
			member{memberOperations, atMost(values.MaxOperations, listOf(schemaRef(valuesOperation)))},
		))},
		{valuesRevision,
			record([]string{memberRevID, memberRevTs, memberNodes, memberEdges}, append(append(
				entryMembers(memberSource), tree...), member{memberRemembered, append(listOf(nodeIDSchema("A node.")), member{
				"description", "In the answer to a rollback: the nodes that were forgotten and have their words again.",
			})}))},
		{prunedSchema, prunedMembers()},
		{valuesDiff, record([]string{"added", "removed", "changed", "moved"}, object{
			{"added", part}, {"removed", part},
			{"changed", changesOf(schemaRef(valuesNode))}, {"moved", changesOf(schemaRef(valuesEdge))},
		})},
	}
}
