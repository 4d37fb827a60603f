// Package recent holds what has happened lately in the local platform: the records of the stream with their outcomes at
// each consumer, and the spans of traces.
//
// It promises that the memory it takes is bounded, in number and in bytes, and that a list says when something older
// has left. It must never be a source of truth: it begins empty with the process, and nothing is decided by it.
package recent
