package e2e_test

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	blobmemory "nexus/pkg/blob/memory"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/deploy/env"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/schedule"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/verify"
)

// recount recounts from the items of the table everything that follows from them, in the table, the scheduler and the
// bucket of copies, and returns what differs. Change logs have ten minutes to name a change, so they are compared as of
// a quarter of an hour later.
func (w *fixture) recount() ([]verify.Difference, verify.Summary) {
	w.Helper()
	found, summary := w.recountAt(time.Now)
	later, _ := w.recountAt(func() time.Time { return time.Now().Add(15 * time.Minute) })
	for _, d := range later {
		if d.Kind == verify.Change {
			found = append(found, d)
		}
	}
	return found, summary
}

func (w *fixture) recountAt(now func() time.Time) ([]verify.Difference, verify.Summary) {
	w.Helper()
	w.carryOutWalks()
	schedules := w.schedules()
	s, err := system.New(w.registry, system.Ports{
		Store: func(string) table.Store { return w.store }, Now: now,
		NewID: uuid.NewString, NewRevisionID: uuid.NewString, Random: rand.Reader,
		Scheduler: schedules, Lister: schedules, Telling: schedules, Bus: busmemory.New(nil), Copies: w.copies(),
		Walker: dynamo.NewWalker(enginetest.Client(enginetest.Start(w.T)), dynamo.WithTable(w.settings[env.TableName])),
		Grace:  time.Millisecond,
		Wait:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, // nothing is under way
	})
	require.NoError(w, err)
	var found []verify.Difference
	summary, err := s.Verifier.Run(w.Context(), verify.Options{}, func(d verify.Difference) error {
		found = append(found, d)
		return nil
	})
	require.NoError(w, err)
	require.Empty(w, summary.Unchecked)
	require.Zero(w, summary.Unsettled)
	return found, summary
}

// schedules returns a scheduler that holds what the service does.
func (w *fixture) schedules() *schedulememory.Scheduler {
	w.Helper()
	out := schedulememory.New(nil)
	for name, s := range w.services.waiting() {
		at, err := time.Parse(scheduleForm, s.ScheduleExpression)
		require.NoError(w, err)
		require.NoError(w, out.Put(w.Context(), schedule.Schedule{Name: name, At: at, Payload: []byte(s.Target.Input)}))
	}
	return out
}

// copies returns a store with the objects of the archive.
func (w *fixture) copies() *blobmemory.Store {
	w.Helper()
	out := blobmemory.New(nil)
	for _, name := range w.services.stored() {
		if inside, ok := strings.CutPrefix(name, archive+"/"); ok {
			require.NoError(w, out.Put(w.Context(), inside, []byte(w.services.content(name))))
		}
	}
	return out
}
