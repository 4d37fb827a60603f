// Package verify is the operators' check of everything derived: it recounts, from the items that stand in the table,
// the statistics, ledger rows, links, schedules, timers, ends, cold copies, deliveries, walks and kept rows, says what
// differs, and puts it right.
//
// It promises that a difference it names was there in two looks with a pause between, so that what is merely under way
// is not named while the stream keeps up; that a repair goes the ways of the consumers, under their conditions, and may
// run beside them and be repeated; and that its memory does not grow with the number of users, or of one user's items.
//
// It must never be part of a function: together with the local platform it is the only user of [table.Walker]. It must
// never decide on the answer of an index, and never write an item but to take away an end that nothing gave it, or to
// undo an exception whose series is not there. It must never delete a kept row that an item names or a cold copy waits
// for.
package verify
