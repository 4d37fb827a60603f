package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/durable"
	"nexus/pkg/eventsource"
	"nexus/pkg/local/engine"
	"nexus/pkg/port"
)

// checkpoints stores the progress of each mapping, in one file each. It writes asynchronously and at most once in
// flushEvery: a mapping continues while the disk is busy, and of several waiting checkpoints only the last is written.
// Records whose checkpoint a crash loses are delivered again. Checkpoints of another stream are not loaded: the mapping
// begins at the oldest record available. It also does so if a checkpoint is ahead of its stream
// ([checkpoints.validate]).
type checkpoints struct {
	dir    string
	stream string
	log    *slog.Logger
	poked  chan struct{}

	mu     sync.Mutex
	saved  map[string]map[string]eventsource.Checkpoint // by mapping and shard
	dirty  map[string]bool                              // mappings with unwritten checkpoints
	failed error                                        // of the last write, until a Save has returned it
}

var _ eventsource.Checkpoints = (*checkpoints)(nil)

// flushEvery is how often checkpoints are written at most. Each write makes the disk finish what others have written,
// too, so the table's engine would wait for one after each record.
const flushEvery = 100 * time.Millisecond

type (
	checkpointFile struct {
		Stream string                `json:"stream"`
		Shards map[string]checkpoint `json:"shards"`
	}
	checkpoint struct {
		Sequence string `json:"sequence"`
		Done     bool   `json:"done,omitempty"`
	}
)

// forgetCheckpoint is the advice for a damaged file.
const forgetCheckpoint = "Remove the file and start again; the reader then begins at the oldest record of the " +
	"stream, and nothing " +
	"is done twice"

func openCheckpoints(dir, stream string, log *slog.Logger) (*checkpoints, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open checkpoints: %w", err)
	}
	return &checkpoints{
		dir: dir, stream: stream, log: log, poked: make(chan struct{}, 1),
		saved: map[string]map[string]eventsource.Checkpoint{}, dirty: map[string]bool{},
	}, nil
}

// Load implements [eventsource.Checkpoints].
func (c *checkpoints) Load(_ context.Context, mapping string) (map[string]eventsource.Checkpoint, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shards, err := c.load(mapping)
	return maps.Clone(shards), err
}

func (c *checkpoints) load(mapping string) (map[string]eventsource.Checkpoint, error) {
	if shards, ok := c.saved[mapping]; ok {
		return shards, nil
	}
	shards := map[string]eventsource.Checkpoint{}
	content, err := os.ReadFile(c.file(mapping))
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if shards, err = c.parse(c.file(mapping), content); err != nil {
			return nil, err
		}
	}
	c.saved[mapping] = shards
	return shards, nil
}

// parse returns the checkpoints in a file's content, none if they are of another stream.
func (c *checkpoints) parse(path string, content []byte) (map[string]eventsource.Checkpoint, error) {
	var file checkpointFile
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, engine.Damaged(path, err, forgetCheckpoint)
	}
	for shard, at := range file.Shards {
		if strings.Trim(at.Sequence, "0123456789") != "" {
			return nil, engine.Damaged(path, fmt.Errorf("shard %s: sequence number %q", shard, at.Sequence), forgetCheckpoint)
		}
	}
	shards := map[string]eventsource.Checkpoint{}
	if file.Stream != c.stream {
		c.log.Warn("checkpoints of another stream are not used; the reader begins at the oldest record", "file", path,
			"stream", file.Stream)
		return shards, nil
	}
	for shard, at := range file.Shards {
		shards[shard] = eventsource.Checkpoint{Sequence: at.Sequence, Done: at.Done}
	}
	return shards, nil
}

// validate loads the checkpoints of a mapping, before it runs, and compares them with the end of the stream; nil heads
// are unknown. A checkpoint that is ahead belongs to records that are gone, because the table was set back or lost the
// end of its log. With it the mapping would skip as many new records. So judge drops it, on disk, too: the mapping
// begins at the oldest record available, which consumers handle like any repetition. It reports whether it did so.
func (c *checkpoints) validate(mapping string, heads map[string]string) (wasSetBack bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shards, err := c.load(mapping)
	if err != nil || heads == nil {
		return false, err
	}
	for shard, at := range shards {
		head := heads[shard]
		if at.Sequence == "" || head != "" && change.CompareSequence(at.Sequence, head) <= 0 {
			continue
		}
		c.log.Error(
			"a checkpoint is ahead of its stream: the table was set back, or lost the end of its log. The reader begins at "+
				"the oldest record; what the lost records led to outside the table is found by nexus verify",
			"reader", mapping, "shard", shard, "checkpoint", at.Sequence, "head", head)
		delete(shards, shard)
		c.dirty[mapping] = true
	}
	if !c.dirty[mapping] {
		return false, nil
	}
	files := c.unwritten()
	return true, durable.WriteFile(c.file(mapping), files[mapping])
}

// Save implements [eventsource.Checkpoints]. It fails if the last write did, and then writes again.
func (c *checkpoints) Save(_ context.Context, mapping, shard string, at eventsource.Checkpoint) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	shards, err := c.load(mapping)
	if err != nil {
		return err
	}
	shards[shard] = at
	c.dirty[mapping] = true
	select {
	case c.poked <- struct{}{}:
	default: // a write is already pending
	}
	err, c.failed = c.failed, nil
	return err
}

// run writes until the context ends; flush writes the rest.
func (c *checkpoints) run(ctx context.Context) {
	for {
		select {
		case <-c.poked:
			if err := c.flush(ctx); err != nil {
				c.mu.Lock()
				c.failed = err
				c.mu.Unlock()
			}
		case <-ctx.Done():
			return
		}
		if port.Sleep(ctx, flushEvery) != nil {
			return
		}
	}
}

// flush writes the unwritten checkpoints. One goroutine at a time may call it.
func (c *checkpoints) flush(context.Context) error {
	c.mu.Lock()
	files := c.unwritten()
	c.mu.Unlock()
	var errs []error
	for mapping, content := range files {
		if err := durable.WriteFile(c.file(mapping), content); err != nil {
			errs = append(errs, err)
			c.mu.Lock()
			c.dirty[mapping] = true
			c.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}

// unwritten returns the new content of each file, and marks it as written. The caller holds the lock.
func (c *checkpoints) unwritten() map[string][]byte {
	files := map[string][]byte{}
	for mapping := range c.dirty {
		file := checkpointFile{Stream: c.stream, Shards: map[string]checkpoint{}}
		for shard, at := range c.saved[mapping] {
			file.Shards[shard] = checkpoint{at.Sequence, at.Done}
		}
		content, err := json.Marshal(file)
		if err != nil {
			panic(fmt.Sprintf("local: checkpoints of %s: %v", mapping, err)) // texts and flags only: cannot happen
		}
		files[mapping] = append(content, '\n')
	}
	clear(c.dirty)
	return files
}

func (c *checkpoints) file(mapping string) string { return filepath.Join(c.dir, mapping+".json") }
