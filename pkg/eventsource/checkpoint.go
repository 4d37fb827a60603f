package eventsource

import (
	"context"
	"maps"
	"sync"
)

// Checkpoint records how far a mapping has finished a shard.
type Checkpoint struct {
	// Sequence is the last record finished; empty if there was none.
	Sequence string
	// Done says that the shard is closed and finished to its end.
	Done bool
}

// Checkpoints stores them. It is safe for concurrent use; with a durable implementation a saved checkpoint survives a
// crash. Losing one costs a repeated delivery, never a missed one.
type Checkpoints interface {
	// Load returns the checkpoints of a mapping by shard.
	Load(ctx context.Context, mapping string) (map[string]Checkpoint, error)
	// Save replaces the checkpoint of a shard.
	Save(ctx context.Context, mapping, shard string, c Checkpoint) error
}

// MemoryCheckpoints stores checkpoints for the life of the process. The zero value is ready.
type MemoryCheckpoints struct {
	mu    sync.Mutex
	saved map[string]map[string]Checkpoint
}

// Load implements [Checkpoints].
func (m *MemoryCheckpoints) Load(_ context.Context, mapping string) (map[string]Checkpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.saved[mapping]), nil
}

// Save implements [Checkpoints].
func (m *MemoryCheckpoints) Save(_ context.Context, mapping, shard string, c Checkpoint) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.saved == nil {
		m.saved = map[string]map[string]Checkpoint{}
	}
	if m.saved[mapping] == nil {
		m.saved[mapping] = map[string]Checkpoint{}
	}
	m.saved[mapping][shard] = c
	return nil
}
