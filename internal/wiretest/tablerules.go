package wiretest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of rows and requests (Amazon DynamoDB Developer Guide, "Quotas").
const (
	maxItemBytes        = 400 << 10
	maxPartitionBytes   = 2048
	maxSortBytes        = 1024
	maxTransactionBytes = 4 << 20
	maxBatchBytes       = 16 << 20
	maxBatchWrites      = 25
	maxBatchKeys        = 100
)

// tableRules are the rules of requests that depend on the keys.
type tableRules struct{ Table }

// single checks a request, or an action of a transaction, that names one row.
func (t tableRules) single(c Call) []string { return t.action("", c.Input) }

func (t tableRules) action(path string, in map[string]any) []string {
	found := checkExpressions(path, in)
	if key, there := in["Key"].(map[string]any); there {
		found = append(found, t.key(path+"Key", key, t.KeySchema)...)
	}
	if item, there := in["Item"].(map[string]any); there {
		found = append(found, t.item(path+"Item", item)...)
	}
	return append(found, t.changes(path, in)...)
}

// changes checks the changes of an update (Amazon DynamoDB Developer Guide, "Update expressions"): each attribute
// once, the row's key never, and an index's key only with an allowed value.
func (t tableRules) changes(path string, in map[string]any) []string {
	var found []string
	seen := map[string]bool{}
	names, _ := in["ExpressionAttributeNames"].(map[string]any)
	values, _ := in["ExpressionAttributeValues"].(map[string]any)
	expression, _ := in["UpdateExpression"].(string)
	for _, part := range targetEnd.Split(expression, -1) {
		target, value, isSet := strings.Cut(part, "=")
		name, isName := names[strings.TrimSpace(target)].(string)
		if !isName {
			continue
		}
		if seen[name] {
			found = append(found, fmt.Sprintf("%sUpdateExpression names %s twice", path, name))
		}
		if name == t.Partition || name == t.Sort {
			found = append(found, fmt.Sprintf("%sUpdateExpression changes the key attribute %s", path, name))
		}
		seen[name] = true
		if limit := t.indexed(name); isSet && limit > 0 {
			placeholder, _, _ := strings.Cut(strings.TrimSpace(value), " ")
			found = append(found, keyText(path+name, values[placeholder], limit)...)
		}
	}
	return found
}

// indexed returns the most bytes of an attribute that is a key of an index, 0 for any other.
func (t tableRules) indexed(name string) int {
	for _, index := range t.Indexes {
		switch name {
		case index.Partition:
			return maxPartitionBytes
		case index.Sort:
			return maxSortBytes
		}
	}
	return 0
}

func (t tableRules) key(path string, key map[string]any, schemas ...KeySchema) []string {
	var found []string
	want := map[string]int{}
	for _, schema := range schemas {
		want[schema.Partition], want[schema.Sort] = maxPartitionBytes, maxSortBytes
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		found = append(found, keyText(path+"."+name, key[name], want[name])...)
	}
	for name := range key {
		if want[name] == 0 {
			found = append(found, fmt.Sprintf("%s has the attribute %s, which is not of the key", path, name))
		}
	}
	return found
}

// keyText checks that a key attribute is a text of at least one byte.
func keyText(path string, value any, limit int) []string {
	attribute, _ := value.(map[string]any)
	content, ok := attribute["S"].(string)
	if !ok || content == "" || len(content) > limit {
		return []string{fmt.Sprintf("%s is %v, want a text of 1 to %d bytes", path, value, limit)}
	}
	return nil
}

func (t tableRules) item(path string, item map[string]any) []string {
	var found []string
	for name, value := range item {
		if limit := t.indexed(name); limit > 0 {
			found = append(found, keyText(path+"."+name, value, limit)...)
		}
	}
	key := map[string]any{}
	for _, name := range []string{t.Partition, t.Sort} {
		key[name] = item[name]
	}
	found = append(found, t.key(path, key, t.KeySchema)...)
	return append(found, atMost(maxItemBytes, itemSize(item), "bytes", path+" has")...)
}

