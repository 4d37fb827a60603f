// Package cost says what a month of a given load costs: it replays the load in virtual time through the commands,
// queries, consumers and the notifier as they are deployed, on the memory store, counts everything that a service
// bills, and puts prices to the counts.
//
// It promises that what can be counted is counted, by the adapters and ports that the code itself uses: capacity units
// of the table and of each index, requests, invocations, log lines, events, schedules, objects, stored bytes. What
// cannot is modelled, and each line of the bill says which: how long an invocation lasts is made of counted calls and
// assumed latencies. The same load, scale and seed give the same counts.
//
// It must never be wired to anything that is billed, and never count what the code does not do: a cheaper bill is made
// by cheaper code.
package cost
