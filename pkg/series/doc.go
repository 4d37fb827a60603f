// Package series combines a MASTER and its exceptions into occurrences.
//
// It promises the same answer to every caller (agenda, commands, reminders, the calendar's export): which occurrences
// there are, when each one is, and how it looks. Everything follows from the rows passed in. An exception counts if
// its date is still one of the rule's, and it overrides only the fields that it names. So a change of the series
// reaches its exceptions without a write to them. The write that removes a date from the series also hides the
// exception of that date.
//
// It must never know a clock or a store, or change an item. Its results share values with the rows.
package series
