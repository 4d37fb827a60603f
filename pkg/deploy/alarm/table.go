package alarm

import (
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
)

// unitsPerSecond is the use that the table is expected never to reach, as in the source document, and storedBytes the
// size that it is expected never to reach.
const (
	unitsPerSecond = 500
	storedBytes    = 80e9
)

// tableAlarms returns the alarms of the source document on the table. DynamoDB has no metric of a table's size, so
// Nexus emits that one.
func tableAlarms() []Alarm {
	used := unitsPerSecond * quick.Seconds()
	return []Alarm{
		{Name: "nexus-table-read-throttled", Of: everywhere("ReadThrottleEvents"), Above: 5, Period: steady, Periods: 1,
			Missing: Good, Says: "DynamoDB refuses reads of the table or an index for now."},
		{Name: "nexus-table-write-throttled", Of: everywhere("WriteThrottleEvents"), Above: 5, Period: steady, Periods: 1,
			Missing: Good, Says: "DynamoDB refuses writes to the table or an index for now."},
		{Name: "nexus-table-read-units", Of: []Metric{tableMetric("ConsumedReadCapacityUnits")}, Above: used, Period: quick,
			Periods: 5, Missing: Good, Says: "The table is read far more than it should be."},
		{Name: "nexus-table-write-units", Of: []Metric{tableMetric("ConsumedWriteCapacityUnits")}, Above: used, Period: quick,
			Periods: 5, Missing: Good, Says: "The table is written far more than it should be."},
		{Name: "nexus-table-failing", Of: counted(metric.TableFailures), Above: 1, Period: quick, Periods: 1, Missing: Good,
			Says: "DynamoDB itself fails."},
		{
			Name: "nexus-table-large",
			Of: []Metric{
				{metric.Namespace, metric.TableBytes, Maximum, []Subject{{metric.ByFunction, string(env.Projections)}}},
			},
			Above: storedBytes, Period: storage, Periods: 1, Missing: Good,
			Says: "The table and its indexes hold more than 80 GB.",
		},
		{Name: "nexus-table-refused", Of: []Metric{{DynamoDB, "UserErrors", Sum, nil}}, Above: 5, Period: quick, Periods: 1,
			Missing: Good, Says: "DynamoDB refuses requests as malformed or not permitted."},
	}
}
