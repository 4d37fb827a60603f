// Package local is the local platform: the whole system in one process on one machine, for people who develop it, try
// it out, or test programs against it. It starts the table, serves the HTTP API, and drives every consumer of the
// stream through event source mappings. It calls due schedules, removes expired rows, and owns the time of all that.
//
// It promises:
//   - The code under it is the deployed code, wired by the same deployment table.
//   - Time moves only forward, and everything due on the way happens in its order.
//   - With a data directory, every acknowledged write survives a SIGKILL.
//   - A part that fails ends the platform with a report.
//   - A stopped platform leaves no goroutine, process or temporary file.
//
// It must never be deployed: anyone who can reach it can move its time and read every user's data. It listens on the
// loopback interface by default, and nothing that is deployed imports it.
package local
