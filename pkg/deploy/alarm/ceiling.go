package alarm

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/table"
)

// Ceilings returns the alarms on a table's use of its ceilings: the read and the write units a second that DynamoDB
// allows the table, and each index by itself, at most. An alarm rings at half; one for a ceiling of 0 is left out. The
// alarm's value is the number of places, the table and its indexes, that used more.
func Ceilings(reads, writes int) []Alarm {
	var out []Alarm
	for _, one := range []struct {
		name, metric, verb string
		units              int
	}{
		{"nexus-table-read-ceiling", "ConsumedReadCapacityUnits", "reads", reads},
		{"nexus-table-write-ceiling", "ConsumedWriteCapacityUnits", "writes", writes},
	} {
		if one.units > 0 {
			of := everywhere(one.metric)
			out = append(out, Alarm{
				Name: one.name, Of: of, Expression: placesAbove(len(of), one.units), Period: quick, Periods: 5, Enough: 3,
				Missing: Good, Says: "The table or an index is at half of the " + one.verb + " that the stage allows it.",
			})
		}
	}
	return out
}

// placesAbove returns metric math that counts the metrics that are above half of the units a second.
func placesAbove(metrics, units int) string {
	perPeriod := units * int(quick/time.Second)
	terms := make([]string, metrics)
	for i := range terms {
		terms[i] = fmt.Sprintf("IF(FILL(%s, 0) > %d, 1, 0)", ID(i), perPeriod/2)
	}
	return strings.Join(terms, " + ")
}

// everywhere returns a metric of the table, then of each of its indexes.
func everywhere(name string) []Metric {
	out := []Metric{tableMetric(name)}
	for _, index := range table.ProductSchema().Indexes {
		out = append(out, tableMetric(name, Subject{Index, string(index.Name)}))
	}
	return out
}

// tableMetric returns a metric of the table, or with another subject of a part of it.
func tableMetric(name string, more ...Subject) Metric {
	return measured(DynamoDB, name, Sum, append([]Subject{{TableName, "table"}}, more...)...)
}
