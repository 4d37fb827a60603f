// Package table is the store port: the operations that the rest of the code may use on the one table.
//
// The set of operations and conditions is closed. So one conformance suite (tabletest) proves every adapter, and no
// expression text exists outside the DynamoDB adapter. Guarantees of every adapter:
//   - A write is applied whole or not at all; so is a transaction, over all its actions.
//   - A failed condition returns a [*ConditionError] with the action's position and the row that was there.
//   - Reads of the table itself are strongly consistent, unless a [Query] says otherwise or it is a Peek. Reads of an
//     index may lag.
//   - An error other than those of this package's sentinels leaves the outcome unknown: repeat the call.
package table

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/item"
	"nexus/pkg/port"
)

// Bounds of the service that callers depend on.
const (
	// MaxActions is the number of actions in one transaction.
	MaxActions = 100
	// MaxBatchGet is the number of keys DynamoDB takes in one BatchGetItem; adapters split longer lists.
	MaxBatchGet = 100
)

// Store is the port. All methods are safe for concurrent use.
type Store interface {
	Reader
	Writer
}

// Reader is the half of the port that changes nothing. The returned items may be shared with the store and with other
// readers: a caller that wants to change one makes a Clone.
type Reader interface {
	// Get returns the row, or [ErrNotFound]. Strongly consistent.
	Get(ctx context.Context, key item.Key) (item.Item, error)
	// BatchGet returns the rows that exist, in the order of keys without the missing ones. Each read is strongly
	// consistent; together they are no snapshot. A repeated key is returned once.
	BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error)
	// Peek is BatchGet for half its units: each row, or its absence, may be that of a moment ago.
	Peek(ctx context.Context, keys []item.Key) ([]item.Item, error)
	// Query returns one page in sort-key order.
	Query(ctx context.Context, q Query) (Page, error)
	// Count returns the number of rows the query would return over all its pages; Limit and Start are ignored.
	Count(ctx context.Context, q Query) (int, error)
}

// Writer is the half of the port that changes rows.
type Writer interface {
	// Put writes the whole row if the condition holds.
	Put(ctx context.Context, p Put) error
	// Update sets and removes named attributes if the condition holds, creates a missing row (unless the condition
	// forbids it), and returns the whole new row.
	Update(ctx context.Context, u Update) (item.Item, error)
	// Delete removes the row if the condition holds; a missing row counts as removed.
	Delete(ctx context.Context, d Delete) error
	// Transact applies 1 to [MaxActions] actions on distinct rows, all or none.
	Transact(ctx context.Context, actions ...Action) error
	// Load writes rows without conditions, any number, not atomically, in no order: for rows that no reader can see yet.
	Load(ctx context.Context, rows []item.Item) error
}

// Walker reads every row of the table in no order. Only the operators' verification and the local platform may have
// it: no function scans.
type Walker interface {
	// Walk calls visit for each row of one of total equal segments and stops at its first error.
	Walk(ctx context.Context, segment, total int, visit func(item.Item) error) error
}

// Query selects the rows of one partition, of the table or of an index.
type Query struct {
	Index Index // Base is the table itself, and then the read is strongly consistent
	// Eventual makes a read of the table itself eventually consistent: it may lag, and costs half.
	Eventual  bool
	Partition string
	Range     Range
	// AnyTag selects rows with one of these tags. It is the only filter, and costs the read of every row in the range.
	// An index that carries keys alone has no tags, and takes no such filter.
	AnyTag []string
	// AnyTagOr names an attribute whose presence lets a row pass the filter: the row may lack tags that another row has.
	// It has no effect without AnyTag.
	AnyTagOr string
	// Limit bounds the rows read before the filter; 0 leaves the page to end at 1 MB.
	Limit      int
	Descending bool
	// Start continues after the row at this position, which is the Next of an earlier page.
	Start Position
}

// Range bounds the sort key. The zero Range is the whole partition. Either Prefix is set, or From and To or one of
// them.
type Range struct {
	Prefix   string
	From, To string // both inclusive
}

// Position is a position in a query's order: the key attributes of the last row read, including those of the index.
// Empty means the beginning, and in a Page that there is no more.
type Position item.Item

// Page is a part of a query's answer. A page may be empty and still have a Next.
type Page struct {
	Items []item.Item
	Next  Position
}

// Action is one member of a transaction: a [Put], [Update], [Delete] or [Check].
type Action interface{ Target() item.Key }

type (
	// Put writes a whole row.
	Put struct {
		Item item.Item
		If   Condition
	}
	// Update changes named top-level attributes of a row.
	Update struct {
		Key    item.Key
		Set    item.Item // never a key attribute of the table
		Remove []string
		If     Condition
	}
	// Delete removes a row.
	Delete struct {
		Key item.Key
		If  Condition
	}
	// Check only tests a row's condition, in a transaction.
	Check struct {
		Key item.Key
		If  Condition
	}
)

func (p Put) Target() item.Key    { return p.Item.Key() }
func (u Update) Target() item.Key { return u.Key }
func (d Delete) Target() item.Key { return d.Key }
func (c Check) Target() item.Key  { return c.Key }

// Errors on which callers decide. They are matched with errors.Is.
var (
	// ErrNotFound says that there is no such row.
	ErrNotFound = port.Error("row not found", port.ErrNotFound)
	// ErrConflict says that another transaction had locked one of the rows; nothing was written; try again.
	ErrConflict = errors.New("transaction conflict")
	// ErrThrottled says that the store refused for load; nothing was written; try again later.
	ErrThrottled = port.Error("store throttled", port.ErrThrottled)
	// ErrUnavailable says that the store failed or did not answer; a write may have been applied or not.
	ErrUnavailable = port.Error("store unavailable", port.ErrUnavailable)
	// ErrInvalid says that the store refuses the request itself (too large, malformed); repeating it cannot help.
	ErrInvalid = port.Error("request refused by the store", port.ErrInvalid)
)

// Failure is one action whose condition did not hold. Old is the row that was there; nil if there was none.
type Failure struct {
	Index int
	Old   item.Item
}

// ConditionError reports the conditions that did not hold, in the order of the actions; nothing was written. A single
// write has the index 0.
type ConditionError struct{ Failures []Failure }

func (e *ConditionError) Error() string {
	indexes := make([]int, len(e.Failures))
	for i, f := range e.Failures {
		indexes[i] = f.Index
	}
	return fmt.Sprintf("condition failed at action %v", indexes)
}

// At returns the failure of the action at the index, and whether it failed.
func (e *ConditionError) At(index int) (Failure, bool) {
	for _, f := range e.Failures {
		if f.Index == index {
			return f, true
		}
	}
	return Failure{}, false
}
