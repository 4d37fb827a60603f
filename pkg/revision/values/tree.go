package values

import (
	"cmp"
	"slices"
	"time"

	"nexus/pkg/entity/repository"
)

// NodeType is the type of a node.
type NodeType string

// The types of nodes.
const (
	Driver    NodeType = "DRIVER"
	Milestone NodeType = "MILESTONE"
	Action    NodeType = "ACTION"
)

// idPrefix is the prefix of the ids made for nodes of the type; empty for no type.
func (t NodeType) idPrefix() string {
	switch t {
	case Driver:
		return repository.DriverPrefix
	case Milestone:
		return repository.MilestonePrefix
	case Action:
		return repository.ActionPrefix
	}
	return ""
}

// Bounds of a tree.
const (
	MaxNodes = 2000
	MaxEdges = 4 * MaxNodes
	// MaxText bounds the titles and notes of a whole tree, in bytes: with the frame of 2,000 nodes and 8,000 edges, and
	// each byte escaped twice, an answer of Lambda (6 MB) carries it.
	MaxText  = 1 << 20
	maxTitle = 500      // characters
	maxNotes = 10 << 10 // bytes
)

// Node is a driver, a milestone or an action. Instants are in whole seconds; a zero one is absent.
type Node struct {
	NodeID      string    `json:"nodeId"`
	NodeType    NodeType  `json:"nodeType"`
	Title       string    `json:"title"`
	Notes       string    `json:"notes,omitempty"`
	CreatedAt   time.Time `json:"createdAt,omitzero"`
	CompletedAt time.Time `json:"completedAt,omitzero"`
	// Archived nodes are hidden. With DeletedAt they are tombstones, which have no edges.
	Archived  bool      `json:"archived,omitempty"`
	DeletedAt time.Time `json:"deletedAt,omitzero"`
	// ForgottenAt is when the words of a tombstone were removed: it has neither a title nor notes.
	ForgottenAt time.Time `json:"forgottenAt,omitzero"`
	// DriverID is the driver that an action serves.
	DriverID string `json:"driverId,omitempty"`
	// ParentMilestoneID is the first of the milestones that the node is a child of.
	ParentMilestoneID string `json:"parentMilestoneId,omitempty"`
	// RootDriverID is the driver at the end of the node's first parents; a driver's own id.
	RootDriverID string `json:"rootDriverId,omitempty"`
}

// Deleted reports whether the node is a tombstone.
func (n Node) Deleted() bool { return !n.DeletedAt.IsZero() }

// Edge leads from a parent to a child. Order counts the parent's children from 1.
type Edge struct {
	ParentNodeID  string   `json:"parentNodeId"`
	Order         int      `json:"order"`
	ChildNodeID   string   `json:"childNodeId"`
	ChildNodeType NodeType `json:"childNodeType,omitempty"`
}

// Tree is a state of the values tree. When read, its nodes are in the order of their ids, and its edges in that of
// their parents and then of their places.
type Tree struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Forgotten reports whether the node is a tombstone without its words.
func (n Node) Forgotten() bool { return n.Deleted() && !n.ForgottenAt.IsZero() }

func (t *Tree) sort() {
	slices.SortStableFunc(t.Nodes, func(a, b Node) int { return cmp.Compare(a.NodeID, b.NodeID) })
	slices.SortStableFunc(t.Edges, compareEdges)
}

func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.ParentNodeID, b.ParentNodeID), cmp.Compare(a.Order, b.Order),
		cmp.Compare(a.ChildNodeID, b.ChildNodeID))
}

// index returns the nodes by id; of two with one id the first.
func (t Tree) index() map[string]*Node {
	nodes := make(map[string]*Node, len(t.Nodes))
	for i := range t.Nodes {
		if nodes[t.Nodes[i].NodeID] == nil {
			nodes[t.Nodes[i].NodeID] = &t.Nodes[i]
		}
	}
	return nodes
}

func (t Tree) clone() Tree { return Tree{slices.Clone(t.Nodes), slices.Clone(t.Edges)} }
