// Package entity holds what every other package shares: entity types as data, keys, parsing, merging, validation and
// JSON. Package product has the types of the product. Package repository has the keys of versioned repositories.
//
// It promises three things. Keys are built and parsed here and in package repository alone. An item that passed
// [Type.Validate] obeys the conventions in docs/data-model.md. Validation names every broken field at once. It must
// never know a store, a network or a clock. It imports only pkg/item, pkg/recurrence, pkg/text, pkg/wallclock and the
// standard library.
package entity
