// Package simulate plays random histories of the whole system under every fault that it must tolerate, and checks the
// results against the invariants of docs/correctness.md.
//
// A history is single-threaded and runs in virtual time on the memory store: the real commands, consumers, batch loop
// and notifier, with the ports below them (store, scheduler, bus, object store) controlled by one scheduler. Every
// piece of work is a coroutine. At each of its port calls it can be paused while others continue, get a false answer
// about the call's outcome, or never be resumed: a crash. One seed determines one history, to the last call.
//
// It promises that the same [Spec] gives the same history and the same result on every machine, and that a violation
// is reported with the command line that repeats it. The checks are written from the documents and not from the code
// that they check: they recount items, expand rules by themselves, and use the log of all writes. It must never sleep,
// read a clock, or share anything between two histories.
package simulate
