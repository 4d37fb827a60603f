package values

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/revision"
)

// Attributes of a snapshot's rows.
const (
	attrNodeType          = "nodeType"
	attrNotes             = "notes"
	attrArchived          = "archived"
	attrDriverID          = "driverId"
	attrParentMilestoneID = "parentMilestoneId"
	attrRootDriverID      = "rootDriverId"
	attrChildNodeID       = "childNodeId"
	attrChildNodeType     = "childNodeType"
	attrForgottenAt       = "forgottenAt"
)

// forgottenTitle is the stored title of a node without its words. The release before does not know such nodes. With an
// empty title it would refuse every commit to their tree.
const forgottenTitle = "forgotten"

// Sources of revisions that a client may name.
const (
	SourceWeeklyReview = "weekly_review"
	SourceDailyUpdate  = "daily_update"
	SourceCompletion   = "completion"
)

func shape() revision.Shape[Tree] {
	return revision.Shape[Tree]{
		SourceAttr: "source", Sources: []string{SourceWeeklyReview, SourceDailyUpdate, SourceCompletion},
		MessageRequired: true, Rows: rows, Read: read,
	}
}

func rows(at repository.Address, revID string, t Tree) []item.Item {
	out := make([]item.Item, 0, len(t.Nodes)+len(t.Edges))
	for _, n := range t.Nodes {
		out = append(out, n.row(at.NodeKey(revID, n.NodeID)))
	}
	for _, e := range t.Edges {
		row := at.EdgeKey(revID, e.ParentNodeID, e.Order, e.ChildNodeID).Item()
		row[attrChildNodeID] = item.String(e.ChildNodeID)
		row[attrChildNodeType] = item.String(e.ChildNodeType)
		out = append(out, row)
	}
	return out
}

func (n Node) row(key item.Key) item.Item {
	row := key.Item()
	row[attrNodeType] = item.String(n.NodeType)
	row[entity.AttrTitle] = item.String(n.Title)
	row[attrArchived] = item.Bool(n.Archived)
	for name, value := range map[string]string{
		attrNotes: n.Notes, attrDriverID: n.DriverID, attrParentMilestoneID: n.ParentMilestoneID,
		attrRootDriverID: n.RootDriverID,
	} {
		if value != "" {
			row[name] = item.String(value)
		}
	}
	row.SetTime(entity.AttrCreatedAt, n.CreatedAt)
	row.SetTime(product.AttrCompletedAt, n.CompletedAt)
	row.SetTime(product.AttrDeletedAt, n.DeletedAt)
	if n.Forgotten() {
		row[entity.AttrTitle] = item.String(forgottenTitle)
		row.SetTime(attrForgottenAt, n.ForgottenAt)
	}
	return row
}

// read is the inverse of rows, in the order of the rows' keys.
func read(rows []item.Item) (Tree, error) {
	var t Tree
	for _, row := range rows {
		key, err := repository.ParseSnapshotKey(row.Str(item.AttrSK))
		if err != nil {
			return Tree{}, err
		}
		switch key := key.(type) {
		case repository.NodeRow:
			t.Nodes = append(t.Nodes, readNode(key.NodeID, row))
		case repository.EdgeRow:
			t.Edges = append(t.Edges, readEdge(key, row))
		default:
			return Tree{}, fmt.Errorf("row %s in a values tree", row.Key())
		}
	}
	return t, nil
}

func readNode(id string, row item.Item) Node {
	instant := func(name string) time.Time {
		t, _ := row.Time(name)
		return t
	}
	n := Node{
		NodeID: id, NodeType: NodeType(row.Str(attrNodeType)), Title: row.Str(entity.AttrTitle), Notes: row.Str(attrNotes),
		CreatedAt: instant(entity.AttrCreatedAt), CompletedAt: instant(product.AttrCompletedAt),
		DeletedAt: instant(product.AttrDeletedAt), Archived: row.Bool(attrArchived), DriverID: row.Str(attrDriverID),
		ParentMilestoneID: row.Str(attrParentMilestoneID), RootDriverID: row.Str(attrRootDriverID),
		ForgottenAt: instant(attrForgottenAt),
	}
	if n.Forgotten() {
		n.Title = ""
	}
	return n
}

func readEdge(key repository.EdgeRow, row item.Item) Edge {
	return Edge{
		ParentNodeID: key.ParentID, Order: key.Order, ChildNodeID: key.ChildID,
		ChildNodeType: NodeType(row.Str(attrChildNodeType)),
	}
}
