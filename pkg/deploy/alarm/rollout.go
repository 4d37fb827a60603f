package alarm

import (
	"slices"

	"nexus/pkg/deploy/env"
)

// Reverting returns the names of those of the alarms that take a new version of the function back while it gets its
// first calls: its own, and the one of requests that are made all the time.
func Reverting(f env.Function, all []Alarm) []string {
	names := []string{prefix + string(f) + "-errors", prefix + string(f) + "-slow", prefix + "canary-failed"}
	if f == env.Command || f == env.Query {
		names = append(names, prefix+"server-errors")
	}
	var out []string
	for _, a := range all {
		if slices.Contains(names, a.Name) {
			out = append(out, a.Name)
		}
	}
	return out
}

// prefix begins the name of each alarm.
const prefix = "nexus-"
