// Package e2e holds the tests of the built nexus binary from outside: a real process with a real engine, plain HTTP,
// signals as an operating system sends them, and a recount of all derived data from the rows of the table.
//
// It promises that the recount is independent: the derived numbers come from a plain Scan through the AWS SDK and from
// the answers to clients, never from the packages under test. A test stops every process that it started, by its id,
// whenever it ends. The kernel stops it if a test cannot.
//
// It must never reach beyond the loopback interface, and never wait without a bound. Long tests run under NEXUS_SOAK
// only; a shortened test says so in its log.
package e2e
