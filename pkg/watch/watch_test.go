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

// fixture is a service and a sender on one table.
type fixture struct {
	store    *memory.Store
	meter    table.Meter
	now      time.Time
	service  *watch.Service
	watchers *watch.Watchers
	pusher   *pushmemory.Pusher
	log      bytes.Buffer
	counts   [][2]int // sent and dropped, of each call
}

func setup(t *testing.T, fault pushmemory.Fault) *fixture {
	t.Helper()
	f := &fixture{now: noon, pusher: pushmemory.New(fault)}
	clock := func() time.Time { return f.now }
	f.store = memory.New(clock, memory.Options{Observer: f.meter.Observe})
	f.service = watch.New(f.store, place(), clock)
	f.watchers = watch.NewWatchers(watch.Config{
		Store: f.store, Pusher: f.pusher, Now: clock, Bound: watch.Bound,
		Log:     slog.New(slog.NewTextHandler(&f.log, nil)),
		Observe: func(sent, dropped int) { f.counts = append(f.counts, [2]int{sent, dropped}) },
	})
	return f
}

func (f *fixture) open(t *testing.T, users ...string) {
	t.Helper()
	for _, user := range users {
		_, err := f.service.Start(t.Context(), user)
		require.NoError(t, err)
	}
}

// hint sends each user a hint with its own name as token, and returns the channels on which one arrived.
func (f *fixture) hint(ctx context.Context, users ...string) (channels []string) {
	tokens := map[string]string{}
	for _, user := range users {
		tokens[user] = user
	}
	before := len(f.pusher.Hints())
	f.watchers.Hint(ctx, tokens)
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
	row, err := f.store.Get(t.Context(), item.Key{PK: "USER#ann", SK: "WATCH#ann"})
	require.NoError(t, err)
	require.Equal(t, item.Item{
		"PK": item.String("USER#ann"), "SK": item.String("WATCH#ann"), "ttl": item.Int(until.Unix()),
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

func TestWatchers_tellWhoHasAnAppOpenAndNoOneElse(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.open(t, "ann", "bob", "cat")
	require.ElementsMatch(t, []string{"/user/ann", "/user/cat"}, f.hint(t.Context(), "ann", "cat", "dan"))
	require.ElementsMatch(t, []pushmemory.Hint{
		{Channel: "/user/ann", Event: `{"next":"ann"}`}, {Channel: "/user/cat", Event: `{"next":"cat"}`},
	}, f.pusher.Hints())
	require.Equal(t, [][2]int{{2, 0}}, f.counts)
	require.Empty(t, f.log.String())
}

func TestWatchers_takeARowPastItsTTLForNone(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.open(t, "ann")
	f.now = noon.Add(watch.Duration - time.Second)
	require.Equal(t, []string{"/user/ann"}, f.hint(t.Context(), "ann"))
	f.now = noon.Add(watch.Duration)
	require.Empty(t, f.hint(t.Context(), "ann"))
	require.Equal(t, [][2]int{{1, 0}, {0, 0}}, f.counts)
}

func TestWatchers_readAllOfABatchAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.open(t, "ann", "bob")
	f.hint(t.Context(), "ann", "bob", "dan", "no_channel")
	read := f.meter.Read()["Peek"]
	require.Equal(t, 1, read.Calls)
	require.InDelta(t, 1.5, read.ReadUnits, 0, "half a unit for each user whom a hint can reach")

	f.hint(t.Context(), "no_channel")
	f.hint(t.Context())
	require.Equal(t, 1, f.meter.Read()["Peek"].Calls)
}

func TestWatchers_sendAHintOnceWhateverBecomesOfIt(t *testing.T) {
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
	f.open(t, "ann", "bob", "cat")
	require.Equal(t, []string{"/user/ann"}, f.hint(t.Context(), "ann", "bob", "cat"))
	require.Equal(t, map[string]int{"ann": 1, "bob": 1, "cat": 1}, tries)
	require.Equal(t, [][2]int{{1, 2}}, f.counts)
	require.Equal(t, 1, strings.Count(f.log.String(), "\n"), "one line a batch: %s", &f.log)
	require.Contains(t, f.log.String(), "sent=1 dropped=2")
}

// The test's clock is virtual: it moves when all wait.
func TestWatchers_waitNoLongerThanTheBound(t *testing.T) {
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
				f.open(t, "ann", "bob", "cat", "slow")
				began := time.Now()
				require.Len(t, f.hint(t.Context(), "ann", "bob", "cat", "slow"), 3, "side by side")
				require.Equal(t, watch.Bound, time.Since(began))
				require.Equal(t, [][2]int{{3, 1}}, f.counts)
			})
		})
	}
}

func TestWatchers_sendAFewHintsAtATime(t *testing.T) {
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
		f.open(t, names...)
		began := time.Now()
		require.Len(t, f.hint(t.Context(), names...), users)
		require.EqualValues(t, 32, most.Load())
		require.Equal(t, 4*least, time.Since(began))
	})
}

// unread is a table whose rows cannot be read.
type unread struct {
	table.Reader
	read func(ctx context.Context) error
}

func (u unread) Peek(ctx context.Context, _ []item.Key) ([]item.Item, error) {
	return nil, u.read(ctx)
}

func TestWatchers_sendNothingIfWhoWatchesIsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, nil)
		for _, read := range []func(context.Context) error{
			func(context.Context) error { return table.ErrUnavailable },
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		} {
			watch.NewWatchers(watch.Config{
				Store: unread{f.store, read}, Pusher: f.pusher, Now: time.Now, Bound: watch.Bound,
				Log: slog.New(slog.DiscardHandler),
			}).Hint(t.Context(), map[string]string{"ann": "t"})
		}
		require.Empty(t, f.pusher.Hints())
	})
}

func TestWatchers_endWithTheirCaller(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.open(t, "ann")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	require.Empty(t, f.hint(ctx, "ann"))
}

func TestNewWatchers_refusesAPartThatIsMissing(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { watch.NewWatchers(watch.Config{}) })
}
