package wiretest

import (
	"net/http"
	"strings"
)

// KeySchema names the attributes of a primary key, both texts.
type KeySchema struct{ Partition, Sort string }

// Table is what the constraints of requests depend on: the keys of the table and of its indexes.
type Table struct {
	KeySchema
	Indexes map[string]KeySchema
}

// DynamoDB is Amazon DynamoDB (API version 2012-08-10): JSON 1.0. Members that the reference calls legacy are unknown
// here.
func DynamoDB(table Table) Service {
	rows, members := tableRules{table}, tableMembers()
	operation := func(name string, rule Rule, spec string) Operation {
		return Operation{
			Name: name, Source: "Amazon DynamoDB API Reference, " + name + ", Common Errors",
			Input: structure(members, spec), Rules: []Rule{rule}, Refusals: tableRefusals(name),
		}
	}
	const (
		reported  = " ReturnConsumedCapacity"
		condition = " ConditionExpression ExpressionAttributeNames ExpressionAttributeValues " +
			"ReturnValuesOnConditionCheckFailure"
		written = condition + reported + " ReturnItemCollectionMetrics"
		paged   = " IndexName Select Limit ExclusiveStartKey FilterExpression ProjectionExpression ConsistentRead" +
			" ExpressionAttributeNames ExpressionAttributeValues" + reported
	)
	members["ReturnValues"] = oneOf("NONE", "ALL_OLD")
	members["TransactItems"] = list(1, 100, Shape{One: true, Members: map[string]Shape{
		"ConditionCheck": structure(members, "TableName! Key! ConditionExpression!"+condition),
		"Put":            structure(members, "TableName! Item!"+condition),
		"Update":         structure(members, "TableName! Key! UpdateExpression!"+condition),
		"Delete":         structure(members, "TableName! Key!"+condition),
	}})
	get := operation("GetItem", rows.single,
		"TableName! Key! ConsistentRead ProjectionExpression ExpressionAttributeNames"+reported)
	put := operation("PutItem", rows.single, "TableName! Item! ReturnValues"+written)
	remove := operation("DeleteItem", rows.single, "TableName! Key! ReturnValues"+written)
	members["ReturnValues"] = oneOf("NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW")
	update := operation("UpdateItem", rows.single, "TableName! Key! UpdateExpression ReturnValues"+written)
	query := operation("Query", rows.query, "TableName! KeyConditionExpression! ScanIndexForward"+paged)
	scan := operation("Scan", rows.scan, "TableName! Segment TotalSegments"+paged)
	transact := operation("TransactWriteItems", rows.transaction,
		"TransactItems! ClientRequestToken ReturnItemCollectionMetrics"+reported)
	members["RequestItems"] = tables(
		structure(members, "Keys! ConsistentRead ProjectionExpression ExpressionAttributeNames"))
	batchGet := operation("BatchGetItem", rows.batchGet, "RequestItems!"+reported)
	members["RequestItems"] = tables(list(1, 25, Shape{One: true, Members: map[string]Shape{
		"PutRequest": structure(members, "Item!"), "DeleteRequest": structure(members, "Key!"),
	}}))
	batchWrite := operation("BatchWriteItem", rows.batchWrite, "RequestItems! ReturnItemCollectionMetrics"+reported)
	describe := operation("DescribeTable", nothing, "TableName!")
	return Service{
		Name: "dynamodb", Target: "DynamoDB_20120810", ContentType: "application/x-amz-json-1.0",
		Operations: []Operation{get, put, update, remove, query, scan, transact, batchGet, batchWrite, describe},
		refuse: func(w http.ResponseWriter, r Refusal) {
			refuseJSON(w, "application/x-amz-json-1.0", "com.amazonaws.dynamodb.v20120810#", r)
		},
	}
}

func nothing(Call) []string { return nil }

