package wiretest

import "net/http"

// Streams is Amazon DynamoDB Streams (API version 2012-08-10): JSON 1.0.
func Streams() Service {
	const reference = "Amazon DynamoDB Streams API Reference, "
	members := map[string]Shape{
		"StreamArn": text(37, 1024, `arn:aws[\w-]*:dynamodb:[a-z0-9-]+:\d{12}:table/[a-zA-Z0-9_.-]+/stream/[0-9T:.-]+`),
		"ShardId":   text(28, 65, ""), "ExclusiveStartShardId": text(28, 65, ""),
		"ShardIteratorType": oneOf("TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"),
		"SequenceNumber":    text(21, 40, `\d+`),
		"ShardIterator":     text(1, 2048, ""),
		"Limit":             integer(1, 100),
	}
	describe := Operation{
		Name: "DescribeStream", Source: reference + "DescribeStream",
		Input: structure(members, "StreamArn! ExclusiveStartShardId Limit"), Refusals: streamRefusals(),
	}
	members["Limit"] = integer(1, 1000)
	iterator := Operation{
		Name: "GetShardIterator", Source: reference + "GetShardIterator",
		Input: structure(members, "StreamArn! ShardId! ShardIteratorType! SequenceNumber"), Rules: []Rule{placeOfIterator},
		Refusals: append(streamRefusals(), Refusal{Status: 400, Code: "TrimmedDataAccessException"}),
	}
	records := Operation{
		Name: "GetRecords", Source: reference + "GetRecords",
		Input: structure(members, "ShardIterator! Limit"),
		Refusals: append(streamRefusals(), Refusal{Status: 400, Code: "TrimmedDataAccessException"},
			Refusal{Status: 400, Code: "ExpiredIteratorException"},
			Refusal{Status: 400, Code: "LimitExceededException", Repeated: true}),
	}
	return Service{
		Name: "dynamodb", Target: "DynamoDBStreams_20120810", ContentType: "application/x-amz-json-1.0",
		Operations: []Operation{describe, iterator, records},
		refuse: func(w http.ResponseWriter, r Refusal) {
			refuseJSON(w, "application/x-amz-json-1.0", "com.amazonaws.dynamodb.v20120810#", r)
		},
	}
}

// placeOfIterator is GetShardIterator, ShardIteratorType: a sequence number for the types that speak of one.
func placeOfIterator(c Call) []string {
	kind := c.Input["ShardIteratorType"]
	_, has := c.Input["SequenceNumber"]
	if needs := kind == "AT_SEQUENCE_NUMBER" || kind == "AFTER_SEQUENCE_NUMBER"; needs != has {
		return []string{"the type of iterator and the sequence number do not fit each other"}
	}
	return nil
}

func streamRefusals() []Refusal {
	return []Refusal{
		{Status: 500, Code: "InternalServerError", Repeated: true},
		{Status: 503, Code: "ServiceUnavailable", Repeated: true},
		{Status: 400, Code: "ThrottlingException", Repeated: true},
		{Status: 400, Code: "ResourceNotFoundException"},
		{Status: 400, Code: "AccessDeniedException"},
		{Status: 400, Code: "ExpiredTokenException"},
		{Status: 400, Code: "UnrecognizedClientException"},
	}
}
