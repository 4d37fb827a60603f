// Package load_test measures how fast the system answers reads and follows its stream, on this machine and in one run.
//
// It fails on an error only, never on a slow machine. Everything it makes, it makes in a store of its own that is gone
// afterwards.
package load_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/limit"
	"nexus/pkg/local"
)

// What make load measures besides its defaults, as LOADFLAGS.
var (
	users   = flag.Int("users", 10, "users with data, in BenchmarkHTTP")
	items   = flag.Int("items", 500, "events, tasks, reminders and notes of each user, over five years")
	series  = flag.Int("series", 30, "series of each user, a third of them with exceptions")
	clients = flag.Int("clients", 8, "clients that ask at the same time")
)

// garbage is the growth of the heap between collections, in percent, that nexus dev allows beside a table in memory.
const garbage = 400

// BenchmarkHTTP (make load) measures week views, the board and single items over HTTP on each store. Clients and system
// are on one machine, in one process.
func BenchmarkHTTP(b *testing.B) {
	for _, store := range []local.Store{local.Memory, local.DynamoDB} {
		b.Run(string(store), func(b *testing.B) { benchmarkHTTP(b, store, *users, *items, *series, *clients) })
	}
}

func benchmarkHTTP(b *testing.B, store local.Store, users, items, series, clients int) {
	require.Positive(b, min(users, items, series, clients))
	if store == local.Memory {
		defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	}
	limits, err := limit.Default().With(map[string]int{limit.User: 1_000_000_000}) // what is measured is not the limit
	require.NoError(b, err)
	p, err := local.Start(b.Context(), local.Options{
		Store: store, Ephemeral: store == local.DynamoDB, Addr: "127.0.0.1:0", Limits: limits,
	})
	require.NoError(b, err)
	defer func() {
		require.NoError(b, p.Err())
		require.NoError(b, p.Stop(context.WithoutCancel(b.Context())))
	}()
	s := &subject{client: newClient(p.URL(), clients), monday: mondayAfter(time.Now())}
	defer s.http.CloseIdleConnections()
	population := populate(s.monday, items, series)
	for i := range users {
		s.users = append(s.users, fmt.Sprintf("user-%d", i))
		events, err := s.fill(b.Context(), s.users[i], population)
		require.NoError(b, err)
		s.events = append(s.events, events)
	}
	require.NoError(b, s.waitUntilIdle(b.Context()))
	for _, kind := range []struct {
		name    string
		path    func(*rand.Rand) (user, path string)
		clients int
	}{{"week-views", s.week, clients}, {"week-views", s.week, 1}, {"the-board", s.board, 1}, {"one-item", s.item, 1}} {
		b.Run(fmt.Sprintf("%s/clients=%d", kind.name, kind.clients), func(b *testing.B) {
			measure(b, kind.clients, func(ctx context.Context, chance *rand.Rand) error {
				user, path := kind.path(chance)
				_, err := s.do(ctx, user, http.MethodGet, path, nil)
				return err
			})
		})
	}
	b.Run("events-of-a-week-by-CalDAV/clients=1", func(b *testing.B) { measure(b, 1, startRadicale(b, s).week) })
}

// mondayAfter is a Monday eight weeks on: far from the notes, which belong to the time they were written.
func mondayAfter(now time.Time) time.Time {
	at := now.UTC().Truncate(day).AddDate(0, 0, 56)
	for at.Weekday() != time.Monday {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

// subject is the system that is asked.
type subject struct {
	*client
	monday time.Time
	users  []string
	events [][]string // of each user
}

// waitUntilIdle waits until the consumers have done what follows from the population.
func (s *subject) waitUntilIdle(ctx context.Context) error {
	const attempts = 20 // each waits half a minute in the system
	var err error
	for range attempts {
		if _, err = s.do(ctx, "", http.MethodPost, "/dev/settle", map[string]any{}); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (s *subject) week(r *rand.Rand) (user, path string) {
	return s.users[r.IntN(len(s.users))], weekView(s.monday, 100)
}

func (s *subject) board(r *rand.Rand) (user, path string) {
	return s.users[r.IntN(len(s.users))], "/v1/board"
}

func (s *subject) item(r *rand.Rand) (user, path string) {
	i := r.IntN(len(s.users))
	return s.users[i], "/v1/events/" + s.events[i][r.IntN(len(s.events[i]))]
}

// weekView returns the request of a calendar that shows a week from the instant on.
func weekView(monday time.Time, limit int) string {
	return "/v1/agenda?" + url.Values{
		"from": {monday.Format(time.RFC3339)}, "to": {monday.Add(week).Format(time.RFC3339)}, "limit": {fmt.Sprint(limit)},
	}.Encode()
}

// measure has clients send requests, each one after the other. It reports how many are answered a second, the processor
// time that one takes of this process, and how long it took.
func measure(b *testing.B, clients int, send func(context.Context, *rand.Rand) error) {
	b.Helper()
	took, wrong := make([][]time.Duration, clients), make([]error, clients)
	var sent atomic.Int64
	var work sync.WaitGroup
	used := cpu(b)
	b.ResetTimer()
	for n := range clients {
		work.Go(func() {
			chance := rand.New(rand.NewPCG(1, uint64(n)))
			for sent.Add(1) <= int64(b.N) && wrong[n] == nil {
				began := time.Now()
				wrong[n] = send(b.Context(), chance)
				took[n] = append(took[n], time.Since(began))
			}
		})
	}
	work.Wait()
	b.StopTimer()
	require.NoError(b, cmp.Or(wrong...))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(cpu(b)-used)/float64(b.N), "cpu-ns/op")
	all := slices.Concat(took...)
	slices.Sort(all)
	for _, percent := range []int{50, 99, 100} {
		// The smallest time that so many per cent do not exceed (nearest rank).
		b.ReportMetric(float64(all[max(0, (len(all)*percent+99)/100-1)])/1e6, fmt.Sprintf("p%d-ms", percent))
	}
}
