// Package simulate plays random histories of the whole system under every fault that it must bear, and holds what comes
// of them against the invariants of docs/correctness.md.
//
// A history is single-threaded and runs in virtual time on the memory store: the real commands, consumers, batch loop
// and notifier, with the ports below them (store, scheduler, bus, object store) in the hands of one scheduler. Every
// piece of work is a coroutine that can be held at each of its port calls while others go on, that can be told a lie
// about a call's outcome, or that is never resumed: a crash. One seed makes one history, to the last call.
//
// It promises that the same [Spec] gives the same history and the same verdict on every machine, and that a violation
// comes with the one line that plays it again. What judges is written against the documents and not with the code it
// judges: it recounts items, expands rules by itself, and goes by the log of what was written when. It must never
// sleep, read a clock, or share anything between two histories.
package simulate
