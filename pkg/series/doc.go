// Package series turns a MASTER and its exceptions into what they mean together: occurrences.
//
// It promises one answer to whoever asks (agenda, commands, reminders, the calendar's export): which occurrences there
// are, when each one is, and how it looks. Everything follows from the rows handed in: an exception counts if its date
// is still one of the rule's, and has of its own only the fields it names. So a change of the series reaches its
// exceptions without a write to them, and an exception whose date the series has lost is out of sight from the very
// write that lost it.
//
// It knows no clock and no store, and changes no item. What it returns shares values with the rows.
package series
