// Package engine runs the local DynamoDB engine as a child process, and puts right what the engine does differently
// from the service.
//
// It promises that an engine it reports as started answers, that one data directory is written by one engine at a time
// also after its owner was killed, that an engine which ends on its own is reported and never hidden, and that SDK
// clients which use [Transport] see the stream as the service would show it. It must never stop a process that it did
// not start: pid, start time and command line have to agree.
//
// The engine is a development tool. Nothing that is deployed imports this package.
package engine
