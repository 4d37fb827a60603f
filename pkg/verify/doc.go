// Package verify is the operators' check of all derived data. It recounts, from the items in the table, the
// statistics, ledger rows, links, schedules, timers, ends, cold copies, deliveries, also on devices, walks, KEPT
// rows and the days of plans, and reports and repairs differences.
//
// It promises:
//   - A difference that it names was found in two reads with a pause between. So it does not name writes that are
//     merely under way, while the stream keeps up.
//   - A repair uses the consumers' own steps, under their conditions. It may run beside them and be repeated.
//   - Its memory does not grow with the number of users, or of one user's items.
//
// It must never be part of a function: only it and the local platform use [table.Walker]. It must never decide on the
// answer of an index. It must never write an item except to remove an unjustified end, or to undo an exception whose
// series does not exist. It must never delete a KEPT row that an item names or a cold copy waits for.
package verify
