// Package reminders is the consumer that reminds: it keeps the scheduler in agreement with the items that somebody
// wants to be reminded of, series and their exceptions among them, and it is what runs when one of them is due.
//
// It promises that every reminder that comes due while it is wanted is published as ReminderDue at least once, with one
// delivery row and one delivery id however often it is repeated; that nothing is published for an item which had
// changed before its delivery; and that, once the stream is quiet, each offset of an item has exactly one schedule for
// its next due instant and there is no other. It must never decide on the image in a record or on the answer of an
// index, never touch dueSetAt, and never send anything anywhere but to the bus.
//
// # Why repeating is safe
//
// A record only says "look at this item". Whoever looks reads the item consistently (and USER_META if a time of it
// floats, and of a series its exceptions), writes the schedules, and reads again until nothing that decided has
// changed: a late duplicate therefore ends in the same schedules as the last record. Each worker writes the schedules
// of those offsets alone that its own record, call or cursor names. So whatever a worker that died left behind, the
// repetition of the same work finds: the offset is named again, and a schedule that the item no longer wants is
// deleted. No record of what was ever scheduled is needed: an offset that comes or goes is itself a record that names
// it, in its new or in its old image.
//
// A series is a chain of occurrences for each offset, a recurring reminder one from its trigger on: the next one to
// come has the schedule, and a look reckons the chain anew from the rows. An exception with reminders of its own is an
// item of its own here. Its record names its offsets and not those of its series, whose chain it may leave: the series'
// row is written in the same transaction, and that record names them. What a change of a series does to such exceptions
// it finds by a walk, whose cursor names the exceptions and their offsets before one of them is touched.
//
// A delivery has a row, named after the item, the offset, the occurrence and the due instant. The row is
// created in one transaction with a check of everything that decided, and holds all that the event says. A repetition
// finds it: sent is done; pending is published again from the row, with the same delivery id. It becomes sent last,
// when the schedules are right, so that a crash at any point before leaves something that the repetition goes on with.
package reminders
