package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// transaction checks TransactWriteItems: each row once, 4 MB in all.
func (t tableRules) transaction(c Call) []string {
	var found []string
	total := 0
	seen := map[string]bool{}
	for i, member := range structures(c.Input["TransactItems"]) {
		for kind, content := range member {
			action, _ := content.(map[string]any)
			wrong, size := t.oneOf(seen, fmt.Sprintf("TransactItems[%d].%s.", i, kind), action["TableName"], action)
			found, total = append(found, wrong...), total+size
		}
	}
	return append(found, atMost(maxTransactionBytes, total, "bytes", "TransactItems has")...)
}

// oneOf checks an action among several, each on a row of its own, and returns its bytes.
func (t tableRules) oneOf(seen map[string]bool, path string, table any, action map[string]any) ([]string, int) {
	found := t.action(path, action)
	found = append(found, once(seen, path, t.row(table, action["Key"], action["Item"]))...)
	item, _ := action["Item"].(map[string]any)
	values, _ := action["ExpressionAttributeValues"].(map[string]any)
	return found, itemSize(item) + itemSize(values)
}

// batchWrite checks BatchWriteItem: 25 rows in all, each once, 16 MB in all.
func (t tableRules) batchWrite(c Call) []string {
	var found []string
	total, count := 0, 0
	seen := map[string]bool{}
	requests, _ := c.Input["RequestItems"].(map[string]any)
	for _, table := range slices.Sorted(maps.Keys(requests)) {
		for i, member := range structures(requests[table]) {
			for kind, content := range member {
				request, _ := content.(map[string]any)
				wrong, size := t.oneOf(seen, fmt.Sprintf("RequestItems.%s[%d].%s.", table, i, kind), table, request)
				found, total = append(found, wrong...), total+size
				count++
			}
		}
	}
	found = append(found, atMost(maxBatchWrites, count, "rows", "RequestItems has")...)
	return append(found, atMost(maxBatchBytes, total, "bytes", "RequestItems has")...)
}

// batchGet checks BatchGetItem: 100 rows in all, each once.
func (t tableRules) batchGet(c Call) []string {
	var found []string
	count := 0
	seen := map[string]bool{}
	requests, _ := c.Input["RequestItems"].(map[string]any)
	for _, table := range slices.Sorted(maps.Keys(requests)) {
		request, _ := requests[table].(map[string]any)
		path := "RequestItems." + table + "."
		found = append(found, checkExpressions(path, request)...)
		for i, key := range structures(request["Keys"]) {
			at := fmt.Sprintf("%sKeys[%d]", path, i)
			found = append(found, t.key(at, key, t.KeySchema)...)
			found = append(found, once(seen, at, t.row(table, key, nil))...)
			count++
		}
	}
	return append(found, atMost(maxBatchKeys, count, "keys", "RequestItems has")...)
}

// row returns a row's identity: its table and key, which may be in an item.
func (t tableRules) row(table, key, item any) string {
	attributes, isKey := key.(map[string]any)
	if !isKey {
		attributes, _ = item.(map[string]any)
	}
	return fmt.Sprint(table, attributes[t.Partition], attributes[t.Sort])
}

func once(seen map[string]bool, path, row string) []string {
	if seen[row] {
		return []string{fmt.Sprintf("%s is the row %s again", path, row)}
	}
	seen[row] = true
	return nil
}

// atMost returns the fault of too many; what they are, and who has them, is for its text.
func atMost(limit, n int, what, has string) []string {
	if n > limit {
		return []string{fmt.Sprintf("%s %d %s, at most %d are allowed", has, n, what, limit)}
	}
	return nil
}

// number returns a whole JSON number, 0 for any other value.
func number(value any) int64 {
	text, _ := value.(json.Number)
	n, err := text.Int64()
	if err != nil {
		return 0
	}
	return n
}
