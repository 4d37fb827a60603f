// Package replay feeds recorded stream records to the consumers and shows what they derive from them.
//
// A [Feeder] brings records, in any form in which they are kept, to consumers through the batch loop that runs in
// production, and reports what became of each at each. A [System] is the consumers over a table of their own in memory
// and in virtual time: it takes each record's image into its table, moves its clock to when that was written, calls
// what falls due on the way, and so comes from a recording alone to the state that the recorded system had.
// [View.State] prints what is derived, in a form in which two systems can be compared.
//
// It promises that a record goes through the same code as in production, that what a consumer refuses is named with the
// reason, and that a record which comes late or twice puts no older image over a newer one. It must never read a clock,
// and a Feeder never writes an item: what it is given to is the consumers' to decide.
package replay
