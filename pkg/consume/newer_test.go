package consume_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
)

func TestCounts_separateWhatWaitsForALaterReleaseAndIsNotParked(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", fail: func(c change.Change, _ int) change.Outcome {
		switch label(c) {
		case "b1":
			return change.Outcome{Verdict: change.Retry, Err: fmt.Errorf("stats of b: %w", entity.ErrNewerForm)}
		case "c1":
			return change.Outcome{Verdict: change.Retry, Err: errBusy}
		}
		return change.Outcome{}
	}}
	b := setup(t, s)
	require.Equal(t, "101", b.handle(t, event("a1", "b1", "c1")))
	require.Equal(t, consume.Counts{Records: 3, Done: 1, Unfinished: 2, Newer: 1, Retried: 6}, b.counts["stats"])
	require.Empty(t, b.shelf.objects)
	require.Contains(t, b.log.String(), entity.ErrNewerForm.Error())
}
