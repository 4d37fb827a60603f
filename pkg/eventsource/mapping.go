package eventsource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"nexus/pkg/change"
)

// Defaults of [Wiring]. Lambda, too, polls a shard four times a second when there is nothing to read.
const (
	DefaultPoll     = 250 * time.Millisecond
	DefaultDiscover = 10 * time.Second

	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 10 * time.Second
)

// Handler takes a Lambda event of a DynamoDB stream and returns the function's answer.
type Handler func(ctx context.Context, event []byte) ([]byte, error)

// Wiring holds the dependencies of a mapping. Source, Checkpoints, Handler, Clock, After and NewID are required.
// Destination is required if the mapping may give up.
type Wiring struct {
	Source      Source
	Checkpoints Checkpoints
	Handler     Handler
	Destination Destination
	// Clock measures the age of records, so it is the clock of the stream's writer.
	Clock func() time.Time
	// After is time.After, or a virtual one.
	After func(time.Duration) <-chan time.Time
	// Changed returns a channel that is closed at the source's next record, so that no caller needs [Mapping.Wake].
	// Optional, for sources that can report this.
	Changed func() <-chan struct{}
	// NewID makes request ids.
	NewID func() string
	// Poll is the wait at the end of a shard unless woken; 0 means [DefaultPoll].
	Poll time.Duration
	// Discover is the interval between looks for new shards, in addition to the look when a shard ends; 0 means
	// [DefaultDiscover].
	Discover time.Duration
	// Backoff returns the wait after so many failures in a row, from 1; nil doubles from 100 ms up to 10 s.
	Backoff func(failures int) time.Duration
	Hooks   Hooks
}

// Hooks observe a mapping. They are called in its goroutines, so they must be quick and safe for concurrent use; nil
// ones are left out. They must not change the records' images.
type Hooks struct {
	// Delivered is called after each invocation of a handler.
	Delivered func(Delivery)
	// Trouble reports a failure outside the handler, before it is tried again: of the source, the checkpoints or the
	// destination.
	Trouble func(Trouble)
}

// Delivery is one invocation and how it ended.
type Delivery struct {
	Mapping, Shard, RequestID string
	Records                   []change.Record
	// Finished counts the records, from the first on, that need no further delivery.
	Finished int
	// Err is why the others do; nil if none does, or if the handler listed them.
	Err  error
	Took time.Duration
	// Again marks a redelivery (see [Mapping.Redeliver]).
	Again bool
}

// Trouble is a failed call of a mapping to one of its ports. Shard is empty if the shards themselves could not be
// listed.
type Trouble struct {
	Mapping, Shard string
	Err            error
}

// Mapping is one event source mapping: it delivers the records of a stream to a handler. Its methods are safe for
// concurrent use.
type Mapping struct {
	config Config
	wiring Wiring

	woken   signal // there may be records
	changed signal // a shard's state has changed
	nudge   chan struct{}

	mu         sync.Mutex
	shards     map[string]*shardState
	ran, ended bool
}

// ErrEnded says that the mapping no longer runs.
var ErrEnded = errors.New("event source mapping has ended")

// New returns a mapping that does nothing until [Mapping.Run]. It refuses a configuration that Lambda would refuse, a
// missing port, and a mapping that may give up records and has no destination for them.
func New(config Config, wiring Wiring) (*Mapping, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	for _, port := range []struct {
		name    string
		missing bool
	}{
		{"Source", wiring.Source == nil}, {"Checkpoints", wiring.Checkpoints == nil}, {"Handler", wiring.Handler == nil},
		{"Clock", wiring.Clock == nil}, {"After", wiring.After == nil}, {"NewID", wiring.NewID == nil},
		{"Destination", wiring.Destination == nil && config.givesUp()},
	} {
		if port.missing {
			return nil, fmt.Errorf("event source mapping %q: %s is missing", config.Name, port.name)
		}
	}
	if wiring.Poll <= 0 {
		wiring.Poll = DefaultPoll
	}
	if wiring.Discover <= 0 {
		wiring.Discover = DefaultDiscover
	}
	if wiring.Backoff == nil {
		wiring.Backoff = doubling
	}
	return &Mapping{
		config: config.withDefaults(), wiring: wiring,
		nudge: make(chan struct{}, 1), shards: map[string]*shardState{},
	}, nil
}

