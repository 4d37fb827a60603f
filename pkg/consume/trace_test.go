package consume_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
)

func traceOf(item string, version int64) string {
	return entity.TraceID("user_1", "task_"+item, version)
}

// lines returns what was logged.
func (b *fixture) lines(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for text := range strings.Lines(b.log.String()) {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line), "%s", text)
		out = append(out, line)
	}
	return out
}

func TestHandle_logsABatchOnceWithItsTraceIDs(t *testing.T) {
	t.Parallel()
	b := setup(t, &recordingConsumer{name: "stats", traced: true}, &recordingConsumer{name: "links"})
	require.Empty(t, b.handle(t, event("a1", "b7", "a2")))
	lines := b.lines(t)
	require.Len(t, lines, 1)
	require.Equal(t, "INFO", lines[0]["level"])
	require.Equal(t, "batch", lines[0]["msg"])
	require.Equal(t, []any{traceOf("a", 1), traceOf("b", 7), traceOf("a", 2)}, lines[0]["traceIds"])
}

func TestFinished_isNotSaidOfWhatComesAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, &recordingConsumer{name: "stats", traced: true, fail: only(retry, always, "b1")})
	require.NotEmpty(t, b.handle(t, event("a1", "b1", "c1")))
	lines := b.lines(t)
	require.Len(t, lines, 2)
	require.Equal(t, "batch not finished", lines[0]["msg"])
	require.Equal(t, traceOf("b", 1), lines[0]["traceId"])
	require.Equal(t, []any{traceOf("a", 1)}, lines[1]["traceIds"])
	require.Equal(t, 3.0, lines[1]["records"])
	require.Equal(t, 1.0, lines[1]["finished"])
}

func TestPark_logsTheTraceIDOfTheRecord(t *testing.T) {
	t.Parallel()
	b := setup(t, &recordingConsumer{name: "stats", fail: only(poison, always, "a1")})
	require.Empty(t, b.handle(t, event("a1", "?")))
	lines := b.lines(t)
	require.Len(t, lines, 2)
	traces := []any{lines[0]["traceId"], lines[1]["traceId"]}
	require.ElementsMatch(t, []any{traceOf("a", 1), ""}, traces, "what cannot be decoded has none")
}

func TestCounts_includeRepetitionsAndTheAgeOfTheOldestRecord(t *testing.T) {
	t.Parallel()
	b := setup(t, &recordingConsumer{name: "stats", fail: func(c change.Change, _ int) change.Outcome {
		return change.Outcome{Already: c.Version == 1}
	}})
	require.Empty(t, b.handle(t, event("a1", "b1", "c2", "?")))
	require.Equal(t, consume.Counts{Records: 4, Done: 3, Already: 2, Parked: 1}, b.counts["stats"])
	require.True(t, b.oldest.Equal(time.Unix(1767225600, 0)))
}
