// Package ical reads and writes iCalendar (RFC 5545, RFC 6868, RFC 7986) and translates between its components and the
// product's entities.
//
// It has two halves. The codec turns text into a tree of components and back: [Decode] and [Encode]. It keeps what it
// does not know, in its order, so that Decode of Encode of a tree is that tree; a line that is no content line is
// reported and costs that line alone. The mapping turns a tree into drafts of entities and back: [Map] and
// [Draft.Export]. What cannot be taken is listed with its place and its reason, never dropped unseen.
//
// It promises work and memory in proportion to its input, below the bounds of [Limits], and never panics whatever it is
// given. It knows no store, no clock and no network, and must never guess: a time whose zone cannot be
// told is refused, a floating time stays floating.
package ical
