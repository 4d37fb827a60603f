package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nexus/pkg/durable"
)

// DamagedError says that a schedule's file cannot be read as one.
type DamagedError struct {
	File string
	Err  error
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %v", e.File, e.Err) }

// Unwrap returns the mistake in the file.
func (e *DamagedError) Unwrap() error { return e.Err }

type opened struct {
	disk    *disk
	entries []*entry
}

// openDisk makes the directory and removes files that a crash left half-written: no caller received a success for
// them. It reads the rest and finishes the transitions that a crash interrupted.
func openDisk(dir string) (opened, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return opened{}, err
	}
	if err := durable.SyncDir(filepath.Dir(dir)); err != nil {
		return opened{}, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return opened{}, err
	}
	d := &disk{dir: dir}
	var found []*entry
	for _, file := range files {
		switch {
		case strings.HasSuffix(file.Name(), temporary):
			if err := os.Remove(filepath.Join(dir, file.Name())); err != nil {
				return opened{}, err
			}
		case strings.HasSuffix(file.Name(), extension):
			text, err := os.ReadFile(filepath.Join(dir, file.Name()))
			if err != nil {
				return opened{}, err
			}
			e, err := d.parse(file.Name(), text)
			if err != nil {
				return opened{}, &DamagedError{filepath.Join(dir, file.Name()), err}
			}
			found = append(found, e)
		}
	}
	entries, err := d.recoverEntries(found)
	return opened{d, entries}, err
}

// recoverEntries leaves each name at most one schedule and gives each call its number. If a crash left two files of one
// schedule, the one whose call is still due counts. A pending file had replaced the other. A call that succeeded but
// may not be marked so is made again.
func (d *disk) recoverEntries(found []*entry) ([]*entry, error) {
	var number uint64
	pending, called := map[string]bool{}, map[string]bool{}
	for _, e := range found {
		number = max(number, e.number)
		pending[e.Name] = pending[e.Name] || e.State == Pending
		called[e.Name] = called[e.Name] || e.State == Called && !e.Former
	}
	var entries []*entry
	changed := false
	for _, e := range found {
		switch {
		case e.State == Completed && (pending[e.Name] || called[e.Name]):
			if _, err := d.drop(e.Name, completedSlot); err != nil {
				return nil, fmt.Errorf("remove the former file of %q: %w", e.Name, err)
			}
			changed = true
			continue
		case e.State == Called && !e.Former:
			number++
			e.number = number
			if pending[e.Name] {
				if err := d.move(e.Name, calledSlot, formerSlot(number)); err != nil {
					return nil, fmt.Errorf("part the call of %q from its schedule: %w", e.Name, err)
				}
				e.Former, changed = true, true
			}
		}
		entries = append(entries, e)
	}
	if !changed {
		return entries, nil
	}
	return entries, d.sync()
}
