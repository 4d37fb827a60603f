package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"nexus/pkg/durable"
	"nexus/pkg/item"
)

// sweepFile is beside the engine's file. The stream keeps its records for ever, so the record of which removals were
// sweeps must also stay.
const sweepFile = "sweeps.ndjson"

// fate is the outcome of the intent to sweep a row.
type fate string

const (
	intended fate = "intended" // the delete may have been sent
	swept    fate = "swept"    // the row was removed because it had expired
	dropped  fate = "dropped"  // the row changed, or its user removed it
)

// journalLine is one line of the journal. The last line about a removal counts.
type journalLine struct {
	Fate    fate        `json:"fate"`
	PK      string      `json:"pk"`
	SK      string      `json:"sk"`
	TTL     item.Number `json:"ttl"`
	Version item.Number `json:"version,omitempty"`
}

func (l journalLine) removal() Removal {
	return Removal{Key: item.Key{PK: l.PK, SK: l.SK}, TTL: l.TTL, Version: l.Version}
}

// journal is the record of sweeps, which only grows but where a user is forgotten.
type journal struct {
	path string
	file *os.File
	size int64 // of the whole lines
}

// openJournal reads the fates written so far. It removes a last line that a crash cut off: no action followed it.
func openJournal(dir string) (j *journal, fates map[Removal]fate, err error) {
	path := filepath.Join(dir, sweepFile)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal of sweeps: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	fates = map[Removal]fate{}
	whole := int64(0)
	reader := bufio.NewReader(file)
	for number := 1; ; number++ {
		line, errRead := reader.ReadBytes('\n')
		if errors.Is(errRead, io.EOF) {
			break
		}
		if errRead != nil {
			return nil, nil, fmt.Errorf("read journal of sweeps: %w", errRead)
		}
		var entry journalLine
		if err := json.Unmarshal(line, &entry); err != nil {
			return nil, nil, Damaged(path, fmt.Errorf("line %d: %w", number, err),
				"Remove the line; nexus verify --repair then puts right what followed from an expiry that it told")
		}
		fates[entry.removal()] = entry.Fate
		whole += int64(len(line))
	}
	if err := file.Truncate(whole); err != nil {
		return nil, nil, fmt.Errorf("cut journal of sweeps: %w", err)
	}
	return &journal{path: path, file: file, size: whole}, fates, nil
}

// add writes one line for each removal. An intent is on the disk when it returns. Its end need not be: if the machine
// loses it, the intent is open again and reaches the same end.
func (j *journal) add(f fate, removals ...Removal) error {
	lines, err := linesOf(f, removals...)
	if err != nil {
		return err
	}
	if _, err := j.file.WriteAt(lines, j.size); err != nil {
		return errors.Join(fmt.Errorf("write journal of sweeps: %w", err), j.file.Truncate(j.size))
	}
	j.size += int64(len(lines))
	if f != intended {
		return nil
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync journal of sweeps: %w", err)
	}
	return nil
}

func linesOf(f fate, removals ...Removal) ([]byte, error) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, r := range removals {
		line := journalLine{Fate: f, PK: r.Key.PK, SK: r.Key.SK, TTL: r.TTL, Version: r.Version}
		if err := encoder.Encode(line); err != nil {
			return nil, err
		}
	}
	return lines.Bytes(), nil
}

// rewrite replaces the whole journal, in one step: after a crash it is the old one or the new.
func (j *journal) rewrite(fates map[Removal]fate) error {
	var all []byte
	for _, r := range slices.SortedFunc(maps.Keys(fates), compareRemovals) {
		line, err := linesOf(fates[r], r)
		if err != nil {
			return err
		}
		all = append(all, line...)
	}
	if err := durable.WriteFile(j.path, all); err != nil {
		return fmt.Errorf("rewrite journal of sweeps: %w", err)
	}
	file, err := os.OpenFile(j.path, os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open journal of sweeps: %w", err)
	}
	former := j.file
	j.file, j.size = file, int64(len(all))
	return former.Close()
}

func (j *journal) close() error { return j.file.Close() }
