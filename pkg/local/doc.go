// Package local is the local platform: the whole system in one process on one machine, for people who develop it, try
// it out, or test programs against it. It starts the table, serves the HTTP API, drives every consumer of the stream
// through event source mappings, calls what is due, lets expire what has expired, and owns the time by which all of
// that happens.
//
// It promises that the code under it is the code that is deployed, wired by the same deployment table; that time moves
// only forward and what falls due on the way happens in its order; that with a data directory everything acknowledged
// survives a SIGKILL; that a part which dies ends the platform with a report instead of being hidden; and that a
// stopped platform leaves no goroutine, process or temporary file behind.
//
// It must never be deployed: whoever can reach it can move its time and read every user's data. It listens on the
// loopback interface unless told otherwise, and nothing that is deployed imports it.
package local
