package watch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/push"
	pushmemory "nexus/pkg/push/memory"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/watch"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 500, time.UTC)

func place() push.Place {
	return push.Place{URL: "wss://realtime.example/event/realtime", Host: "http.example"}
}

// fixture is a service on a table, and a sender.
type fixture struct {
	store   *memory.Store
	meter   table.Meter
	now     time.Time
	service *watch.Service
	sender  *watch.Sender
	pusher  *pushmemory.Pusher
	log     bytes.Buffer
	counts  [][2]int // sent and dropped, of each call
}

func setup(t *testing.T, fault pushmemory.Fault) *fixture {
	t.Helper()
	f := &fixture{now: noon, pusher: pushmemory.New(fault)}
	clock := func() time.Time { return f.now }
	f.store = memory.New(clock, memory.Options{Observer: f.meter.Observe})
	f.service = watch.New(f.store, place(), clock)
	f.sender = watch.NewSender(watch.Config{
		Pusher: f.pusher, Bound: watch.Bound, Log: slog.New(slog.NewTextHandler(&f.log, nil)),
		Observe: func(sent, dropped int) { f.counts = append(f.counts, [2]int{sent, dropped}) },
	})
	return f
}

// hint sends each user a hint with its own name as token, and returns the channels on which one arrived.
func (f *fixture) hint(ctx context.Context, users ...string) (channels []string) {
	tokens := map[string]string{}
	for _, user := range users {
		tokens[user] = user
	}
	before := len(f.pusher.Hints())
	f.sender.Hint(ctx, tokens)
	for _, h := range f.pusher.Hints()[before:] {
		channels = append(channels, h.Channel)
	}
	return channels
}

func TestService_recordsUntilWhenAnAppIsOpen(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	got, err := f.service.Start(t.Context(), "ann")
	require.NoError(t, err)
	until := time.Date(2026, time.March, 2, 12, 40, 0, 0, time.UTC)
	require.Equal(t, watch.Watch{Until: until, Place: place(), Channel: "/user/ann"}, got)
	row, err := f.store.Get(t.Context(), item.Key{PK: "USER#ann", SK: "CHANGE#open"})
	require.NoError(t, err)
	require.Equal(t, item.Item{
		"PK": item.String("USER#ann"), "SK": item.String("CHANGE#open"), "ttl": item.Int(until.Unix()),
	}, row)

	f.now = noon.Add(30 * time.Minute)
	got, err = f.service.Start(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, until.Add(30*time.Minute), got.Until)
	require.InDelta(t, 2, f.meter.Read()["Put"].WriteUnits, 0)
}

func TestService_recordsNothingWhereNoHintCanArrive(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	got, err := f.service.Start(t.Context(), "ann_b")
	require.NoError(t, err)
	require.Equal(t, watch.Watch{Until: noon.Truncate(time.Second).Add(watch.Duration)}, got)
	got, err = watch.New(f.store, push.Place{}, func() time.Time { return noon }).Start(t.Context(), "ann")
	require.NoError(t, err)
	require.Empty(t, got.Channel)
	require.Zero(t, f.meter.Read().Sum().Calls)
}

func TestService_refusesWhatIsNoUser(t *testing.T) {
	t.Parallel()
	_, err := setup(t, nil).service.Start(t.Context(), "ann#2")
	require.ErrorIs(t, err, entity.ErrID)
}

func TestSender_sendsEachUserItsOwnToken(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	require.ElementsMatch(t, []string{"/user/ann", "/user/cat"}, f.hint(t.Context(), "ann", "cat"))
	require.ElementsMatch(t, []pushmemory.Hint{
		{Channel: "/user/ann", Event: `{"next":"ann"}`}, {Channel: "/user/cat", Event: `{"next":"cat"}`},
	}, f.pusher.Hints())
	require.Empty(t, f.hint(t.Context()))
	require.Equal(t, [][2]int{{2, 0}, {0, 0}}, f.counts)
	require.Empty(t, f.log.String())
	require.Zero(t, f.meter.Read().Sum().Calls)
}

func TestSender_sendsAHintOnceWhateverBecomesOfIt(t *testing.T) {
	t.Parallel()
	tries := map[string]int{}
	var mu sync.Mutex
	f := setup(t, func(_ context.Context, user, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		tries[user]++
		switch user {
		case "bob":
			return push.ErrThrottled
		case "cat":
			panic("boom")
		}
		return nil
	})
	require.Equal(t, []string{"/user/ann"}, f.hint(t.Context(), "ann", "bob", "cat"))
	require.Equal(t, map[string]int{"ann": 1, "bob": 1, "cat": 1}, tries)
	require.Equal(t, [][2]int{{1, 2}}, f.counts)
	require.Equal(t, 1, strings.Count(f.log.String(), "\n"), "one line a batch: %s", &f.log)
	require.Contains(t, f.log.String(), "sent=1 dropped=2")
}

// The test's clock is virtual: it moves when all wait.
func TestSender_waitsNoLongerThanTheBound(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(ctx context.Context, forever chan struct{}) error{
		"it ends with its time": func(ctx context.Context, _ chan struct{}) error { <-ctx.Done(); return ctx.Err() },
		"it never ends":         func(_ context.Context, forever chan struct{}) error { <-forever; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				forever := make(chan struct{})
				defer close(forever)
				f := setup(t, func(ctx context.Context, user, _ string) error {
					if user == "slow" {
						return fault(ctx, forever)
					}
					time.Sleep(watch.Bound / 2)
					return nil
				})
				began := time.Now()
				require.Len(t, f.hint(t.Context(), "ann", "bob", "cat", "slow"), 3, "side by side")
				require.Equal(t, watch.Bound, time.Since(began))
				require.Equal(t, [][2]int{{3, 1}}, f.counts)
			})
		})
	}
}

func TestSender_sendsAFewHintsAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users, least = 100, 20 * time.Millisecond
		var under, most atomic.Int32
		f := setup(t, func(context.Context, string, string) error {
			n := under.Add(1)
			for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
			}
			time.Sleep(least)
			under.Add(-1)
			return nil
		})
		var names []string
		for i := range users {
			names = append(names, fmt.Sprintf("user-%d", i))
		}
		began := time.Now()
		require.Len(t, f.hint(t.Context(), names...), users)
		require.EqualValues(t, 32, most.Load())
		require.Equal(t, 4*least, time.Since(began))
	})
}

func TestSender_endsWithItsCaller(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	require.Empty(t, f.hint(ctx, "ann"))
}

func TestNewSender_refusesAPartThatIsMissing(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { watch.NewSender(watch.Config{}) })
}