// query checks Amazon DynamoDB Developer Guide, "Key condition expressions for the Query operation". The partition key
// equals one value, there is at most one test of the sort key, no key attribute in the filter, and no consistent read
// of an index.
func (t tableRules) query(c Call) []string {
	found := append(checkExpressions("", c.Input), t.place(c.Input)...)
	schema := t.schemaOf(c.Input)
	expression, _ := c.Input["KeyConditionExpression"].(string)
	names := attributesOf(c.Input, "KeyConditionExpression")
	if len(names) == 0 || names[0] != schema.Partition || !strings.Contains(expression, " = ") {
		found = append(found, "KeyConditionExpression does not begin with the partition key equal to a value")
	}
	if len(names) > 2 || len(names) == 2 && names[1] != schema.Sort || strings.Contains(expression, " OR ") ||
		strings.Contains(expression, "<>") {
		found = append(found, fmt.Sprintf("KeyConditionExpression %q is more than a partition and a range of it", expression))
	}
	values, _ := c.Input["ExpressionAttributeValues"].(map[string]any)
	var bounds []string
	for i, placeholder := range valuesOf(expression) {
		limit := maxSortBytes
		if i == 0 {
			limit = maxPartitionBytes
		}
		found = append(found, keyText("KeyConditionExpression "+placeholder, values[placeholder], limit)...)
		attribute, _ := values[placeholder].(map[string]any)
		bound, _ := attribute["S"].(string)
		bounds = append(bounds, bound)
	}
	if strings.Contains(expression, "BETWEEN") && len(bounds) == 3 && bounds[1] > bounds[2] {
		found = append(found, "KeyConditionExpression has a range that ends before it begins")
	}
	for _, name := range attributesOf(c.Input, "FilterExpression") {
		if name == schema.Partition || name == schema.Sort {
			found = append(found, "FilterExpression uses the key attribute "+name)
		}
	}
	return found
}

func valuesOf(expression string) []string {
	return slices.DeleteFunc(token.FindAllString(expression, -1), func(word string) bool { return word[0] != ':' })
}

func (t tableRules) schemaOf(in map[string]any) KeySchema {
	if name, there := in["IndexName"].(string); there {
		return t.Indexes[name]
	}
	return t.KeySchema
}

// place checks what a query and a scan have in common: the place of the read and the start position.
func (t tableRules) place(in map[string]any) []string {
	var found []string
	name, isIndex := in["IndexName"].(string)
	if _, known := t.Indexes[name]; isIndex && !known {
		found = append(found, "there is no index "+name)
	}
	if isIndex && in["ConsistentRead"] == true {
		found = append(found, "a global index cannot be read consistently")
	}
	if start, there := in["ExclusiveStartKey"].(map[string]any); there {
		schemas := []KeySchema{t.KeySchema}
		if isIndex {
			schemas = append(schemas, t.Indexes[name])
		}
		found = append(found, t.key("ExclusiveStartKey", start, schemas...)...)
	}
	if _, projects := in["ProjectionExpression"]; projects && in["Select"] != nil &&
		in["Select"] != "SPECIFIC_ATTRIBUTES" {
		found = append(found, "Select and ProjectionExpression contradict each other")
	}
	return found
}

// scan checks Segment and TotalSegments: both or none, and the one less than the other (Scan, Segment).
func (t tableRules) scan(c Call) []string {
	found := append(checkExpressions("", c.Input), t.place(c.Input)...)
	segment, total := number(c.Input["Segment"]), number(c.Input["TotalSegments"])
	_, hasSegment := c.Input["Segment"]
	_, hasTotal := c.Input["TotalSegments"]
	if hasSegment != hasTotal || hasTotal && segment >= total {
		found = append(found, fmt.Sprintf("segment %v of %v", c.Input["Segment"], c.Input["TotalSegments"]))
	}
	return found
}
