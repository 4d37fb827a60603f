package eventsource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/change"
)

// shardState is a mapping's state of a shard; guarded by the mapping's mutex.
type shardState struct {
	shard    change.Shard
	started  bool
	done     bool
	position string
	pending  []change.Record // of the batches under way: passed by the filter, not finished
	failures int
}

// ShardStatus reports a mapping's progress in one shard.
type ShardStatus struct {
	Shard  string `json:"shard"`
	Parent string `json:"parent,omitempty"`
	// Position is the last record finished; empty before the first.
	Position string `json:"position,omitempty"`
	// Started is false while the parent is not finished, Done says that the shard is closed and finished to its end.
	Started bool `json:"started"`
	Done    bool `json:"done"`
	// InFlight is the number of records in the batches under way that are not finished. More may have been read.
	InFlight int `json:"inFlight"`
	// Lag is the age of the oldest record in flight; 0 if there is none.
	Lag time.Duration `json:"lagNanoseconds"`
	// Failures is the number of failed deliveries in a row.
	Failures int `json:"failures"`
}

// Status returns the shards seen so far, by id.
func (m *Mapping) Status() []ShardStatus {
	now := m.wiring.Clock()
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]ShardStatus, 0, len(m.shards))
	for id, s := range m.shards {
		status := ShardStatus{
			Shard: id, Parent: s.shard.Parent, Position: s.position, Started: s.started || s.done, Done: s.done,
			InFlight: len(s.pending), Failures: s.failures,
		}
		if len(s.pending) > 0 {
			status.Lag = max(0, now.Sub(s.pending[0].Created))
		}
		out = append(out, status)
	}
	slices.SortFunc(out, func(a, b ShardStatus) int { return cmp.Compare(a.Shard, b.Shard) })
	return out
}

// CaughtUp waits until every shard of head is finished up to its sequence number and nothing is in flight anywhere. It
// wakes the readers for it. An empty sequence number means that the shard has no records. The caller determines the
// end of the stream: DynamoDB in AWS does not report it for open shards, so it is no part of [Source]. CaughtUp
// returns the context's error if that ends first, and [ErrEnded] if the mapping ends.
func (m *Mapping) CaughtUp(ctx context.Context, head map[string]string) error {
	m.Wake()
	for {
		changed := m.changed.wait()
		up, unknown, ended := m.reached(head)
		switch {
		case up:
			return nil
		case ended:
			return fmt.Errorf("catch up %q: %w", m.config.Name, ErrEnded)
		case unknown:
			m.discover()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("catch up %q: %w", m.config.Name, ctx.Err())
		}
	}
}

// reached reports whether head is reached, whether it names a shard not seen so far, and whether the mapping has ended.
func (m *Mapping) reached(head map[string]string) (up, unknown, ended bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	up = true
	for shard, sequence := range head {
		if sequence == "" {
			continue
		}
		s := m.shards[shard]
		if s == nil {
			up, unknown = false, true
		} else if !s.done && change.CompareSequence(s.position, sequence) < 0 {
			up = false
		}
	}
	for _, s := range m.shards {
		up = up && len(s.pending) == 0
	}
	return up, unknown, m.ended
}

// update changes shard state under the lock and wakes those who wait for it.
func (m *Mapping) update(apply func()) {
	m.mu.Lock()
	apply()
	m.mu.Unlock()
	m.changed.raise()
}
