// Package query is the read side: it answers every question about a user's entities from the table and its indexes,
// and changes nothing but its own caches.
//
// It promises:
//   - An answer holds nothing of another user.
//   - An entity is shown as of now, even if the consumers are late: past its ttl it does not exist, and past its
//     archiveAt a completed task is archived.
//   - One entity read by its key is as its last write left it. Lists come from indexes, which may lag a moment.
//   - A cursor is valid only for the question that it was returned for.
//   - A series is answered by its occurrences, of which a page makes no more than it shows.
//   - A search answers from an index of words, which the user's first search makes (docs/search.md). It may be
//     repeated: losing a snapshot of the index, or writing it twice, costs time alone.
//
// It must never scan, and never filter on anything but tags where the keys give the answer.
package query
