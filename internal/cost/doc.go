// Package cost computes the cost of a month of a given load. It replays the load in virtual time through the deployed
// commands, queries, consumers and notifier, on the memory store. It counts everything that a service bills, and
// applies prices to the counts.
//
// It promises that everything that can be counted is counted, by the adapters and ports that the code itself uses:
// capacity units of the table and of each index, requests, invocations, log lines, events, schedules, objects, stored
// bytes. The rest is modelled, and each line of the bill says which it is: the duration of an invocation is derived
// from counted calls and assumed latencies. The same load, scale and seed give the same counts.
//
// It must never be wired to anything that is billed, and never count what the code does not do: only cheaper code
// makes a cheaper bill.
package cost
