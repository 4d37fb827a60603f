// Package changelog reads and forms the rows of a user's change log. Such a row, CHANGE#<n>, says which things have
// changed and how far. Package changes appends rows; a reader of them brings a device up to date.
//
// It promises:
//
//   - The number of a row is consecutive: row n+1 is only ever put under the condition that there is no row, by a
//     writer that has read row n consistently.
//   - An entry is a hint, not data: it names a thing and a version that the thing has reached, never content. An entry
//     may be repeated, or come after a later one of the same thing.
//   - TTL deletes rows in any order. Where rows may have been lost in front of a row, that row says so ([Row.First]).
//     A row that is [Row.Old] must not be relied on: rows behind it may be gone without a trace.
//
// It must never read a clock, draw a random number or know what an item contains.
package changelog
