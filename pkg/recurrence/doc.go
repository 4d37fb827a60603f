// Package recurrence turns a recurrence rule, its exceptions and a window into occurrences (RFC 5545 §3.3.10, §3.8.5).
//
// A rule is expanded in the wall-clock time of its zone; each occurrence is resolved to an instant afterwards, so that
// nine o'clock stays nine o'clock across a change of the clocks. docs/recurrence.md says which reading is taken where
// the standard leaves one open.
//
// It promises that every rule a client can send is either refused with the part that is wrong, or answered: with work
// that does not grow with the age of the rule, without allocation for a window, and in a bounded number of steps
// whatever the rule. It expands rules itself, with arithmetic on day numbers and bit masks; no rule reaches anybody
// else's iterator. It knows no clock, no store and no entity, and keeps no state: a [Series] is immutable.
package recurrence
