// Package release tells which release of Nexus a tree is, and whether it may be deployed over another one.
//
// It promises that a deployment goes back by one release at most. A release understands the rows of the one before it
// and of the one after it; of later ones it may count wrongly (docs/operations.md, "Deployment and rollback").
package release

import (
	"fmt"
	"slices"
	"strings"
)

// The outputs of a stack that name its release, and the one before.
const (
	Output       = "Release"
	OutputBefore = "ReleaseBefore"
)

// unreleased ends the name of what follows a release and is not released yet.
const unreleased = "+unreleased"

// Release is a release as a stack's outputs name it: its version and that of the release before.
type Release struct{ Name, Before string }

// Read returns the releases that a changelog lists, the newest first: headings such as "## [0.1.0] - 2026-11-23" (Keep
// a Changelog 1.1.0). Changes under "## [Unreleased]" make a release of their own after the newest.
func Read(changelog string) ([]string, error) {
	var names []string
	isNew := false
	for line := range strings.Lines(changelog) {
		heading, isHeading := strings.CutPrefix(line, "## [")
		name, _, isClosed := strings.Cut(heading, "]")
		switch {
		case isHeading && isClosed && name != "Unreleased":
			names = append(names, name)
		case len(names) == 0 && strings.HasPrefix(line, "- "):
			isNew = true
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("changelog: no heading of a release such as ## [0.1.0]")
	}
	if isNew {
		names = append([]string{names[0] + unreleased}, names...)
	}
	return names, nil
}

// Newest returns the newest of the releases.
func Newest(names []string) Release {
	out := Release{Name: names[0]}
	if len(names) > 1 {
		out.Before = names[1]
	}
	return out
}

// Check returns an error if the newest of our releases is more than one before the deployed one. A stack without a
// release is older than all that have one.
func Check(deployed Release, ours []string) error {
	version := func(name string) string { return strings.TrimSuffix(name, unreleased) }
	isKnown := slices.ContainsFunc(ours, func(name string) bool { return version(name) == version(deployed.Name) })
	if deployed.Name == "" || isKnown || version(ours[0]) == version(deployed.Before) {
		return nil
	}
	return fmt.Errorf("release %s is deployed, and the one before it was %s: %s is further back. It may count wrongly "+
		"what later releases wrote. Deploy %s, or go forward", deployed.Name, deployed.Before, ours[0], deployed.Before)
}
