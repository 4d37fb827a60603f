package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

const ann, bob = "ann", "bob"

// fixture is a service on a store of its own, in virtual time.
type fixture struct {
	t       *testing.T
	store   *memory.Store
	service *command.Service
	now     time.Time

	mu     sync.Mutex
	calls  []string        // the store's operations since the last trips
	pauses []time.Duration // the bounds of those between attempts
	// busy, if set, is asked at each pause.
	busy func() error
	// fault, if set, is asked at each call of the store.
	fault func(memory.Call) error
}

func setup(t *testing.T, types ...*entity.Type) *fixture {
	t.Helper()
	b := &fixture{t: t, now: noon}
	clock := func() time.Time { return b.now }
	b.store = memory.New(clock, memory.Options{Fault: func(c memory.Call) error {
		if c.Stage == memory.Before {
			b.mu.Lock()
			b.calls = append(b.calls, c.Op)
			b.mu.Unlock()
		}
		if fault := b.fault; fault != nil {
			return fault(c)
		}
		return nil
	}, Witnessed: true})
	t.Cleanup(func() { require.Empty(t, b.store.Tampered(), "what was read is not to be changed") })
	registry, err := entity.NewRegistry(
		append(types, product.Event(), product.Task(), product.Reminder(), product.Note(), product.UserMeta())...)
	require.NoError(t, err)
	ids := 0
	b.service = command.New(
		command.Config{Store: b.store, Registry: registry, Now: clock, Pause: b.pause, NewID: func() string {
			b.mu.Lock()
			defer b.mu.Unlock()
			ids++
			return uuid(ids)
		}})
	return b
}

// pause takes no time.
func (b *fixture) pause(_ context.Context, most time.Duration) error {
	b.mu.Lock()
	b.pauses = append(b.pauses, most)
	busy := b.busy
	b.mu.Unlock()
	if busy != nil {
		return busy()
	}
	return nil
}

// uuid is the suffix of an id that is a UUID.
func uuid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

// once makes a fault hook act at the first call of the operation at the stage, and never again.
func (b *fixture) once(op string, stage memory.Stage, act func() error) {
	b.fault = func(c memory.Call) error {
		if c.Op != op || c.Stage != stage {
			return nil
		}
		b.fault = nil
		return act()
	}
}

// trips returns the operations that the store was asked for since the last time, and forgets them.
func (b *fixture) trips() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	trips := strings.Join(b.calls, " ")
	b.calls = nil
	return trips
}

// isUncounted says that a mutant is at work: one that shows in the number of requests alone is a cost, no mistake.
var isUncounted = os.Getenv("NEXUS_UNCOUNTED") != ""

// took demands that the store was asked for these operations since the last time.
func (b *fixture) took(want string, about ...any) {
	b.t.Helper()
	if got := b.trips(); !isUncounted {
		require.Equal(b.t, want, got, about...)
	}
}

// tookAtMost demands that the store was asked for no more than so many operations since the last time.
func (b *fixture) tookAtMost(most int) {
	b.t.Helper()
	if got := b.trips(); !isUncounted {
		require.LessOrEqual(b.t, len(strings.Fields(got)), most)
	}
}

type option func(*command.Request)

func at(version int64) option { return func(r *command.Request) { r.ExpectedVersion = &version } }
func key(k string) option     { return func(r *command.Request) { r.IdempotencyKey = k } }
func as(user string) option   { return func(r *command.Request) { r.User = user } }

func (b *fixture) do(cmd command.Command, options ...option) (command.Result, error) {
	r := command.Request{User: ann, Command: cmd}
	for _, o := range options {
		o(&r)
	}
	return b.service.Do(context.Background(), r)
}

func (b *fixture) must(cmd command.Command, options ...option) command.Result {
	b.t.Helper()
	res, err := b.do(cmd, options...)
	require.NoError(b.t, err)
	return res
}

// create makes an entity and returns its id.
func (b *fixture) create(t *entity.Type, text string, options ...option) string {
	b.t.Helper()
	id := b.must(command.Create{Type: t, Fields: doc(text)}, options...).Ref.ID
	b.trips()
	return id
}

// row returns what is stored under the key, or nil.
func (b *fixture) row(k item.Key) item.Item {
	b.t.Helper()
	rows, err := b.store.BatchGet(context.Background(), []item.Key{k})
	require.NoError(b.t, err)
	b.trips()
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

func (b *fixture) stored(t *entity.Type, id string) item.Item {
	b.t.Helper()
	return b.row(entity.ItemKey(ann, entity.Ref{Type: t.Name, ID: id}))
}

// set changes attributes of a row as a consumer does, around every command.
func (b *fixture) set(k item.Key, attributes item.Item) {
	b.t.Helper()
	_, err := b.store.Update(context.Background(), table.Update{Key: k, Set: attributes})
	require.NoError(b.t, err)
	b.trips()
}

func doc(text string) map[string]any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	out := map[string]any{}
	if err := d.Decode(&out); err != nil {
		panic(err)
	}
	return out
}

// pointers are the places that a validation error names.
func pointers(t *testing.T, err error) []string {
	t.Helper()
	var invalid *entity.ValidationError
	require.ErrorAs(t, err, &invalid)
	var out []string
	for _, f := range invalid.Fields {
		out = append(out, f.Pointer)
	}
	return out
}

func requireStale(t *testing.T, err error, current int64) {
	t.Helper()
	var stale *command.StaleError
	require.ErrorAs(t, err, &stale)
	require.Equal(t, current, stale.Current)
}

func requireNotFound(t *testing.T, err error, pointer string) {
	t.Helper()
	var missing *command.NotFoundError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, pointer, missing.Pointer)
}

func requireState(t *testing.T, err error, reason string) {
	t.Helper()
	var state *command.StateError
	require.ErrorAs(t, err, &state)
	require.Contains(t, state.Reason, reason)
}
