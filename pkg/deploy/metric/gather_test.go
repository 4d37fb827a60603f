package metric_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// gathering is a writer with a clock of its own, and what it wrote.
type gathering struct {
	*metric.Writer
	out bytes.Buffer
	now time.Time
}

func newGathering() *gathering {
	g := &gathering{now: time.UnixMilli(1772442000123)}
	g.Writer = metric.NewWriter(&g.out, func() time.Time { return g.now })
	return g
}

// lines are those written since they were last asked for.
func (g *gathering) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for text := range bytes.Lines(g.out.Bytes()) {
		var line map[string]any
		require.NoError(t, json.Unmarshal(text, &line))
		delete(line, "_aws")
		lines = append(lines, line)
	}
	g.out.Reset()
	return lines
}

func TestAdd_gathersForAMinuteWhatIsNotUrgent(t *testing.T) {
	t.Parallel()
	g := newGathering()
	add := func(age float64) {
		g.Add(metric.ByConsumer, "stats", metric.Values{metric.RecordsDone: 2, metric.RecordAge: age},
			table.TotalsByOperation{"Put": {Calls: 1, WriteUnits: 3}})
	}
	add(1)
	require.Len(t, g.lines(t), 1, "the first of a process is written at once")
	add(5)
	add(2)
	g.Add(metric.ByConsumer, "links", metric.Values{metric.RecordsDone: 1}, nil)
	require.Equal(t, []map[string]any{{"Consumer": "links", "RecordsDone": 1.0}}, g.lines(t),
		"each has a minute of its own")
	g.now = g.now.Add(time.Minute)
	add(3)
	require.Equal(t, []map[string]any{{
		"Consumer": "stats", "RecordsDone": 6.0, "RecordAge": 5.0, "WriteUnits": 9.0,
		"operations": map[string]any{"Put": map[string]any{"calls": 3.0, "writeUnits": 9.0}},
	}}, g.lines(t))
}

func TestWake_writesWhatIsUrgentAtOnce(t *testing.T) {
	t.Parallel()
	for _, a := range alarm.All(readers.Table(product.Registry())) {
		for _, m := range a.Of {
			if m.Namespace != metric.Namespace {
				continue
			}
			g := newGathering()
			for range 3 {
				g.Add(metric.ByFunction, "any", metric.Values{m.Name: 1}, nil)
				require.Len(t, g.lines(t), 1, a.Name)
			}
		}
	}
}
