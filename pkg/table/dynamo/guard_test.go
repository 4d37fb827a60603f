package dynamo_test

import (
	"nexus/internal/wiretest"
	"nexus/pkg/table"
)

// service returns the rules of DynamoDB for requests to the table that the schema describes.
func service() wiretest.Service {
	schema := table.ProductSchema()
	table := wiretest.Table{
		KeySchema: wiretest.KeySchema{Partition: schema.PK, Sort: schema.SK}, Indexes: map[string]wiretest.KeySchema{},
	}
	for _, index := range schema.Indexes {
		table.Indexes[string(index.Name)] = wiretest.KeySchema{Partition: index.PK, Sort: index.SK}
	}
	return wiretest.DynamoDB(table)
}

// complete returns what a request lacks that the service does not demand and Nexus needs: the consumption of each call
// by index, consistent reads of the table, the row in the way of a condition, and a token for each transaction.
func complete(c wiretest.Call) []string {
	var found []string
	want := func(name string, in map[string]any, value any) {
		if in[name] != value {
			found = append(found, c.Operation+" without the "+name+" that Nexus needs")
		}
	}
	want("ReturnConsumedCapacity", c.Input, "INDEXES")
	switch c.Operation {
	case "GetItem", "Scan":
		want("ConsistentRead", c.Input, true)
	case "Query": // of the table says how it reads
		if _, says := c.Input["ConsistentRead"]; says == (c.Input["IndexName"] != nil) {
			found = append(found, "a query without the ConsistentRead that Nexus needs, or of an index with one")
		}
	case "BatchGetItem":
		for _, request := range c.Input["RequestItems"].(map[string]any) {
			if _, says := request.(map[string]any)["ConsistentRead"]; !says {
				found = append(found, "a batch without the ConsistentRead that Nexus needs")
			}
		}
	case "PutItem", "UpdateItem", "DeleteItem":
		want("ReturnValuesOnConditionCheckFailure", c.Input, "ALL_OLD")
	case "TransactWriteItems":
		if c.Input["ClientRequestToken"] == nil {
			found = append(found, "a transaction without a token")
		}
		for _, member := range c.Input["TransactItems"].([]any) {
			for _, action := range member.(map[string]any) {
				want("ReturnValuesOnConditionCheckFailure", action.(map[string]any), "ALL_OLD")
			}
		}
	}
	return found
}
