package reminders_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
)

// Two occurrences are late at once: the call about the first delivers both. Whether it dies in between or not, its
// repetition leaves no delivery open: no other call and no record will come that would find one.
func TestARepeatedCallLeavesNothingOpenThatItBegan(t *testing.T) {
	t.Parallel()
	for step, dies := 1, true; dies; step++ {
		require.Less(t, step, 200)
		w := setup(t)
		w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
		w.settle()
		w.to(noon.Add(26 * time.Hour)) // two in the afternoon of the second day
		calls := w.scheduler.due(w.now)
		require.Len(t, calls, 1)
		w.fault.steps, w.fault.at, w.fault.die = 0, step, true
		w.repeat(func(ctx context.Context) error { return w.notifier.Handle(ctx, calls[0]) })
		dies = w.fault.steps >= step
		fences := w.rows(entity.FiredPrefix("mst_1"))
		require.Len(t, fences, 2)
		for _, fence := range fences {
			require.Equal(t, "sent", fence.Str("state"), "%s, when the call dies at step %d", fence.Key().SK, step)
		}
	}
}
