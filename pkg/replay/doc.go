// Package replay feeds recorded stream records to the consumers and shows the derived result.
//
// A [Feeder] passes records, in any of their stored forms, to consumers through the batch loop that runs in
// production, and reports the outcome of each record at each consumer. A [System] is the consumers over a separate
// table in memory and in virtual time. It takes each record's image into its table, moves its clock to the time of the
// write, and makes the calls that are due on the way. So it reaches, from a recording alone, the state of the recorded
// system. [View.State] prints the derived data in a form in which two systems can be compared.
//
// It promises that a record goes through the same code as in production, and that a refused record is named with the
// reason. A late or repeated record never replaces a newer image by an older one. It must never read a clock. A Feeder
// must never write an item: the consumers decide on every record.
package replay
