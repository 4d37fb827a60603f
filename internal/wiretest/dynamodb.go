package wiretest

import "net/http"

// KeySchema names the attributes of a primary key, both texts.
type KeySchema struct{ Partition, Sort string }

// Table holds the keys of the table and of its indexes, on which the constraints of requests depend.
type Table struct {
	KeySchema
	Indexes map[string]KeySchema
}

// DynamoDB returns Amazon DynamoDB: JSON 1.0.
func DynamoDB(table Table) Service {
	t := tableRules{table}
	return describe("dynamodb", map[string][]Rule{
		"GetItem": {t.single}, "PutItem": {t.single}, "UpdateItem": {t.single}, "DeleteItem": {t.single},
		"Query": {t.query}, "Scan": {t.scan}, "TransactWriteItems": {t.transaction},
		"BatchGetItem": {t.batchGet}, "BatchWriteItem": {t.batchWrite},
	}, refuseTable)
}

// Streams returns Amazon DynamoDB Streams: JSON 1.0.
func Streams() Service {
	return describe("streams", map[string][]Rule{"GetShardIterator": {placeOfIterator}}, refuseTable)
}

// placeOfIterator checks GetShardIterator, ShardIteratorType: a sequence number for the types that require one.
func placeOfIterator(c Call) []string {
	kind := c.Input["ShardIteratorType"]
	_, has := c.Input["SequenceNumber"]
	if needs := kind == "AT_SEQUENCE_NUMBER" || kind == "AFTER_SEQUENCE_NUMBER"; needs != has {
		return []string{"the type of iterator and the sequence number do not fit each other"}
	}
	return nil
}

func refuseTable(w http.ResponseWriter, r Refusal) {
	refuseJSON(w, "application/x-amz-json-1.0", "com.amazonaws.dynamodb.v20120810#", r)
}
