package consume_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

var (
	errBusy = errors.New("store busy")
	errBad  = errors.New("can never be done")
)

// recordingConsumer is a consumer that notes every change it finishes, in order, and fails as the test demands.
type recordingConsumer struct {
	name  string
	folds bool
	// traced has the loop log what goes well, too.
	traced bool
	// fail decides on one change; nil finishes it. try counts from 1.
	fail func(c change.Change, try int) change.Outcome
	// before, if set, runs at the start of each call.
	before func(ctx context.Context, batch []change.Change)

	mu    sync.Mutex
	tries map[string]int
	done  []string
	calls [][]string
}

func (s *recordingConsumer) Name() string { return s.name }

func (s *recordingConsumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	var call []string
	for _, c := range batch {
		call = append(call, label(c))
	}
	s.calls = append(s.calls, call)
	if s.before != nil {
		s.before(ctx, batch)
	}
	var out []change.Outcome
	for _, c := range batch {
		var o change.Outcome
		s.tries[c.Sequence]++
		if s.fail != nil {
			o = s.fail(c, s.tries[c.Sequence])
		}
		if o.Verdict == change.Done {
			s.done = append(s.done, label(c))
		}
		out = append(out, o)
	}
	return out
}

// recordingBatchConsumer is a scribe that accepts several changes of one item in a call.
type recordingBatchConsumer struct{ *recordingConsumer }

func (recordingBatchConsumer) AcceptsBatches() {}

// label is an item's letter and version, such as a2.
func label(c change.Change) string {
	return fmt.Sprintf("%s%d", strings.TrimPrefix(c.Ref.ID, "task_"), c.Version)
}

// only makes fail apply to the labelled changes, on their first tries.
func only(o change.Outcome, tries int, labels ...string) func(change.Change, int) change.Outcome {
	return func(c change.Change, try int) change.Outcome {
		if slices.Contains(labels, label(c)) && try <= tries {
			return o
		}
		return change.Outcome{}
	}
}

const always = 1 << 30

var (
	retry  = change.Outcome{Verdict: change.Retry, Err: errBusy}
	poison = change.Outcome{Verdict: change.Poison, Err: errBad}
)

// shelf is a parking that fails its first puts.
type shelf struct {
	mu      sync.Mutex
	fail    int
	objects map[string][]byte
}

func (s *shelf) Put(_ context.Context, name string, body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail > 0 {
		s.fail--
		return errors.New("shelf is closed")
	}
	s.objects[name] = bytes.Clone(body)
	return nil
}

func (s *shelf) names() []string { return slices.Sorted(maps.Keys(s.objects)) }

// fixture is a loop with everything around it.
type fixture struct {
	loop   *consume.Loop
	shelf  *shelf
	waits  []time.Duration
	counts map[string]consume.Counts // without Oldest
	oldest time.Time
	log    *bytes.Buffer
	mu     sync.Mutex
}

func setup(t *testing.T, consumers ...*recordingConsumer) *fixture {
	t.Helper()
	return setupWith(t, func(*consume.Config) {}, consumers...)
}

// setupWith lets adjust change the configuration.
func setupWith(t *testing.T, adjust func(*consume.Config), consumers ...*recordingConsumer) *fixture {
	t.Helper()
	b := &fixture{shelf: &shelf{objects: map[string][]byte{}}, counts: map[string]consume.Counts{}, log: &bytes.Buffer{}}
	cfg := config(b)
	if len(consumers) > 0 && consumers[0].traced {
		cfg.Log = slog.New(slog.NewJSONHandler(b.log, nil))
	}
	for _, s := range consumers {
		s.tries = map[string]int{}
		if s.folds {
			cfg.Consumers = append(cfg.Consumers, recordingBatchConsumer{s})
		} else {
			cfg.Consumers = append(cfg.Consumers, s)
		}
	}
	adjust(&cfg)
	var err error
	b.loop, err = consume.New(cfg)
	require.NoError(t, err)
	return b
}

func config(b *fixture) consume.Config {
	return consume.Config{
		Registry: product.Registry(), Parking: b.shelf, Spread: consume.InTurn,
		Log: slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Now: func() time.Time { return time.Unix(1767225600, 0) },
		Wait: func(ctx context.Context, d time.Duration) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.waits = append(b.waits, d)
			return ctx.Err()
		},
		Observe: func(consumer string, c consume.Counts) {
			b.oldest, c.Oldest = c.Oldest, time.Time{}
			b.counts[consumer] = c
		},
	}
}

// handle returns the sequence number that the loop reports; empty for none.
func (b *fixture) handle(t *testing.T, event []byte) string {
	t.Helper()
	return b.handleWithin(t, t.Context(), event)
}

func (b *fixture) handleWithin(t *testing.T, ctx context.Context, event []byte) string {
	t.Helper()
	body, err := b.loop.Handle(ctx, event)
	require.NoError(t, err)
	var answer struct {
		BatchItemFailures []struct {
			ItemIdentifier string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&answer))
	require.NotNil(t, answer.BatchItemFailures, "%s", body)
	if len(answer.BatchItemFailures) == 0 {
		return ""
	}
	require.Len(t, answer.BatchItemFailures, 1)
	return answer.BatchItemFailures[0].ItemIdentifier
}

// records makes one record for each label, with sequence numbers 100, 101, ...; "?" stands for one that cannot be
// decoded, in item a.
func records(labels ...string) []json.RawMessage {
	var out []json.RawMessage
	for i, l := range labels {
		broken := l == "?"
		if broken {
			l = "a9"
		}
		key := entity.ItemKey("user_1", entity.Ref{Type: product.TypeTask, ID: "task_" + l[:1]})
		it := key.Item()
		it[entity.AttrType], it[entity.AttrVersion] = item.String(product.TypeTask), item.Number(l[1:])
		if broken {
			it[entity.AttrVersion] = item.String("nine")
		}
		out = append(out, change.AppendRecord(nil, change.Record{
			EventID: l, Name: change.Insert, Sequence: fmt.Sprint(100 + i), Key: key, New: it,
			Created: time.Unix(1767225600, 0),
		}))
	}
	return out
}

func event(labels ...string) []byte { return consume.Event(records(labels...)) }
