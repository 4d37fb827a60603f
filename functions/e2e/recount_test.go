package e2e_test

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	archiving "nexus/pkg/archive"
	blobmemory "nexus/pkg/blob/memory"
	buslocal "nexus/pkg/bus/local"
	"nexus/pkg/deploy/env"
	"nexus/pkg/links"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/projection"
	"nexus/pkg/reminders"
	"nexus/pkg/revision"
	"nexus/pkg/schedule"
	schedulelocal "nexus/pkg/schedule/local"
	"nexus/pkg/stats"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/verify"
)

// recount recounts from the items of the table everything that follows from them, in the table, the scheduler and the
// bucket of copies, and returns what differs.
func (w *world) recount() ([]verify.Difference, verify.Summary) {
	w.Helper()
	log := slog.New(slog.DiscardHandler)
	events, err := buslocal.New(buslocal.Config{})
	require.NoError(w, err)
	schedules := w.schedules()
	reminding := reminders.Config{
		Store: w.store, Registry: w.registry, Scheduler: schedules, Bus: events, Now: time.Now, Log: log,
	}
	verifier := verify.New(verify.Config{
		Store: w.store, Registry: w.registry,
		Walker:      dynamo.NewWalker(enginetest.Client(enginetest.Start(w.T)), dynamo.WithTable(w.settings[env.TableName])),
		Projections: []*projection.Projection{stats.Projection(), links.Projection()},
		Archive: archiving.NewConsumer(archiving.Config{
			Store: w.store, Registry: w.registry, Copies: w.copies(), Bus: events, Now: time.Now,
		}),
		Reminders: reminders.New(reminding), Notifier: reminders.NewNotifier(reminding), Schedules: schedules,
		Repositories: revision.NewPublisher(revision.Config{Store: w.store, Now: time.Now, NewID: uuid.NewString}),
		Now:          time.Now, NewOwner: uuid.NewString, Grace: time.Millisecond, Log: log,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, // nothing is under way
	})
	var found []verify.Difference
	summary, err := verifier.Run(w.Context(), verify.Options{}, func(d verify.Difference) error {
		found = append(found, d)
		return nil
	})
	require.NoError(w, err)
	require.Empty(w, summary.Unchecked)
	require.Zero(w, summary.Unsettled)
	return found, summary
}

// schedules returns a scheduler that holds what the service does.
func (w *world) schedules() *schedulelocal.Scheduler {
	w.Helper()
	out, err := schedulelocal.New(schedulelocal.Config{
		Target: func(context.Context, schedule.Schedule) error { return nil },
	})
	require.NoError(w, err)
	for name, s := range w.services.waiting() {
		at, err := time.Parse(scheduleForm, s.ScheduleExpression)
		require.NoError(w, err)
		require.NoError(w, out.Put(w.Context(), schedule.Schedule{Name: name, At: at, Payload: []byte(s.Target.Input)}))
	}
	return out
}

// copies returns a store with the objects of the archive.
func (w *world) copies() *blobmemory.Store {
	w.Helper()
	out := blobmemory.New(nil)
	for _, name := range w.services.stored() {
		if inside, ok := strings.CutPrefix(name, archive+"/"); ok {
			require.NoError(w, out.Put(w.Context(), inside, []byte(w.services.content(name))))
		}
	}
	return out
}
