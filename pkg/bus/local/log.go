package local

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/durable"
)

// fileName is the log's name in the directory.
const fileName = "events.ndjson"

// log is the file: one event a line. It is appended to, and replaced where a user is forgotten.
type log struct {
	file *os.File
	size int64 // up to here every line is whole and durable
	// broken is set if the file may end in half a line that could not be cut off; then nothing may be appended.
	broken error
}

// line is an event in the file, under the names of EventBridge's envelope.
type line struct {
	Source string          `json:"source"`
	Type   string          `json:"detail-type"`
	Time   time.Time       `json:"time"`
	Detail json.RawMessage `json:"detail"`
}

// DamagedError says that a line between events is no event.
type DamagedError struct {
	File string
	Line int // from 1
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged: line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the mistake in the line.
func (e *DamagedError) Unwrap() error { return e.Err }

// openLog opens or creates the file and visits the events in it.
func openLog(dir string, visit func(bus.Event)) (*log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, fileName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &log{file: file}
	if err := l.recover(dir, visit); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

func (l *log) recover(dir string, visit func(bus.Event)) error {
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := durable.SyncDir(d); err != nil {
			return err
		}
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if l.size, err = l.scan(info.Size(), visit); err != nil {
		return err
	}
	if l.size == info.Size() {
		return nil
	}
	if err := l.file.Truncate(l.size); err != nil {
		return err
	}
	return l.file.Sync()
}

// scan visits the events in the first size bytes and returns where the last of them ends. Bytes after it that are no
// events are the rest of an unfinished append; between events they are damage, and an error.
func (l *log) scan(size int64, visit func(bus.Event)) (int64, error) {
	lines := bufio.NewReader(io.NewSectionReader(l.file, 0, size))
	var end, offset int64
	var broken *DamagedError // the first line after the last event that is no event
	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil // an unfinished line, or nothing
		}
		if err != nil {
			return 0, err
		}
		offset += int64(len(text))
		e, err := parse(text)
		if err != nil {
			if broken == nil {
				broken = &DamagedError{l.file.Name(), number, err}
			}
			continue
		}
		if broken != nil {
			return 0, broken
		}
		end = offset
		visit(e)
	}
}

func parse(text []byte) (bus.Event, error) {
	var in line
	if err := json.Unmarshal(text, &in); err != nil {
		return bus.Event{}, err
	}
	e := bus.Event{Type: in.Type, Detail: in.Detail, Time: in.Time}
	return e, bus.Check([]bus.Event{e})
}

// append writes the events in one piece and returns when they are durable. On an error the file is as before.
func (l *log) append(events []bus.Event) error {
	if l.broken != nil {
		return l.broken
	}
	text, err := encode(events)
	if err != nil {
		return err
	}
	if _, err = l.file.WriteAt(text, l.size); err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		if cut := l.file.Truncate(l.size); cut != nil {
			l.broken = errors.Join(err, cut)
		}
		return err
	}
	l.size += int64(len(text))
	return nil
}

// filter replaces the file by one with the events to keep, and returns how many it left out.
func (l *log) filter(keeps func(bus.Event) bool) (removed int, err error) {
	if l.broken != nil {
		return 0, l.broken
	}
	all, err := l.all()
	if err != nil {
		return 0, err
	}
	left := slices.DeleteFunc(slices.Clone(all), func(e bus.Event) bool { return !keeps(e) })
	if len(left) == len(all) {
		return 0, nil
	}
	text, err := encode(left)
	if err != nil {
		return 0, err
	}
	name := l.file.Name()
	if err := durable.WriteFile(name, text); err != nil {
		return 0, err
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0o600)
	if err != nil {
		l.broken = err // the open file has no name any more
		return 0, err
	}
	err = l.file.Close()
	l.file, l.size = file, int64(len(text))
	return len(all) - len(left), err
}

// encode returns the lines of events.
func encode(events []bus.Event) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	for _, e := range events {
		if err := encoder.Encode(line{Source: bus.Source, Type: e.Type, Time: e.Time, Detail: e.Detail}); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

func (l *log) all() ([]bus.Event, error) { return l.part(0, math.MaxInt) }

// part returns the events from the first number on, to before the last.
func (l *log) part(first, last int) ([]bus.Event, error) {
	var part []bus.Event
	number := 0
	end, err := l.scan(l.size, func(e bus.Event) {
		if first <= number && number < last {
			part = append(part, e)
		}
		number++
	})
	if err == nil && end != l.size {
		err = fmt.Errorf("%s is damaged behind byte %d", l.file.Name(), end)
	}
	return part, err
}

func (l *log) close() error { return l.file.Close() }
