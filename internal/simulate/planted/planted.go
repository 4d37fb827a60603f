// Package planted holds plausible mistakes, and plants them: each is a small edit of production code that breaks one
// rule of docs/correctness.md. The simulation has to catch every one of them, or the test that the mistake names; a
// missed one shows a gap there.
//
// A mistake is a file below mistakes, and is applied when a program is built, by an overlay. The package promises that
// nothing in the tree is ever touched and that an outdated mistake is an error: the text to be replaced must occur
// exactly once. It must never be imported by anything but its own program and tests.
package planted

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"nexus/internal/simulate/rig"
)

// Mistake is one edit of the code, or a few that belong together.
type Mistake struct {
	Name string
	Rule string // which is broken, in the words of docs/correctness.md
	// Test has to catch the mistake; the zero Test for the simulation.
	Test  Test
	Edits []Edit
}

// Test is a test of the tree.
type Test struct {
	Package string // its folder from the module's root, with slashes
	Name    string // of the function
}

// Edit replaces one text in one file.
type Edit struct {
	File     string // from the module's root, with slashes
	Old, New string
}

// ErrOutdated says that the code is no longer as a mistake expects it.
var ErrOutdated = errors.New("the list of mistakes is out of date")

//go:embed mistakes/*.diff
var mistakes embed.FS

// All returns every mistake, by name.
func All() []Mistake {
	files, err := fs.Glob(mistakes, "mistakes/*.diff")
	var out []Mistake
	for _, file := range files {
		text, readErr := mistakes.ReadFile(file)
		err = errors.Join(err, readErr)
		out = append(out, parse(strings.TrimSuffix(path.Base(file), ".diff"), string(text)))
	}
	if err != nil {
		panic("planted: " + err.Error()) // the files are in the program
	}
	return out
}

// parse reads a mistake: a line with the rule, then its edits. Between them may be a line "test ", the package's folder
// and the name of the test that has to catch the mistake. An edit begins with a line "--- " and the file. The lines
// after it are those of a diff: a removed one begins with "-", an added one with "+", an unchanged one with " " or is
// empty.
func parse(name, text string) Mistake {
	rule, edits, _ := strings.Cut(text, "\n--- ")
	rule, catcher, _ := strings.Cut(rule, "\ntest ")
	m := Mistake{Name: name, Rule: rule}
	m.Test.Package, m.Test.Name, _ = strings.Cut(catcher, " ")
	for edit := range strings.SplitSeq(edits, "\n--- ") {
		file, hunk, _ := strings.Cut(edit, "\n")
		e := Edit{File: file}
		for line := range strings.Lines(strings.TrimSuffix(hunk, "\n") + "\n") {
			if line[0] != '+' {
				e.Old += strings.TrimLeft(line[:1], "- ") + line[1:]
			}
			if line[0] != '-' {
				e.New += strings.TrimLeft(line[:1], "+ ") + line[1:]
			}
		}
		m.Edits = append(m.Edits, e)
	}
	return m
}

// Edited returns the files of the mistake as they are with it, by their names in the mistake.
func (m Mistake) Edited(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, e := range m.Edits {
		text, ok := out[e.File]
		if !ok {
			read, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File)))
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrOutdated, m.Name, err)
			}
			text = string(read)
		}
		if n := strings.Count(text, e.Old); n != 1 || e.Old == e.New {
			return nil, fmt.Errorf("%w: %s: %d times in %s: %q", ErrOutdated, m.Name, n, e.File, e.Old)
		}
		out[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return out, nil
}

// Plant writes the edited copies and the overlay that names them into the folder, and returns the overlay's path.
func (m Mistake) Plant(root, folder string) (string, error) {
	edited, err := m.Edited(root)
	if err != nil {
		return "", err
	}
	files := map[string][]byte{}
	for file, text := range edited {
		files[filepath.Join(root, filepath.FromSlash(file))] = []byte(text)
	}
	return rig.Overlay(folder, files)
}
