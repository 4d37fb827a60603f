// Package planted holds mistakes that somebody could have made, and plants them: each is a small edit of production
// code that breaks one rule of docs/correctness.md. The simulation has to catch every one of them; one that it does not
// catch is a hole in the simulation.
//
// A mistake is applied when a program is built, by an overlay that shows the compiler an edited copy of a file (go help
// build, -overlay). It promises that nothing in the tree is ever touched and that a list which is out of date is an
// error: the text to be replaced must occur exactly once. It must never be imported by anything but its own program and
// tests.
package planted

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Mistake is one edit of the code, or a few that belong together.
type Mistake struct {
	Name  string
	Rule  string // which is broken, in the words of docs/correctness.md
	Edits []Edit
}

// Edit replaces one text in one file.
type Edit struct {
	File     string // from the module's root, with slashes
	Old, New string
}

// ErrOutdated: the code is no longer as a mistake expects it.
var ErrOutdated = errors.New("the list of mistakes is out of date")

// All returns every mistake, in the order of the code.
func All() []Mistake {
	return slices.Concat(ofProjections(), ofSingles(), ofContributions(), ofSchedules(), ofDeliveries(), ofSeries(),
		ofArchive(), ofCommands(), ofLoop(), ofHoles())
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
	replace := map[string]string{}
	for file, text := range edited {
		copied := filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("plant %s: %w", m.Name, err)
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = copied
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("plant %s: %w", m.Name, err)
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", fmt.Errorf("plant %s: %w", m.Name, err)
	}
	return path, nil
}
