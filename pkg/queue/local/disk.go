package local

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nexus/pkg/durable"
	"nexus/pkg/queue"
	"nexus/pkg/queue/fifo"
)

// disk stores one file for each message, named by its number. A file appears by a rename, so that it is always whole.
// That of a dead letter has another end. A nil disk stores nothing.
type disk struct{ dir string }

// record is a file's content. The body is text, not nested JSON, because its bytes must be preserved.
type record struct {
	Group string `json:"group"`
	ID    string `json:"id"`
	Body  string `json:"body"`
}

const (
	waitingEnd = ".json"
	deadEnd    = ".dead.json"
	// unfinished is in the name of a file that [durable.WriteFile] has begun.
	unfinished = ".new-"
)

// DamagedError says that a message's file cannot be read as one.
type DamagedError struct {
	File string
	Err  error
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %v", e.File, e.Err) }

// Unwrap returns the mistake in the file.
func (e *DamagedError) Unwrap() error { return e.Err }

// openDisk makes the directory and visits its messages in the order of their numbers. It removes files that a crash
// left half-written: no caller received a success for them.
func openDisk(dir string, visit func(e *fifo.Entry, isDead bool)) (*disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := durable.SyncDir(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type found struct {
		*fifo.Entry
		isDead bool
	}
	var all []found
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		if strings.Contains(file.Name(), unfinished) {
			if err := os.Remove(path); err != nil {
				return nil, err
			}
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		e, isDead, err := parse(file.Name(), text)
		if err != nil {
			return nil, &DamagedError{path, err}
		}
		all = append(all, found{e, isDead})
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.Number, b.Number) })
	for i, one := range all {
		// A crash in the middle of a redrive leaves the dead letter beside the message: the message counts.
		if !one.isDead || !slices.ContainsFunc(all[i+1:], func(later found) bool { return later.ID == one.ID }) {
			visit(one.Entry, one.isDead)
			continue
		}
		if err := os.Remove(filepath.Join(dir, name(one.Number, deadEnd))); err != nil {
			return nil, err
		}
	}
	return &disk{dir: dir}, durable.SyncDir(dir)
}

func parse(file string, text []byte) (e *fifo.Entry, isDead bool, err error) {
	number, isDead := strings.CutSuffix(file, deadEnd)
	if !isDead {
		number = strings.TrimSuffix(file, waitingEnd)
	}
	e = &fifo.Entry{}
	if e.Number, err = strconv.ParseUint(number, 10, 64); err != nil || !strings.HasSuffix(file, waitingEnd) {
		return nil, false, fmt.Errorf("the name %q is no message's", file)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, false, err
	}
	e.Message = queue.Message{Group: r.Group, ID: r.ID, Body: []byte(r.Body)}
	return e, isDead, e.Check()
}

func name(number uint64, end string) string { return fmt.Sprintf("%020d%s", number, end) }

func (d *disk) path(number uint64, end string) string { return filepath.Join(d.dir, name(number, end)) }

// save writes a message's file, and returns when it is durable.
func (d *disk) save(number uint64, m queue.Message) error {
	if d == nil {
		return nil
	}
	text, err := json.Marshal(record{m.Group, m.ID, string(m.Body)})
	if err != nil {
		return err
	}
	return durable.WriteFile(d.path(number, waitingEnd), text)
}

// drop removes the file of a message that is done. A crash may bring it back: the work is then repeated.
func (d *disk) drop(number uint64) error {
	if d == nil {
		return nil
	}
	if err := os.Remove(d.path(number, waitingEnd)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// bury makes a message a dead letter.
func (d *disk) bury(number uint64) error {
	if d == nil {
		return nil
	}
	if err := os.Rename(d.path(number, waitingEnd), d.path(number, deadEnd)); err != nil {
		return err
	}
	return durable.SyncDir(d.dir)
}

// redrive makes a dead letter a message with another number. The message is durable before the dead letter goes.
func (d *disk) redrive(from, to uint64, m queue.Message) error {
	if d == nil {
		return nil
	}
	if err := d.save(to, m); err != nil {
		return err
	}
	if err := os.Remove(d.path(from, deadEnd)); err != nil {
		return err
	}
	return durable.SyncDir(d.dir)
}
