// Package engine runs the local DynamoDB engine as a child process, and corrects the engine's deviations from the
// service.
//
// It promises:
//   - An engine that it reports as started answers.
//   - One engine at a time writes a data directory, even after its owner was killed.
//   - An engine which ends on its own is reported.
//   - SDK clients which use [Transport] see the stream as the service would show it.
//
// It must never stop a process that it did not start: pid, start time and command line have to agree.
//
// The engine is a development tool. Nothing that is deployed imports this package.
package engine
