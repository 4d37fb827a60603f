// Package entity holds what every other package shares: entity types as data, the keys of all rows, parsing, merging,
// validation and JSON. Package product has the types of the product.
//
// It promises three things. A key is built and parsed nowhere else. An item that passed [Type.Validate] obeys the
// conventions in docs/data-model.md. Validation names every broken field at once. It must never know a store, a
// network or a clock. It imports only pkg/item, pkg/recurrence, pkg/wallclock and the standard library.
package entity
