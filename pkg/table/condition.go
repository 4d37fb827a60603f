package table

import (
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Condition is the normal form of every condition of a write: [or there is no row] x {any, exists, not exists} x up to
// three tests of top-level scalars, all of which must hold. The zero Condition always holds.
type Condition struct {
	OrNoRow bool // holds as well if there is no row
	Row     RowState
	Tests   []Test // at most maxTests
}

const maxTests = 3

// RowState is the part of a condition on the row itself.
type RowState int

const (
	AnyRow RowState = iota
	RowExists
	RowMissing
)

// Operator compares one attribute.
type Operator int

const (
	// OpEqual holds if the attribute is there and equal.
	OpEqual Operator = iota
	// OpLess holds if the attribute is there, of the same type, and less: strings by bytes, numbers by value.
	OpLess
	// OpMissing holds if the attribute is absent, or the row is.
	OpMissing
)

// Test is one comparison of a top-level attribute with a String, Number or Bool.
type Test struct {
	Op    Operator
	Attr  string
	Value item.Value // none for OpMissing
}

// Equal tests for the value.
func Equal(attr string, v item.Value) Test { return Test{OpEqual, attr, v} }

// Less tests for a value below v.
func Less(attr string, v item.Value) Test { return Test{OpLess, attr, v} }

// Missing tests for the attribute's absence.
func Missing(attr string) Test { return Test{Op: OpMissing, Attr: attr} }

// Exists holds if there is a row and all tests hold.
func Exists(tests ...Test) Condition { return Condition{Row: RowExists, Tests: tests} }

// NotExists holds if there is no row.
func NotExists() Condition { return Condition{Row: RowMissing} }

// OrNoRow holds if there is no row, or all tests hold.
func OrNoRow(tests ...Test) Condition { return Condition{OrNoRow: true, Tests: tests} }

// AtVersion holds if the row exists at this version: the condition of every change of an entity.
func AtVersion(version int64) Condition {
	return Exists(Equal(entity.AttrVersion, item.Int(version)))
}

// Validate reports a condition outside the normal form; every adapter calls it before it sends anything.
func (c Condition) Validate() error {
	if len(c.Tests) > maxTests {
		return fmt.Errorf("%w: %d tests in a condition, at most %d", ErrInvalid, len(c.Tests), maxTests)
	}
	for _, t := range c.Tests {
		switch t.Value.(type) {
		case item.String, item.Number:
		case item.Bool:
			if t.Op == OpLess {
				return fmt.Errorf("%w: booleans have no order (%s)", ErrInvalid, t.Attr)
			}
		case nil:
			if t.Op != OpMissing {
				return fmt.Errorf("%w: no value to compare %s with", ErrInvalid, t.Attr)
			}
		default:
			return fmt.Errorf("%w: %s is compared with no scalar", ErrInvalid, t.Attr)
		}
	}
	return nil
}
