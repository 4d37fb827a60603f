// Package reminders is the consumer that reminds. It maintains the schedules of the items that have reminders,
// including series and their exceptions, and it delivers a reminder when one is due.
//
// It promises:
//   - Every reminder that comes due while it is requested is published as ReminderDue at least once, with one delivery
//     row and one delivery id over all repetitions.
//   - Nothing is published for an item which had changed before its delivery.
//   - Once the stream is quiet, each offset of an item has exactly one schedule for its next due instant, and there is
//     no other.
//
// It must never decide on the image in a record or on the answer of an index, never touch dueSetAt, and never send
// anything except to the bus.
//
// # Why repeating is safe
//
// A record only says "look at this item". The worker reads the item consistently (and USER_META if a time of it
// floats, and the exceptions of a series), and writes the schedules. It then reads again until none of those rows has
// changed: a late duplicate therefore ends in the same schedules as the last record. Each worker writes only the
// schedules of those offsets that its own record, call or cursor names. So the repetition of the same work finds
// everything that a dead worker left: the offset is named again, and a schedule that the item no longer requires is
// deleted. No list of former schedules is needed: an offset that is added or removed is named by the new or the old
// image of that record.
//
// A series is a chain of occurrences for each offset, a recurring reminder one from its trigger on. The next
// occurrence has the schedule, and each snapshot computes the chain again from the rows. An exception with reminders
// of its own is a separate item here. Its record names its offsets and not those of its series, whose chain it may
// leave: the series' row is written in the same transaction, and that record names them. A walk finds the effects of a
// series' change on such exceptions. Its cursor names the exceptions and their offsets before it changes one of them.
//
// A delivery has a row, named after the item, the offset, the occurrence and the due instant. The row is created in
// one transaction with a check of every row on which the decision was based, and holds all values of the event. A
// repetition that finds it sent publishes nothing. A repetition that finds it pending publishes again from the row,
// with the same delivery id. It becomes sent last, when the schedules are right. So a crash at any earlier point
// leaves a row from which the repetition continues.
package reminders
