// Package ical reads and writes iCalendar (RFC 5545, RFC 6868, RFC 7986) and translates between its components and the
// product's entities.
//
// It has two halves. The codec turns text into a tree of components and back: [Decode] and [Encode]. It preserves
// unknown content in its order, so that Decode of Encode of a tree is that tree. A line that is no content line is
// reported, and only that line is lost. The mapping turns a tree into drafts of entities and back: [Map] and
// [Draft.Export]. It lists everything that it cannot represent, with its place and its reason.
//
// It promises work and memory in proportion to its input, within the bounds of [Limits], and never to panic. It must
// never know a store, a clock or a network. It must never guess: it refuses a time with an unknown zone, and a
// floating time stays floating.
package ical
