// Package query is the read side: it answers every question about a user's entities from the table and its indexes, and
// changes nothing.
//
// It promises that an answer holds nothing of another user; that an entity is shown as time has made it (past its ttl
// it does not exist, past its archiveAt a completed task is archived), however late the consumers are; that one entity
// read by its key is as its last write left it, while lists come from indexes, which may lag a moment; and that a
// cursor leads only on within the very question it was given for. A series is answered by its occurrences, of which a
// page makes no more than it shows.
//
// It must never scan, and never filter on anything but tags.
package query
