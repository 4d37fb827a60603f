package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"nexus/pkg/eventsource"
)

// checkpoints keeps how far each mapping has come, one file for each. They are written behind: a mapping goes on while the
// disk is busy, and of several checkpoints that wait only the last is written. What a crash loses of that is delivered
// again. Checkpoints of another stream than the present one say nothing, so they are not loaded: the mapping begins at the
// oldest record kept.
type checkpoints struct {
	dir    string
	stream string
	poked  chan struct{}

	mu     sync.Mutex
	saved  map[string]map[string]eventsource.Checkpoint // by mapping and shard
	dirty  map[string]bool                              // mappings of which more is saved than written
	failed error                                        // of the last write, until a Save has told it
}

var _ eventsource.Checkpoints = (*checkpoints)(nil)

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

func openCheckpoints(dir, stream string) (*checkpoints, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open checkpoints: %w", err)
	}
	return &checkpoints{
		dir: dir, stream: stream, poked: make(chan struct{}, 1),
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
		var file checkpointFile
		if err := json.Unmarshal(content, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", c.file(mapping), err)
		}
		if file.Stream == c.stream {
			for shard, at := range file.Shards {
				shards[shard] = eventsource.Checkpoint{Sequence: at.Sequence, Done: at.Done}
			}
		}
	}
	c.saved[mapping] = shards
	return shards, nil
}

// Save implements [eventsource.Checkpoints]. It fails if the last write did, and is tried again then.
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
	default: // a write is due already
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
	}
}

// flush writes what is saved and not written. One goroutine at a time may call it.
func (c *checkpoints) flush(context.Context) error {
	var errs []error
	for mapping, content := range c.unwritten() {
		if err := writeDurably(c.file(mapping), content); err != nil {
			errs = append(errs, err)
			c.mu.Lock()
			c.dirty[mapping] = true
			c.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}

// unwritten returns the new content of each file, and counts it as written.
func (c *checkpoints) unwritten() map[string][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
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
