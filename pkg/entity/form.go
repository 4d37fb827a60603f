package entity

import (
	"errors"
	"fmt"

	"nexus/pkg/item"
)

// AttrForm is the form of a row of bookkeeping: ledger rows, deliveries, cursors, rows that name cold copies, and the
// rows that hold sums. The first form is the absence of the attribute, and the only one that this release reads and
// writes. A release that writes rows which the release before cannot read gives them the next number.
const AttrForm = "form"

// ErrNewerForm: a later release wrote the row. It is left alone, and what asks for it is to come again: the later
// release goes on with it.
var ErrNewerForm = errors.New("a later release wrote the row")

// CheckForm returns an [ErrNewerForm] for a row whose form, in the attribute named, is none that this release reads. A
// row that is not there has no form.
func CheckForm(row item.Item, attr string) error {
	if row.Has(attr) {
		return fmt.Errorf("%w: %s of %s is %v", ErrNewerForm, attr, row.Key(), row[attr])
	}
	return nil
}