// Config returns the configuration with its defaults filled in.
func (m *Mapping) Config() Config { return m.config }

// Run delivers until ctx is done, and then returns nil once every goroutine it started has ended. It returns an error
// only if it is called twice or the checkpoints cannot be loaded; all other trouble is retried for as long as it lasts.
func (m *Mapping) Run(ctx context.Context) error {
	m.mu.Lock()
	again := m.ran
	m.ran = true
	m.mu.Unlock()
	if again {
		return fmt.Errorf("run event source mapping %q: it was run before", m.config.Name)
	}
	defer func() {
		m.mu.Lock()
		m.ended = true
		m.mu.Unlock()
		m.changed.raise()
	}()
	checkpoints, err := m.wiring.Checkpoints.Load(ctx, m.config.Name)
	if err != nil {
		return fmt.Errorf("load checkpoints of event source mapping %q: %w", m.config.Name, err)
	}
	var readers sync.WaitGroup
	defer readers.Wait()
	for failures := 0; ctx.Err() == nil; {
		shards, err := m.wiring.Source.Shards(ctx)
		if err != nil {
			failures++
			m.trouble(ctx, "", fmt.Errorf("list shards: %w", err))
			m.pause(ctx, m.wiring.Backoff(failures))
			continue
		}
		failures = 0
		for _, reader := range m.ready(shards, checkpoints) {
			readers.Go(func() { reader.run(ctx) })
		}
		m.changed.raise() // a new shard may already be where its checkpoint is, with no further records
		select {
		case <-m.nudge:
		case <-m.wiring.After(m.wiring.Discover):
		case <-ctx.Done():
		}
	}
	return nil
}

// Wake signals that the stream may have new records, so that readers read at once instead of after the poll's
// interval.
func (m *Mapping) Wake() { m.woken.raise() }

// news returns channels that are closed when there may be new records.
func (m *Mapping) news() (woken, changed <-chan struct{}) {
	if m.wiring.Changed != nil {
		changed = m.wiring.Changed()
	}
	return m.woken.wait(), changed
}

// ready registers new shards and returns readers for those that may start: the parent no longer exists or is finished
// to its end. A shard that is known and not finished exists also if it is no longer listed: its reader may still have
// records of it, and finds its end.
func (m *Mapping) ready(shards []change.Shard, checkpoints map[string]Checkpoint) []*reader {
	m.mu.Lock()
	defer m.mu.Unlock()
	var readers []*reader
	listed := map[string]bool{}
	for _, shard := range shards {
		listed[shard.ID] = true
	}
	for id, state := range m.shards {
		if !listed[id] && !state.done {
			listed[id], shards = true, append(slices.Clip(shards), state.shard)
		}
	}
	for _, shard := range parentsFirst(shards) {
		state := m.shards[shard.ID]
		if state == nil {
			c := checkpoints[shard.ID]
			state = &shardState{shard: shard, position: c.Sequence, done: c.Done, started: c.Done}
			m.shards[shard.ID] = state
		}
		if state.started || listed[shard.Parent] && !m.shards[shard.Parent].done {
			continue
		}
		state.started = true
		readers = append(readers, &reader{m: m, shard: shard.ID, state: state, after: state.position})
	}
	return readers
}

// discover makes Run look for shards now.
func (m *Mapping) discover() {
	select {
	case m.nudge <- struct{}{}:
	default: // a look is already pending
	}
}

// pause waits for d and reports whether it passed before ctx was done.
func (m *Mapping) pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-m.wiring.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// trouble reports an error unless it only says that the mapping is being stopped.
func (m *Mapping) trouble(ctx context.Context, shard string, err error) {
	if ctx.Err() == nil && m.wiring.Hooks.Trouble != nil {
		m.wiring.Hooks.Trouble(Trouble{m.config.Name, shard, err})
	}
}

func doubling(failures int) time.Duration {
	d := firstBackoff
	for range min(failures, 10) - 1 {
		d *= 2
	}
	return min(d, lastBackoff)
}
