// Package recurrence turns a recurrence rule, its exceptions and a window into occurrences (RFC 5545 §3.3.10,
// §3.8.5).
//
// It expands a rule in the wall-clock time of its zone and then resolves each occurrence to an instant, so that nine
// o'clock stays nine o'clock across a change of the clocks. docs/recurrence.md says which reading it takes where the
// standard leaves one open.
//
// It promises that every rule a client can send is either refused with the part that is wrong, or answered. The work
// for an answer does not grow with the age of the rule, takes a bounded number of steps for any rule, and needs no
// allocation for a window. It expands all rules itself, with arithmetic on day numbers and bit masks. It must never
// know a clock, a store or an entity. It has no state: a [Series] is immutable.
package recurrence
