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

// checkpoints keeps how far each mapping has come, one file for each, durable before Save returns. Checkpoints of another
// stream than the present one say nothing, so they are not loaded: the mapping begins at the oldest record kept.
type checkpoints struct {
	dir    string
	stream string

	mu    sync.Mutex
	saved map[string]map[string]eventsource.Checkpoint // by mapping and shard
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
	return &checkpoints{dir: dir, stream: stream, saved: map[string]map[string]eventsource.Checkpoint{}}, nil
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

// Save implements [eventsource.Checkpoints].
func (c *checkpoints) Save(_ context.Context, mapping, shard string, at eventsource.Checkpoint) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	shards, err := c.load(mapping)
	if err != nil {
		return err
	}
	file := checkpointFile{Stream: c.stream, Shards: map[string]checkpoint{shard: {at.Sequence, at.Done}}}
	for other, was := range shards {
		if other != shard {
			file.Shards[other] = checkpoint{was.Sequence, was.Done}
		}
	}
	content, err := json.Marshal(file)
	if err != nil {
		return fmt.Errorf("encode checkpoints of %s: %w", mapping, err)
	}
	if err := writeDurably(c.file(mapping), append(content, '\n')); err != nil {
		return err
	}
	shards[shard] = at
	return nil
}

func (c *checkpoints) file(mapping string) string { return filepath.Join(c.dir, mapping+".json") }
