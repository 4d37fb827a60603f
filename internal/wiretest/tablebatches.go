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
			path := fmt.Sprintf("TransactItems[%d].%s.", i, kind)
			found = append(found, t.action(path, action)...)
			found = append(found, once(seen, path, t.row(action["TableName"], action["Key"], action["Item"]))...)
			item, _ := action["Item"].(map[string]any)
			values, _ := action["ExpressionAttributeValues"].(map[string]any)
			total += itemSize(item) + itemSize(values)
		}
	}
	return append(found, tooLarge(total, maxTransactionBytes)...)
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
				path := fmt.Sprintf("RequestItems.%s[%d].%s.", table, i, kind)
				found = append(found, t.action(path, request)...)
				found = append(found, once(seen, path, t.row(table, request["Key"], request["Item"]))...)
				item, _ := request["Item"].(map[string]any)
				total += itemSize(item)
				count++
			}
		}
	}
	if count > maxBatchWrites {
		found = append(found, fmt.Sprintf("%d rows, at most %d are allowed", count, maxBatchWrites))
	}
	return append(found, tooLarge(total, maxBatchBytes)...)
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
	if count > maxBatchKeys {
		found = append(found, fmt.Sprintf("%d keys, at most %d are allowed", count, maxBatchKeys))
	}
	return found
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

func tooLarge(size, limit int) []string {
	if size > limit {
		return []string{fmt.Sprintf("%d bytes, at most %d are allowed", size, limit)}
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
