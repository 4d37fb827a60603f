package metric_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/metric"
)

func TestALineIsOneObjectInTheEmbeddedFormat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := metric.NewWriter(&out, func() time.Time { return time.UnixMilli(1772442000123) })
	w.Count(metric.ByConsumer, "stats", map[string]int{metric.RecordsDone: 3, metric.RecordsParked: 1, metric.RecordsRetried: 0})
	require.JSONEq(t, `{
		"_aws": {"Timestamp": 1772442000123, "CloudWatchMetrics": [{"Namespace": "Nexus", "Dimensions": [["Consumer"]],
			"Metrics": [{"Name": "RecordsDone", "Unit": "Count"}, {"Name": "RecordsParked", "Unit": "Count"}]}]},
		"Consumer": "stats", "RecordsDone": 3, "RecordsParked": 1}`, out.String())
	require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")))
}

func TestNothingCountedIsNoLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	metric.NewWriter(&out, time.Now).Count(metric.ByFunction, "notify", map[string]int{metric.RemindersLate: 0})
	require.Empty(t, out.String())
}
