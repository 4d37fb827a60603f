package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	roundBound = 4 * time.Minute
	// shownDifferences bounds what one failure prints.
	shownDifferences = 40
)

// unhurried lets a user's clients write as fast as they can, and change the zone at each step.
var unhurried = []string{"--limit", "user=100000", "--limit", "zone=100000"}

func TestVerify_findsNothingAfterALoadOfEightClients(t *testing.T) {
	t.Parallel()
	s := ephemeral(t, unhurried...)
	l := newLoad(t, s)
	for l.round = range amount(t, "rounds", 1, 20) {
		l.run(bounded(t))
		l.requireExact(t)
	}
	require.Empty(t, s.parked(), "what is parked")
	require.Empty(t, s.process().errors(), "errors logged")
	require.Len(t, s.engines(), 1, "engines on the data")
}

func TestDev_losesAndRepeatsNothingWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	s := onDirectory(t, unhurried...)
	l := newLoad(t, s)
	chance := rand.New(rand.NewPCG(l.seed, 0))
	rounds := amount(t, "rounds", 1, 5)
	kills := amount(t, "kills a round", 2, 10)
	for l.round = range rounds {
		ctx := bounded(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.run(ctx)
		}()
		l.killAtRandom(t, ctx, chance, kills, done)
		<-done
		l.requireExact(t)
		require.Len(t, s.engines(), 1, "engines on the data after %d kills", kills)
	}
	s.advance(time.Hour) // so that what is missing in a log is no longer on its way
	s.waitUntilIdle()
	_, remaining := s.verified(false)
	require.Zero(t, remaining, "differences that a verification finds")
	require.Empty(t, s.parked(), "what is parked")
	require.Empty(t, s.process().errors(), "errors logged")
	code, took := s.interrupt()
	require.Zero(t, code, "exit code; standard error:\n%s", s.process().stderr.text())
	require.Empty(t, s.engines(), "engines on the data after the end, which took %s", took)
}

func newLoad(t *testing.T, s *system) *load {
	t.Helper()
	l := &load{system: s, told: newAcknowledged(), seed: seed(t), base: s.now()}
	for n := range loadUsers {
		l.devices = append(l.devices, newDevice(s.client(fmt.Sprintf("load-%d", n)), l.seed+uint64(n)))
	}
	return l
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), roundBound)
	t.Cleanup(cancel)
	return ctx
}

// killAtRandom kills the process and starts the next one so many times, whenever a random number of further writes has
// been acknowledged.
func (l *load) killAtRandom(t *testing.T, ctx context.Context, chance *rand.Rand, kills int, done <-chan struct{}) {
	t.Helper()
	const writes = loadClients * loadSteps * 3 / 4 // of a round, about: some steps find nothing to do
	for n := range kills {
		begun := l.told.writes.Load()
		enough := begun + 1 + chance.Int64N(writes/int64(kills))
		reached := await(ctx, roundBound, time.Millisecond, func() bool {
			select {
			case <-done:
				return true
			default:
				return l.told.writes.Load() >= enough
			}
		})
		require.True(t, reached, "kill %d: %d of %d writes within %s", n, l.told.writes.Load()-begun, enough-begun,
			roundBound)
		l.system.kill()
		l.system.start()
	}
}

// requireExact settles and requires that the table holds what was acknowledged to clients, and that everything
// derived equals a recount.
func (l *load) requireExact(t *testing.T) {
	t.Helper()
	l.system.waitUntilIdle()
	rows, differences := l.system.recount()
	differences = append(l.told.compare(rows), differences...)
	differences = append(differences, l.compareLatest()...)
	for _, d := range l.devices {
		require.NoError(t, d.pull(bounded(t), false), "the last pull of the device of %s", d.user)
		differences = append(differences, d.compare(rows)...)
	}
	for _, e := range l.system.events() {
		if e.Type == "ReminderDue" {
			differences = append(differences, fmt.Sprintf("announced, and nothing was due: %+v", e))
		}
	}
	require.Empty(t, differences[:min(len(differences), shownDifferences)], "%d differences in round %d",
		len(differences), l.round)
	byKind := map[string]int{}
	for _, r := range rows {
		byKind[r.kind()]++
	}
	for _, kind := range []string{"MASTER", "INSTANCE"} {
		require.NotZero(t, byKind[kind], "rows of %s, or the load proves nothing about series; there are %v", kind, byKind)
	}
	checks := 0
	for _, d := range l.devices {
		checks += d.checks
		t.Logf("device of %s: %d things after %d pulls, %d snapshots, %d deaths; %d things received", d.user, len(d.copy),
			d.pulls, d.snapshots, d.deaths, d.received)
	}
	require.NotZero(t, checks, "digests compared")
	t.Logf("round %d, no difference; rows %v; so far %d writes acknowledged, %d rows, %d stale versions met, %d tries "+
		"without an answer, %d answers replayed",
		l.round, byKind, l.told.writes.Load(), len(rows), l.told.stale.Load(), l.told.unanswered.Load(),
		l.told.replayed.Load())
}

