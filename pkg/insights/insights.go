// Package insights keeps for each completed task a row at the day of its completion, so that queries count completions
// by reading a range of small rows. It is a projection: the place of a row is a pure function of the task's image.
// Package projection applies each change exactly once; repeating a record is safe for the reason given there.
//
// A completion outlives its task: the row stays when the archived task expires. It goes when the task is reopened, or
// deleted by its user.
//
// The day is in the task, as the command has stamped it. It must never be taken from a clock, a zone or the time of a
// record's delivery.
package insights

import (
	"nexus/pkg/product"
	"nexus/pkg/projection"
)

// Name is the projection's name.
const Name = "insights"

// revision names the function [product.CompletionPlace].
const revision = "i1"

// Projection returns the insights.
func Projection() *projection.Projection {
	return projection.NewIndex(projection.IndexSpec{Name: Name, Revision: revision, Place: product.CompletionPlace})
}
