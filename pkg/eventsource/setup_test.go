package eventsource_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a source whose shards the test writes by hand.
type script struct {
	mu      sync.Mutex
	shards  []change.Shard
	records map[string][]change.Record
	closed  map[string]bool
	reads   map[string]int
	fail    error // of every call while set
	changed chan struct{}
}

func newScript() *script {
	return &script{
		records: map[string][]change.Record{}, closed: map[string]bool{}, reads: map[string]int{},
		changed: make(chan struct{}),
	}
}

// add appends records with the sequence numbers to the shard, which is made if it is new.
func (s *script) add(shard string, sequences ...string) {
	var records []change.Record
	for _, sequence := range sequences {
		records = append(records, record(sequence, entity.ItemKey("u1", entity.Ref{
			Type: product.TypeTask, ID: "task_" + sequence,
		})))
	}
	s.put(shard, records...)
}

func (s *script) put(shard string, records ...change.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place(shard, "")
	s.records[shard] = append(s.records[shard], records...)
	close(s.changed)
	s.changed = make(chan struct{})
}

// split closes the parent and gives it children.
func (s *script) split(parent string, children ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place(parent, "")
	s.closed[parent] = true
	for _, child := range children {
		s.place(child, parent)
	}
}

func (s *script) place(id, parent string) {
	if !slices.ContainsFunc(s.shards, func(had change.Shard) bool { return had.ID == id }) {
		s.shards = slices.Insert(s.shards, 0, change.Shard{ID: id, Parent: parent}) // children first, to be unkind
	}
}

// trim removes closed shards with their records.
func (s *script) trim(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shards = slices.DeleteFunc(s.shards, func(had change.Shard) bool { return slices.Contains(ids, had.ID) })
	for _, id := range ids {
		delete(s.records, id)
	}
}

func (s *script) failing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *script) Shards(context.Context) ([]change.Shard, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shards), s.fail
}

func (s *script) Read(_ context.Context, shard, after string, limit int) (change.Slice, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads[shard]++; s.fail != nil {
		return change.Slice{}, s.fail
	}
	var slice change.Slice
	for i, r := range s.records[shard] {
		if change.CompareSequence(r.Sequence, after) > 0 {
			rest := s.records[shard][i:]
			slice.Records = slices.Clone(rest[:min(limit, len(rest))])
			slice.End = s.closed[shard] && len(slice.Records) == len(rest)
			return slice, nil
		}
	}
	slice.End = s.closed[shard]
	return slice, nil
}

func (s *script) Head(context.Context) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := map[string]string{}
	for _, shard := range s.shards {
		head[shard.ID] = ""
		if records := s.records[shard.ID]; len(records) > 0 {
			head[shard.ID] = records[len(records)-1].Sequence
		}
	}
	return head, nil
}

func (s *script) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// record is one insert, made now by the clock of the test.
func record(sequence string, key item.Key) change.Record {
	image := key.Item()
	image[entity.AttrVersion] = item.Int(1)
	return change.Record{
		EventID: "event-" + sequence, Name: change.Insert, Sequence: sequence, Created: time.Now(), Key: key, New: image,
		SourceARN: "arn:aws:dynamodb:eu-west-1:123456789012:table/T/stream/2026-01-01T00:00:00.000",
	}
}

// fixture is a mapping over a script with everything around it. It lives in a synctest bubble, so time.Now and
// time.After are virtual.
type fixture struct {
	source      *script
	checkpoints *eventsource.MemoryCheckpoints
	config      eventsource.Config
	wiring      eventsource.Wiring
	mapping     *eventsource.Mapping
	stop        func()
	handle      func(sequences []string) ([]byte, error)
	destination func(eventsource.Failure) error

	mu        sync.Mutex
	seen      [][]string
	delivered []eventsource.Delivery
	failures  []eventsource.Failure
	troubles  []eventsource.Trouble
}

