// Package e2e holds the tests of the built nexus binary from outside: a real process with a real engine, plain HTTP,
// signals as an operating system sends them, and a recount of everything derived from what stands in the table.
//
// It promises that the recount is independent: the derived numbers come from a plain Scan through the AWS SDK and from
// what clients were told, never from the packages under test. Every process a test starts is stopped by its id when the
// test ends, however it ends, and the kernel stops it where a test has no chance to.
//
// It must never reach beyond the loopback interface, and never wait without a bound. What takes long runs under
// NEXUS_SOAK only; a test that was shortened says so in its log.
package e2e
