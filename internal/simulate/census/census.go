// Package census reports which part of the covered code the simulation executes: how many statements of each package,
// and which branches it never reaches.
//
// It reads the profile of a program built with coverage, and the source of the profile. A branch is named by its
// function and its text, never by a line number, so that the list of unreached branches survives edits elsewhere. It
// promises that every branch is executed, listed with a reason, or a failure. It must never be imported by anything
// but its own program and tests.
package census

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Packages are those that the simulation has to execute, under pkg.
var Packages = []string{"projection", "reminders", "archive", "consume"}

// Goal is the least share of statements, in percent, that the simulation alone executes of each package.
const Goal = 95.0

// Share counts the executed statements of a package.
type Share struct {
	Package              string
	Statements, Executed int
}

// Percent is the share of statements that were executed.
func (s Share) Percent() float64 { return 100 * float64(s.Executed) / float64(max(s.Statements, 1)) }

// Branch is one way through a function: the body of a condition, of a case, of a loop, or what follows them.
type Branch struct {
	File     string // under pkg, with slashes
	Function string
	Text     string // of the branch: its condition, and its first statement
	Conflict bool   // it handles a concurrent change, or a lock
	Executed bool
}

func (b Branch) String() string { return fmt.Sprintf("%s %s: %s", b.File, b.Function, b.Text) }

func (b Branch) place() Place { return Place{b.File, b.Function, b.Text} }

// Place names a branch in the list of those that are never reached.
type Place struct{ File, Function, Text string }

// Result is the code that a run of the simulation executed.
type Result struct {
	Shares   []Share
	Branches []Branch
	passed   map[Place]bool // statements after branches, executed or not
}

// Problems holds the result against the goal and the list of what is never reached, with the reasons. It returns what
// is wrong: a package below the goal, a branch that is neither reached nor listed, and a listed one that the code does
// not have.
func (r Result) Problems(listed map[Place]string) (problems []string) {
	for _, s := range r.Shares {
		if s.Percent() < Goal {
			problems = append(problems, fmt.Sprintf("pkg/%s: %.1f %% of statements, want %.0f", s.Package, s.Percent(), Goal))
		}
	}
	known := map[Place]bool{}
	for _, b := range r.Branches {
		known[b.place()] = true
		if _, isListed := listed[b.place()]; !b.Executed && !isListed {
			problems = append(problems, "never reached, and not listed: "+b.String())
		}
	}
	for place := range listed {
		if !known[place] && !r.passed[place] {
			problems = append(problems,
				fmt.Sprintf("listed, and not in the code: %s %s: %s", place.File, place.Function, place.Text))
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// Reached lists executed places that the list calls unreached: the list can drop them.
func (r Result) Reached(listed map[Place]string) (out []Branch) {
	unreached := map[Place]bool{}
	for _, b := range r.Branches {
		unreached[b.place()] = unreached[b.place()] || !b.Executed
	}
	for _, b := range r.Branches {
		if _, isListed := listed[b.place()]; isListed && !unreached[b.place()] {
			out = append(out, b)
		}
	}
	return out
}

// Conflicts counts the branches that handle a conflict, and those of them that were executed.
func (r Result) Conflicts() (all, executed int) {
	for _, b := range r.Branches {
		if b.Conflict {
			all++
			if b.Executed {
				executed++
			}
		}
	}
	return all, executed
}

// New makes the result of a profile and of the files it is about, by their names in the profile without the module's.
func New(profile []Block, sources map[string][]byte) (Result, error) {
	r := Result{passed: map[Place]bool{}}
	byFile := map[string][]Block{}
	for _, b := range profile {
		byFile[b.File] = append(byFile[b.File], b)
	}
	shares := map[string]*Share{}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		name, _, _ := strings.Cut(file, "/")
		if shares[name] == nil {
			shares[name] = &Share{Package: name}
		}
		for _, b := range byFile[file] {
			shares[name].Statements += b.Statements
			if b.Count > 0 {
				shares[name].Executed += b.Statements
			}
		}
		branches, passed, err := branchesOf(file, sources[file], byFile[file])
		if err != nil {
			return Result{}, err
		}
		r.Branches = append(r.Branches, branches...)
		for _, place := range passed {
			r.passed[place] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		r.Shares = append(r.Shares, *shares[name])
	}
	return r, nil
}
