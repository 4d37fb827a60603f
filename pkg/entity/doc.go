// Package entity holds the words that every other package shares: entity types as data, the keys of all rows, parsing,
// merging, validation and JSON. Package product has the types of the product.
//
// It promises that a key is built and parsed nowhere else, that an item which passed [Type.Validate] obeys the
// conventions in docs/data-model.md, and that validation names every broken field at once. It knows no store, no
// network and no clock, and imports pkg/item, pkg/recurrence and pkg/wallclock alone beside the standard library.
package entity
