package repository

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/item"
)

// Prefixes of the sort keys of a snapshot's rows.
const (
	nodeWord   = "NODE"
	edgeWord   = "EDGE"
	todoWord   = "TODO"
	actionWord = "A"
	blockWord  = "BLOCK"
)

// orderDigits is the width of an order in a sort key, so that 10 does not sort before 2.
const orderDigits = 4

// MaxOrder is the greatest order that a sort key holds.
const MaxOrder = 9999

func formatOrder(order int) string {
	if order < 1 || order > MaxOrder {
		panic(fmt.Sprintf("repository: order %d in a key, want 1 to %d", order, MaxOrder))
	}
	return string(item.AppendDigits(nil, order, orderDigits))
}

func parseOrder(s string) (int, bool) {
	if len(s) != orderDigits {
		return 0, false
	}
	order := item.ReadDigits(s, orderDigits)
	return order, order >= 1 && formatOrder(order) == s
}

// NodeKey is the key of a node in a snapshot of the values tree.
func (a Address) NodeKey(revID, nodeID string) item.Key {
	return item.Key{PK: a.SnapshotPK(revID), SK: join(nodeWord, nodeID)}
}

// NodesPrefix begins the sort keys of all nodes of a snapshot.
func NodesPrefix() string { return nodeWord + separator }

// EdgeKey is the key of the edge from a parent to its child at that place among its children, counted from 1.
func (a Address) EdgeKey(revID, parentID string, order int, childID string) item.Key {
	return item.Key{PK: a.SnapshotPK(revID), SK: join(edgeWord, parentID, formatOrder(order), childID)}
}

// EdgesPrefix begins the sort keys of the edges that leave a node, in the order of its children.
func EdgesPrefix(parentID string) string { return join(edgeWord, parentID) + separator }

// TodoKey is the key of an action's to-do at that place of the day's list, counted from 1.
func (a Address) TodoKey(revID string, order int, actionID string) item.Key {
	return item.Key{PK: a.SnapshotPK(revID), SK: join(todoWord, formatOrder(order), actionWord, actionID)}
}

// BlockKey is the key of a block of time that begins at the instant.
func (a Address) BlockKey(revID string, start time.Time, blockID string) item.Key {
	return item.Key{PK: a.SnapshotPK(revID), SK: join(blockWord, item.FormatInstant(start), blockID)}
}

// SnapshotKey is the parsed sort key of a snapshot's row: a [NodeRow], [EdgeRow], [TodoRow] or [BlockRow].
type SnapshotKey interface{ snapshotKey() }

type (
	// NodeRow is a node of the values tree.
	NodeRow struct{ NodeID string }
	// EdgeRow leads from a node to a child of it.
	EdgeRow struct {
		ParentID string
		Order    int
		ChildID  string
	}
	// TodoRow is a to-do of a daily plan.
	TodoRow struct {
		Order    int
		ActionID string
	}
	// BlockRow is a block of time of a daily plan.
	BlockRow struct {
		Start   time.Time
		BlockID string
	}
)

func (NodeRow) snapshotKey()  {}
func (EdgeRow) snapshotKey()  {}
func (TodoRow) snapshotKey()  {}
func (BlockRow) snapshotKey() {}

// ParseSnapshotKey reads the sort key of a snapshot's row.
func ParseSnapshotKey(sk string) (SnapshotKey, error) {
	parts := strings.Split(sk, separator)
	for _, p := range parts {
		if p == "" {
			return nil, fmt.Errorf("sort key %q: empty component", sk)
		}
	}
	switch {
	case parts[0] == nodeWord && len(parts) == 2:
		return NodeRow{parts[1]}, nil
	case parts[0] == edgeWord && len(parts) == 4:
		if order, ok := parseOrder(parts[2]); ok {
			return EdgeRow{parts[1], order, parts[3]}, nil
		}
	case parts[0] == todoWord && len(parts) == 4 && parts[2] == actionWord:
		if order, ok := parseOrder(parts[1]); ok {
			return TodoRow{order, parts[3]}, nil
		}
	case parts[0] == blockWord && len(parts) == 3:
		if start, err := item.ParseInstant(parts[1]); err == nil {
			return BlockRow{start, parts[2]}, nil
		}
	}
	return nil, fmt.Errorf("sort key %q: not of a snapshot's row, or an order without %d digits", sk, orderDigits)
}
