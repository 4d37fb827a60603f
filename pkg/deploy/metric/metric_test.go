package metric_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/metric"
	"nexus/pkg/table"
)

func TestWrite_isOneObjectInTheEmbeddedFormat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := metric.NewWriter(&out, func() time.Time { return time.UnixMilli(1772442000123) })
	w.Count(metric.ByConsumer, "stats", map[string]int{
		metric.RecordsDone: 3, metric.RecordsParked: 1, metric.RecordsRetried: 0,
	})
	require.JSONEq(t, `{
		"_aws": {"Timestamp": 1772442000123, "CloudWatchMetrics": [
			{"Namespace": "Nexus", "Dimensions": [[]], "Metrics": [{"Name": "RecordsParked", "Unit": "Count"}]}]},
		"Consumer": "stats", "RecordsDone": 3, "RecordsParked": 1}`, out.String())
	require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")))
}

func TestWrite_namesWhoCountedWhatIsPublishedTogether(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := metric.NewWriter(&out, func() time.Time { return time.UnixMilli(1772442000123) })
	w.Count(metric.ByFunction, "notify", map[string]int{metric.RemindersLate: 1})
	require.JSONEq(t, `{
		"_aws": {"Timestamp": 1772442000123, "CloudWatchMetrics": [{"Namespace": "Nexus", "Dimensions": [[]],
			"Metrics": [{"Name": "RemindersLate", "Unit": "Count"}]}]},
		"Function": "notify", "RemindersLate": 1}`, out.String())
}

func TestWrite_givesADimensionToWhatOneFunctionHas(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := metric.NewWriter(&out, func() time.Time { return time.UnixMilli(1772442000123) })
	w.Count(metric.ByFunction, "projections", map[string]int{metric.TableBytes: 7})
	require.JSONEq(t, `{
		"_aws": {"Timestamp": 1772442000123, "CloudWatchMetrics": [{"Namespace": "Nexus", "Dimensions": [["Function"]],
			"Metrics": [{"Name": "TableBytes", "Unit": "Bytes"}]}]},
		"Function": "projections", "TableBytes": 7}`, out.String())
}

func TestWrite_isNoLineIfNothingWasCounted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	metric.NewWriter(&out, time.Now).Count(metric.ByFunction, "notify", map[string]int{metric.RemindersLate: 0})
	metric.NewWriter(&out, time.Now).Write(metric.ByFunction, "query", nil, table.TotalsByOperation{})
	require.Empty(t, out.String())
}

func TestWrite_countsTheTableWithItsOperations(t *testing.T) {
	t.Parallel()
	used := table.TotalsByOperation{
		// the last refused
		"Query": {Calls: 2, Rows: 3, ReadUnits: 2}, "Transact": {Calls: 1, Rows: 2, WriteUnits: 5, IndexWriteUnits: 3},
		"Put": {Calls: 1},
	}
	var out bytes.Buffer
	w := metric.NewWriter(&out, func() time.Time { return time.UnixMilli(1772442000123) })
	w.Write(metric.ByConsumer, "links", metric.Values{metric.RecordAge: 2.5}, used)
	require.JSONEq(t, `{
		"Consumer": "links", "ReadUnits": 2, "RecordAge": 2.5, "WriteUnits": 5,
		"operations": {"Put": {"calls": 1}, "Query": {"calls": 2, "rows": 3, "readUnits": 2}, "Transact": {"calls": 1, `+
		`"rows": 2, "writeUnits": 5, "indexWriteUnits": 3}}}`, out.String())
}
