package values

// OperationKind says what an operation does.
type OperationKind string

// The kinds of operations.
const (
	// OpCreate adds a node below ParentID at Position; a DRIVER has no parent. An ACTION's driver is the one at the root
	// of the parent unless DriverID names another.
	OpCreate OperationKind = "create"
	// OpUpdate sets Title, Notes, DriverID and ParentMilestoneID where they are given.
	OpUpdate OperationKind = "update"
	// OpMove moves the node from FromID, which may be left out if it has one parent, to ParentID at Position. Its fields
	// about its place (driver, first milestone) follow, and so do those of its descendants.
	OpMove OperationKind = "move"
	// OpLink gives the node one more parent, and OpUnlink takes one away.
	OpLink   OperationKind = "link"
	OpUnlink OperationKind = "unlink"
	// OpReorder puts the children of the node in the order of Order, which names each of them.
	OpReorder OperationKind = "reorder"
	// OpComplete and OpReopen set and clear completedAt.
	OpComplete OperationKind = "complete"
	OpReopen   OperationKind = "reopen"
	// OpArchive hides the node; it stays at its place.
	OpArchive OperationKind = "archive"
	// OpDelete makes a tombstone of the node, and of every node that then has no parent left.
	OpDelete OperationKind = "delete"
	// OpForget removes the title and the notes of a deleted node.
	OpForget OperationKind = "forget"
	// OpRestore restores an archived or deleted node; a deleted one below ParentID, or at its recorded place. Title and
	// Notes are set where they are given; a forgotten node needs a title.
	OpRestore OperationKind = "restore"
)

// MaxOperations bounds the operations of one commit.
const MaxOperations = 500

// Operation is one edit of a tree. Fields that its kind does not use are refused.
type Operation struct {
	Kind   OperationKind `json:"op"`
	NodeID string        `json:"nodeId,omitempty"`
	// NodeType of a node to create. Its NodeID may be left out: then it gets a new one.
	NodeType          NodeType `json:"nodeType,omitempty"`
	Title             *string  `json:"title,omitempty"`
	Notes             *string  `json:"notes,omitempty"`
	DriverID          *string  `json:"driverId,omitempty"`
	ParentMilestoneID *string  `json:"parentMilestoneId,omitempty"`
	ParentID          string   `json:"parentId,omitempty"`
	FromID            string   `json:"fromId,omitempty"`
	// Position is the place among the parent's children, from 1; 0 means the last.
	Position int      `json:"position,omitempty"`
	Order    []string `json:"order,omitempty"`
}

// fields returns the names of the fields that an operation has.
func (o Operation) fields() map[string]bool {
	return map[string]bool{
		"nodeType": o.NodeType != "", "title": o.Title != nil, "notes": o.Notes != nil, "driverId": o.DriverID != nil,
		"parentMilestoneId": o.ParentMilestoneID != nil, "parentId": o.ParentID != "", "fromId": o.FromID != "",
		"position": o.Position != 0, "order": len(o.Order) > 0,
	}
}

// speaks lists the fields that a kind accepts in addition to nodeId.
var speaks = map[OperationKind][]string{
	OpCreate:   {"nodeType", "title", "notes", "driverId", "parentId", "position"},
	OpUpdate:   {"title", "notes", "driverId", "parentMilestoneId"},
	OpMove:     {"parentId", "fromId", "position"},
	OpLink:     {"parentId", "position"},
	OpUnlink:   {"parentId"},
	OpReorder:  {"order"},
	OpComplete: {}, OpReopen: {}, OpArchive: {}, OpDelete: {}, OpForget: {},
	OpRestore: {"title", "notes", "parentId", "position"},
}
