package entity

import (
	"errors"
	"fmt"

	"nexus/pkg/item"
)

// AttrForm is the form of a bookkeeping row: ledger rows, deliveries, cursors, rows that name cold copies, and rows
// that hold sums. The first form has no such attribute; it is the only one that this release reads and writes. A
// release whose rows the previous release cannot read gives them the next number.
const AttrForm = "form"

// ErrNewerForm says that a later release wrote the row. The row is left alone, and the record that needs it must be
// delivered again: the later release processes it.
var ErrNewerForm = errors.New("a later release wrote the row")

// CheckForm returns an [ErrNewerForm] if this release cannot read the row's form, which the named attribute holds. A
// missing row has no form.
func CheckForm(row item.Item, attr string) error {
	if row.Has(attr) {
		return fmt.Errorf("%w: %s of %s is %v", ErrNewerForm, attr, row.Key(), row[attr])
	}
	return nil
}
