// Package limit bounds what one user may keep and how fast one user may ask, so that no other user waits for it or pays
// for it. It owns the numbers, as data; the row RATE#<policy> of each user, which meters requests; and the judgement of
// quotas. The HTTP surface asks it; a direct invocation is trusted and does not.
//
// A rate is metered by the generic cell rate algorithm (ITU-T I.371, annex A) with one number: the instant at which the
// bucket would be full again. A use moves the instant on, under the condition that it is as read.
//
// It promises:
//   - An instance of a function asks the row for one request in ten, by a random number of its own, and counts ten. So
//     nothing that a client sends decides whether it is counted.
//   - What always asks pays before its first write. A use that came too late twice gets the benefit only if the row
//     that came back has room.
//   - A refusal is kept in memory until the bucket would be full again, at most a minute. So a user who does not wait
//     costs no call to the table.
//   - What a request costs beyond its point is owed afterwards, at most one bucket.
//
// Repeating a use is safe in one direction: a write whose answer was lost may count twice, never less than once.
//
// It must never refuse what frees: deletes, revocations, pruning. It must never know an operation, or read an entity.
package limit