func setup(t *testing.T, config eventsource.Config) *fixture {
	t.Helper()
	s := &fixture{source: newScript(), checkpoints: &eventsource.MemoryCheckpoints{}, config: config}
	s.handle = func([]string) ([]byte, error) { return nil, nil }
	s.destination = func(eventsource.Failure) error { return nil }
	ids := 0
	s.wiring = eventsource.Wiring{
		Source: s.source, Checkpoints: s.checkpoints, Clock: time.Now, After: time.After,
		Handler: s.receive,
		Destination: func(_ context.Context, f eventsource.Failure) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			err := s.destination(f)
			if err == nil {
				s.failures = append(s.failures, f)
			}
			return err
		},
		NewID: func() string {
			s.mu.Lock()
			defer s.mu.Unlock()
			ids++
			return "request-" + strconv.Itoa(ids)
		},
		Hooks: eventsource.Hooks{
			Delivered: func(d eventsource.Delivery) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.delivered = append(s.delivered, d)
			},
			Trouble: func(trouble eventsource.Trouble) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.troubles = append(s.troubles, trouble)
			},
		},
	}
	return s
}

// receive decodes the event as a handler would, notes it, and answers what the test wants.
func (s *fixture) receive(_ context.Context, event []byte) ([]byte, error) {
	sequences, err := sequencesOf(event)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.seen = append(s.seen, sequences)
	s.mu.Unlock()
	return s.handle(sequences)
}

func sequencesOf(event []byte) ([]string, error) {
	var e struct {
		Records []struct {
			DynamoDB struct{ SequenceNumber string } `json:"dynamodb"`
		}
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	var out []string
	for _, r := range e.Records {
		out = append(out, r.DynamoDB.SequenceNumber)
	}
	return out, nil
}

// run starts the mapping; it is stopped, and its end awaited, when the test ends or calls stop.
func (s *fixture) run(t *testing.T) {
	t.Helper()
	mapping, err := eventsource.New(s.config, s.wiring)
	require.NoError(t, err)
	s.mapping = mapping
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mapping.Run(ctx) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(s.stop)
}

// waitUntilIdle waits until the mapping has finished everything in the source; a day of virtual time is the bound.
func (s *fixture) waitUntilIdle(t *testing.T) {
	t.Helper()
	head, err := s.source.Head(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
	defer cancel()
	require.NoError(t, s.mapping.CaughtUp(ctx, head))
	synctest.Wait()
}

func (s *fixture) batches() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func (s *fixture) deliveries() []eventsource.Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.delivered)
}

func (s *fixture) givenUp() []eventsource.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.failures)
}

func (s *fixture) trouble() []eventsource.Trouble {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.troubles)
}

func (s *fixture) saved(t *testing.T) map[string]eventsource.Checkpoint {
	t.Helper()
	saved, err := s.checkpoints.Load(t.Context(), s.config.Name)
	require.NoError(t, err)
	return saved
}

var errBroken = errors.New("broken")

func reportFailed(sequences ...string) []byte {
	out := `{"batchItemFailures":[`
	for i, sequence := range sequences {
		if i > 0 {
			out += ","
		}
		out += `{"itemIdentifier":` + strconv.Quote(sequence) + `}`
	}
	return []byte(out + `]}`)
}

// stuckCheckpoints cannot save, or not load, until released.
type stuckCheckpoints struct {
	eventsource.Checkpoints
	mu                sync.Mutex
	stuck, unreadable bool
}

func (c *stuckCheckpoints) Load(ctx context.Context, mapping string) (map[string]eventsource.Checkpoint, error) {
	if c.unreadable {
		return nil, errBroken
	}
	return c.Checkpoints.Load(ctx, mapping)
}

func (c *stuckCheckpoints) Save(ctx context.Context, mapping, shard string, at eventsource.Checkpoint) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stuck {
		return errBroken
	}
	return c.Checkpoints.Save(ctx, mapping, shard, at)
}

func (c *stuckCheckpoints) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stuck = false
}

// collect is a handler that notes what it gets.
func collect(into *[][]string) eventsource.Handler {
	return func(_ context.Context, event []byte) ([]byte, error) {
		sequences, err := sequencesOf(event)
		*into = append(*into, sequences)
		return nil, err
	}
}

func quote(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	return string(quoted)
}