// compareLatest compares the two statistics that no recount can find, because their items may be gone, with what was
// acknowledged to clients.
func (l *load) compareLatest() []string {
	var differences []string
	for n := range loadUsers {
		user := fmt.Sprintf("load-%d", n)
		stats := l.system.client(user).get("/v1/me/stats")
		for name, want := range map[string]string{
			"lastEventCreated": l.told.eventCreated[user], "lastTaskCompleted": l.told.taskCompleted[user],
		} {
			if got, _ := stats[name].(string); got != want {
				differences = append(differences, fmt.Sprintf("%s of %s is %q, clients saw %q", name, user, got, want))
			}
		}
	}
	return differences
}

func TestDev_changesNoRowForRecordsDeliveredAgain(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	l := newLoad(t, s)
	l.run(bounded(t))
	// Time passes, so that what comes with it is there as well: deliveries, archived tasks, cold copies.
	c := s.client("load-0")
	soon := s.now().Add(time.Hour).Format(time.RFC3339)
	c.create("reminders", map[string]any{"title": "soon", "triggerUtc": soon, "tzid": "UTC"})
	c.create("tasks", map[string]any{"title": "done", "status": "COMPLETED"})
	s.advance(26 * time.Hour)
	s.waitUntilIdle()
	rows, derived := s.lasting(), map[string]int{}
	for _, r := range rows {
		derived[r.kind()]++
	}
	for _, kind := range []string{"LEDGER", "LINK", "USER_META", "FIRED", "COLD", "GONE", "MASTER", "INSTANCE"} {
		require.NotZero(t, derived[kind], "rows of %s; there are %v", kind, derived)
	}
	effects := s.effects()
	_, differences := s.recount()
	require.Empty(t, differences, "after a day, in which series and recurring reminders have moved on")

	require.NotZero(t, s.redeliver(2), "records delivered again")
	s.waitUntilIdle()
	require.Empty(t, changes(rows, s.lasting()), "rows after everything was delivered twice again")
	require.NotZero(t, s.redeliver(1), "records delivered again")
	s.waitUntilIdle()
	require.Empty(t, changes(rows, s.lasting()), "rows after everything was delivered once more")
	require.Equal(t, effects, s.effects(), "events, schedules and objects")
	require.Empty(t, s.parked(), "what is parked")
	require.Empty(t, s.process().errors(), "errors logged")
}

// lasting are the rows of the table without the places that walks over many items have come to: a walk that found
// nothing to look at leaves none, and repeated later it may find something. All of them must have come to their end.
func (s *system) lasting() []row {
	s.t.Helper()
	return slices.DeleteFunc(s.scan(), func(r row) bool {
		isPlace := r.kind() == "ZONE" || r.kind() == "SERIES"
		if isPlace {
			require.Equal(s.t, true, r["done"], "%s", r)
		}
		return isPlace
	})
}

// effects is everything outside of the table that consumers have brought about. Events may come again, with the
// delivery id they had: by it a channel knows them. A reminder has a delivery, so it does not even come again.
func (s *system) effects() []string {
	s.t.Helper()
	var blobs struct {
		Items []string `json:"items"`
	}
	s.dev(http.MethodGet, "/dev/blobs?limit=1000", nil, &blobs)
	out := blobs.Items
	for _, sch := range s.pending() {
		out = append(out, fmt.Sprintf("schedule %+v", sch))
	}
	told := map[string]bool{}
	for _, e := range s.events() {
		text := fmt.Sprintf("event %s %s of %s", e.Type, e.Detail.DeliveryID, e.Detail.ItemID)
		if e.Type == "ReminderDue" || !told[text] {
			out = append(out, text)
		}
		told[text] = true
	}
	return out
}