// tableMembers are the members that requests share, as the API reference's pages repeat them.
func tableMembers() map[string]Shape {
	attribute, attributeName := Shape{Kind: Attribute}, text(1, 65535, "")
	item := Shape{Kind: Map, Min: 1, Element: &attribute, Key: &attributeName}
	name, expression, boolean := text(3, 255, `[a-zA-Z0-9_.-]+`), text(1, 0, ""), Shape{Kind: Boolean}
	return map[string]Shape{
		"TableName": name, "IndexName": name,
		"Key": item, "Item": item, "ExclusiveStartKey": item, "Keys": list(1, 100, item),
		"ConditionExpression": expression, "UpdateExpression": expression, "FilterExpression": expression,
		"KeyConditionExpression": expression, "ProjectionExpression": expression,
		"ExpressionAttributeNames":  {Kind: Map, Min: 1, Element: &attributeName},
		"ExpressionAttributeValues": item,
		"ConsistentRead":            boolean, "ScanIndexForward": boolean,
		"Limit": integer(1, 1<<31-1), "Segment": integer(0, 999_999), "TotalSegments": integer(1, 1_000_000),
		"Select": oneOf("ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES",
			"SPECIFIC_ATTRIBUTES", "COUNT"),
		"ReturnConsumedCapacity":              oneOf("INDEXES", "TOTAL", "NONE"),
		"ReturnItemCollectionMetrics":         oneOf("SIZE", "NONE"),
		"ReturnValuesOnConditionCheckFailure": oneOf("ALL_OLD", "NONE"),
		"ClientRequestToken":                  text(1, 36, ""),
	}
}

// structure picks members by name; those with an exclamation mark are required.
func structure(members map[string]Shape, names string) Shape {
	out := Shape{Members: map[string]Shape{}}
	for _, name := range strings.Fields(names) {
		name, required := strings.CutSuffix(name, "!")
		if _, known := members[name]; !known {
			panic("wiretest: no member " + name)
		}
		out.Members[name] = members[name]
		if required {
			out.Required = append(out.Required, name)
		}
	}
	return out
}

// tables is a map by table name.
func tables(element Shape) Shape {
	name := text(3, 255, `[a-zA-Z0-9_.-]+`)
	return Shape{Kind: Map, Min: 1, Max: 100, Key: &name, Element: &element}
}

// tableRefusals are the errors of the pages of the API reference, each under "Errors", and of "Common Errors"; their
// statuses are those of Amazon DynamoDB Developer Guide, "Error handling with DynamoDB".
func tableRefusals(operation string) []Refusal {
	refusals := []Refusal{
		{Status: 400, Code: "ProvisionedThroughputExceededException", Repeated: true},
		{Status: 400, Code: "RequestLimitExceeded", Repeated: true},
		{Status: 400, Code: "ThrottlingException", Repeated: true},
		{Status: 500, Code: "InternalServerError", Repeated: true},
		{Status: 503, Code: "ServiceUnavailable", Repeated: true},
		{Status: 400, Code: "ResourceNotFoundException"},
		{Status: 400, Code: "ValidationException"},
		{Status: 400, Code: "SerializationException"},
		{Status: 400, Code: "AccessDeniedException"},
		{Status: 400, Code: "ExpiredTokenException"},
		{Status: 400, Code: "UnrecognizedClientException"},
		{Status: 400, Code: "IncompleteSignatureException"},
		{Status: 400, Code: "MissingAuthenticationTokenException"},
	}
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		refusals = append(refusals,
			Refusal{Status: 400, Code: "TransactionConflictException"},
			Refusal{Status: 400, Code: "ReplicatedWriteConflictException"},
			Refusal{Status: 400, Code: "ItemCollectionSizeLimitExceededException"})
	case "BatchWriteItem":
		refusals = append(refusals, Refusal{Status: 400, Code: "ReplicatedWriteConflictException"},
			Refusal{Status: 400, Code: "ItemCollectionSizeLimitExceededException"})
	case "TransactWriteItems":
		refusals = append(refusals, Refusal{Status: 400, Code: "TransactionInProgressException", Repeated: true},
			Refusal{Status: 400, Code: "IdempotentParameterMismatchException"})
	}
	return refusals
}
