package local

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/durable"
	"nexus/pkg/schedule"
)

// disk stores one file for each schedule and for each unfinished call of a former one. A file appears by a rename, so
// that it is always whole. Its name holds the state of its call: the beginning and the success of a call each cost a
// rename and one sync of the directory, and no further write. A nil disk stores nothing.
type disk struct{ dir string }

// record is a file's content. The payload is text, not nested JSON, because its bytes must be preserved.
type record struct {
	Name    string    `json:"name"`
	At      time.Time `json:"at"`
	Payload string    `json:"payload"`
}

// slot is the part of a file's name after the schedule's.
type slot string

const (
	pendingSlot   slot = ".json"
	calledSlot    slot = ".called.json"
	completedSlot slot = ".completed.json"

	formerStart = ".call."
	extension   = ".json"
	temporary   = ".tmp"
)

// formerSlot returns the slot of a call whose schedule was replaced or deleted.
func formerSlot(number uint64) slot {
	return slot(formerStart + strconv.FormatUint(number, 10) + extension)
}

// slot returns the slot of the entry's file.
func (e *entry) slot() slot {
	switch {
	case e.Former:
		return formerSlot(e.number)
	case e.State == Called:
		return calledSlot
	case e.State == Completed:
		return completedSlot
	}
	return pendingSlot
}

// path encodes the name: two that differ only by case are two files on every file system.
func (d *disk) path(name string, at slot) string {
	return filepath.Join(d.dir, hex.EncodeToString([]byte(name))+string(at))
}

// parse returns the entry in a file of the directory.
func (d *disk) parse(file string, text []byte) (*entry, error) {
	var r record
	err := json.Unmarshal(text, &r)
	if err != nil {
		return nil, err
	}
	e := &entry{Entry: Entry{Schedule: schedule.Schedule{Name: r.Name, At: r.At.UTC(), Payload: []byte(r.Payload)}}}
	_, rest, _ := strings.Cut(file, ".")
	switch at := slot("." + rest); at {
	case pendingSlot:
		e.State = Pending
	case calledSlot:
		e.State = Called
	case completedSlot:
		e.State = Completed
	default:
		number := strings.TrimSuffix(strings.TrimPrefix(string(at), formerStart), extension)
		if e.number, err = strconv.ParseUint(number, 10, 64); err != nil {
			return nil, fmt.Errorf("the state %q in its name is unknown", at)
		}
		e.State, e.Former = Called, true
	}
	if d.path(e.Name, e.slot()) != filepath.Join(d.dir, file) {
		return nil, fmt.Errorf("it holds the schedule %q of another file", e.Name)
	}
	return e, e.Check()
}

// save writes the schedule's file in a slot. Its name is durable after sync.
func (d *disk) save(s schedule.Schedule, at slot) error {
	text, err := json.Marshal(record{Name: s.Name, At: s.At, Payload: string(s.Payload)})
	if err != nil {
		return err
	}
	path := d.path(s.Name, at)
	if err := writeSynced(path+temporary, text); err != nil {
		return errors.Join(err, os.Remove(path+temporary))
	}
	return os.Rename(path+temporary, path)
}

// move renames the schedule's file from one slot to another. Its name is durable after sync.
func (d *disk) move(name string, from, to slot) error {
	return os.Rename(d.path(name, from), d.path(name, to))
}

// drop removes the schedule's files in some slots and reports whether there were any. They are gone for good after
// sync.
func (d *disk) drop(name string, slots ...slot) (dropped bool, err error) {
	for _, at := range slots {
		switch err := os.Remove(d.path(name, at)); {
		case err == nil:
			dropped = true
		case !errors.Is(err, os.ErrNotExist):
			return dropped, err
		}
	}
	return dropped, nil
}

// sync returns when all names are durable.
func (d *disk) sync() error { return durable.SyncDir(d.dir) }

func writeSynced(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.Write(text); err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
