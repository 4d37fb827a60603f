package changes_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/table/interleave"
	"nexus/pkg/table/memory"
)

// rivals are workers on one user's log: each appends the records of its batch, and a record whose outcome is unknown
// comes again to it. The last has the first one's batch: a mapping delivered it twice.
func rivals(t *testing.T, of int) func() interleave.World {
	f := newFixture(t)
	batches := [][]change.Change{{f.task(ann, "task_a", 1, false)}, {f.task(ann, "task_b", 1, false)}, {}}
	batches = batches[:of]
	batches[of-1] = batches[0]
	return func() interleave.World {
		store := memory.New(func() time.Time { return noon }, memory.Options{})
		w := interleave.World{Store: store}
		finished := make([]bool, of)
		for i, batch := range batches {
			w.Workers = append(w.Workers, interleave.Worker{
				Name: fmt.Sprint("worker ", i), Run: func(ctx context.Context, s *interleave.Store) {
					consumer := changes.New(changes.Config{
						Store: s, Now: func() time.Time { return noon }, Random: constant{},
					})
					for range 2 {
						if consumer.Apply(ctx, batch)[0].Verdict == change.Done {
							finished[i] = true
							return
						}
					}
				},
			})
		}
		w.Judge = func() error { return checkLog(store, batches, finished) }
		return w
	}
}

// checkLog holds C1 and C2: what is finished is in the log, and rows are numbered from 1 on, the first one marked.
func checkLog(store *memory.Store, batches [][]change.Change, finished []bool) error {
	var entries []string
	next := int64(1)
	for row, err := range changelog.Rows(context.Background(), store, changelog.Read{User: ann, From: 1}) {
		if err != nil {
			return err
		}
		if row.N != next || row.First != (next == 1) {
			return fmt.Errorf("row %d, first %t, in place of %d", row.N, row.First, next)
		}
		next++
		for _, e := range row.Entries {
			entries = append(entries, e.String())
		}
	}
	for i, batch := range batches {
		if e, _ := changes.EntryOf(batch[0]); finished[i] && !slices.Contains(entries, e.String()) {
			return fmt.Errorf("worker %d is done, and its entry is lost: %v", i, entries)
		}
	}
	if len(entries) > len(batches) {
		return fmt.Errorf("more entries than deliveries: %v", entries)
	}
	return nil
}

func TestConsumer_losesNoRowInAnyOrderOfTheCallsOfItsWorkers(t *testing.T) {
	t.Parallel()
	for workers, faults := range map[int]int{2: 2, 3: 1} {
		result, err := interleave.Explore(t.Context(), rivals(t, workers), interleave.Options{Faults: faults, Refusals: true})
		require.NoError(t, err)
		t.Logf("%d workers, %d faults: %+v", workers, faults, result)
		require.Greater(t, result.Plays, 10)
	}
}
