package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/table"
)

// Every call requests its consumed capacity, by index.
const reportCapacity = types.ReturnConsumedCapacityIndexes

// reportRead reports one read to the observer.
func (s *settings) reportRead(ctx context.Context, op string, rows int, consumed ...types.ConsumedCapacity) {
	usage := table.Consumption{Op: op, Rows: rows}
	for _, c := range consumed {
		usage.ReadUnits += units(c.CapacityUnits)
	}
	s.observe.Report(ctx, usage)
}

// reportWrite reports one write to the observer.
func (s *settings) reportWrite(ctx context.Context, op string, rows int, consumed ...types.ConsumedCapacity) {
	usage := table.Consumption{Op: op, Rows: rows}
	for _, c := range consumed {
		usage.WriteUnits += units(c.CapacityUnits)
		for name, index := range c.GlobalSecondaryIndexes {
			if usage.IndexWriteUnits == nil {
				usage.IndexWriteUnits = map[table.Index]float64{}
			}
			usage.IndexWriteUnits[table.Index(name)] += units(index.CapacityUnits)
		}
	}
	s.observe.Report(ctx, usage)
}

func units(n *float64) float64 {
	if n == nil {
		return 0
	}
	return *n
}

// given returns the consumed capacity as a list, which is empty if the service did not report it.
func given(c *types.ConsumedCapacity) []types.ConsumedCapacity {
	if c == nil {
		return nil
	}
	return []types.ConsumedCapacity{*c}
}
