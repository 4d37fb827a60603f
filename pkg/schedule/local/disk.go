package local

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"nexus/pkg/schedule"
)

// disk keeps one file for each schedule. A file appears and changes by a rename, so that it is always whole.
type disk struct{ dir string }

// record is a file's content. The payload is text, not nested JSON, because its bytes must come back as they were.
type record struct {
	Name    string    `json:"name"`
	At      time.Time `json:"at"`
	State   State     `json:"state"`
	Payload string    `json:"payload"`
}

const (
	extension = ".json"
	temporary = ".tmp"
)

type opened struct {
	disk    *disk
	entries []Entry
}

// openDisk makes the directory, removes what a crash left half-written (nobody was told that it was there), and reads
// the rest.
func openDisk(dir string) (opened, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return opened{}, err
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return opened{}, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return opened{}, err
	}
	found := opened{disk: &disk{dir: dir}}
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		switch {
		case strings.HasSuffix(file.Name(), temporary):
			if err := os.Remove(path); err != nil {
				return opened{}, err
			}
		case strings.HasSuffix(file.Name(), extension):
			e, err := found.disk.load(path)
			if err != nil {
				return opened{}, fmt.Errorf("read %s: %w", file.Name(), err)
			}
			found.entries = append(found.entries, e)
		}
	}
	return found, nil
}

func (d *disk) load(path string) (Entry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Entry{}, err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return Entry{}, err
	}
	e := Entry{Schedule: schedule.Schedule{Name: r.Name, At: r.At.UTC(), Payload: []byte(r.Payload)}, State: r.State}
	switch {
	case e.State != Pending && e.State != Completed:
		return Entry{}, fmt.Errorf("state %q is unknown", e.State)
	case d.path(e.Name) != path:
		return Entry{}, fmt.Errorf("it holds the schedule %q of another file", e.Name)
	}
	return e, e.Check()
}

// save returns when the file is durable.
func (d *disk) save(e Entry) error {
	text, err := json.Marshal(record{Name: e.Name, At: e.At, State: e.State, Payload: string(e.Payload)})
	if err != nil {
		return err
	}
	path := d.path(e.Name)
	if err := writeSynced(path+temporary, text); err != nil {
		return errors.Join(err, os.Remove(path+temporary))
	}
	if err := os.Rename(path+temporary, path); err != nil {
		return err
	}
	return syncDir(d.dir)
}

// remove returns when the file is gone for good; a missing one is.
func (d *disk) remove(name string) error {
	err := os.Remove(d.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(d.dir)
}

// path encodes the name: two that differ only by case are two files on every file system.
func (d *disk) path(name string) string {
	return filepath.Join(d.dir, hex.EncodeToString([]byte(name))+extension)
}

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

// syncDir makes the names in a directory durable. Windows cannot open a directory for that, and needs it less: NTFS
// journals its names.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
