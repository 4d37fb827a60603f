package e2e_test

import (
	"fmt"
	"strings"
)

// compareExceptions holds what owners were shown of the occurrences that differ against the table: those rows in force
// and no others, each with what it was given of its own.
func (a *acknowledged) compareExceptions(rows []row) (differences []string) {
	left := map[string]row{}
	for _, k := range a.entities {
		if k.kind == "MASTER" && !k.deleted {
			for date, e := range k.exceptions {
				left[fmt.Sprintf("USER#%s/INSTANCE#%s#%s", k.user, k.id, date)] = e
			}
		}
	}
	for _, r := range rows {
		if r.kind() != "INSTANCE" || r["modifiedFields"] == nil {
			continue
		}
		want := left[r.key()]
		if want == nil {
			differences = append(differences, "exception that was never shown:  "+r.String())
			continue
		}
		delete(left, r.key())
		for _, name := range append(want.dates("modifiedFields"), "modifiedFields") {
			got := r[name]
			if at := r.text(name); (name == "startUtc" || name == "endUtc") && r["startTzid"] == nil {
				got = strings.TrimSuffix(at, "Z")
				if at == "" {
					got = nil
				}
			}
			if text(got) != text(want[name]) {
				differences = append(differences,
					fmt.Sprintf("exception %s: %s is %s, acknowledged %s", r.key(), name, text(got), text(want[name])))
			}
		}
	}
	for key, e := range left {
		differences = append(differences, fmt.Sprintf("exception %s was acknowledged and is lost: %s", key, text(e)))
	}
	return differences
}
