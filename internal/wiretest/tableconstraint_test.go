package wiretest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"nexus/internal/wiretest"
)

func dynamoDB() wiretest.Service {
	return wiretest.DynamoDB(wiretest.Table{
		KeySchema: wiretest.KeySchema{Partition: "PK", Sort: "SK"},
		Indexes:   map[string]wiretest.KeySchema{"GSI1-Year": {Partition: "G1", Sort: "S1"}},
	})
}

func sentToTable(operation string) func(string) *http.Request {
	return func(body string) *http.Request {
		return sent(http.MethodPost, "/", "dynamodb", body, "Content-Type: application/x-amz-json-1.0",
			"X-Amz-Target: DynamoDB_20120810."+operation)
	}
}

func TestDynamoDB_holdsEveryConstraintOfAWrittenRow(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string {
		return strings.Repeat(`{"L":[`, depth) + `{"NULL":true}` + strings.Repeat(`]}`, depth)
	}
	requireEachFound(t, dynamoDB(), `{"TableName":"ProductivityData","Item":{"PK":{"S":"p"},"SK":{"S":"s"},"G1":{"S":"g"},
		"n":{"N":"-1.50e+3"},"b":{"B":"AP8="},"ss":{"SS":["a","b"]},"ns":{"NS":["1","2"]},"bs":{"BS":["AA=="]},`+
		`"t":{"BOOL":false},
		"m":{"M":{"k":{"L":[{"S":""}]}}}},"ReturnConsumedCapacity":"INDEXES"}`, sentToTable("PutItem"), []broken{
		{`"ProductivityData"`, `"T"`, "TableName"},
		{`{"S":"p"}`, `{"S":""}`, "Item.PK"},
		{`{"S":"p"}`, `{"S":"` + strings.Repeat("p", 2049) + `"}`, "Item.PK"},
		{`{"S":"s"}`, `{"S":"` + strings.Repeat("s", 1025) + `"}`, "Item.SK"},
		{`"SK":{"S":"s"},`, ``, "Item.SK"},
		{`{"S":"g"}`, `{"S":""}`, "Item.G1"},
		{`{"S":"g"}`, `{"N":"1"}`, "Item.G1"},
		{`-1.50e+3`, `one`, "no number"},
		{`-1.50e+3`, strings.Repeat("7", 39), "39 significant digits"},
		{`-1.50e+3`, `1e126`, "magnitude 126"},
		{`-1.50e+3`, `0.1e-130`, "magnitude -131"},
		{`AP8=`, `AP8`, "base64"},
		{`["a","b"]`, `["a","a"]`, "repeats"},
		{`["a","b"]`, `[]`, "empty set"},
		{`["1","2"]`, `["1","x"]`, "no number"},
		{`["AA=="]`, `["AA"]`, "base64"},
		{`{"BOOL":false}`, `{"NULL":false}`, "type NULL"},
		{`{"BOOL":false}`, `{"BOOL":false,"S":"x"}`, "2 types"},
		{`{"S":""}`, nested(31), "nested deeper than 32"},
		{`"k"`, `""`, "attribute name of 0 bytes"},
		{`{"S":""}`, `{"S":"` + strings.Repeat("x", 400<<10) + `"}`, "at most 409600"},
		{`"INDEXES"`, `"ALL"`, "ReturnConsumedCapacity"},
	})
}

func TestDynamoDB_holdsEveryConstraintOfAnExpression(t *testing.T) {
	t.Parallel()
	many := func(n int) string { return strings.Repeat("#a=:b OR ", n) + "#a=:b" }
	requireEachFound(t, dynamoDB(),
		`{"TableName":"Data","Key":{"PK":{"S":"p"},"SK":{"S":"s"}},"UpdateExpression":"SET #c = :c REMOVE #d",
		"ConditionExpression":"attribute_exists(#a) AND #a = :b","ExpressionAttributeNames":{"#a":"a","#c":"c","#d":"d"},
		"ExpressionAttributeValues":{":b":{"N":"1"},":c":{"S":"x"}},"ReturnValues":"ALL_NEW"}`,
		sentToTable("UpdateItem"), []broken{
			{`attribute_exists(#a) AND `, `attribute_exists(#x) AND `, "#x is used and not defined"},
			{`attribute_exists(#a) AND `, `attribute_exists(status) AND `, `"status" in the open`},
			{` REMOVE #d`, ``, "defines #d, which nothing uses"},
			{`REMOVE #d`, `REMOVE #c`, "names c twice"},
			{`"#d":"d"`, `"#d":"SK"`, "changes the key attribute SK"},
			{`"#c":"c"`, `"#c":""`, "ExpressionAttributeNames"},
			{`"#c":"c"`, `"c":"c"`, `has the name "c"`},
			{`attribute_exists(#a) AND #a = :b`, many(455), "4100 bytes"},
			{`attribute_exists(#a) AND #a = :b`, many(150), "301 operators"},
			{`attribute_exists(#a) AND #a = :b`, `#a IN (` + strings.Repeat(":b,", 100) + `:b)`, "101 operands"},
			{`{"S":"x"}`, `{"S":"` + strings.Repeat("x", 2<<20) + `"}`, "substitutions"},
			{`{"S":"x"}`, `{"SS":[]}`, "empty set"},
			{`"ALL_NEW"`, `"NEW"`, "ReturnValues"},
			{`,"SK":{"S":"s"}`, ``, "Key.SK"},
			{`,"SK":{"S":"s"}`, `,"SK":{"S":"s"},"c":{"S":"c"}`, "not of the key"},
		})
	indexed := `{"TableName":"Data","Key":{"PK":{"S":"p"},"SK":{"S":"s"}},"UpdateExpression":"SET #c = :c",
		"ExpressionAttributeNames":{"#c":"S1"},"ExpressionAttributeValues":{":c":{"S":"x"}}}`
	requireEachFound(t, dynamoDB(), indexed, sentToTable("UpdateItem"), []broken{
		{`{"S":"x"}`, `{"S":""}`, "S1"}, {`{"S":"x"}`, `{"N":"1"}`, "S1"},
		{`{":c":{"S":"x"}}`, `{}`, "ExpressionAttributeValues is empty"},
	})
}

func TestDynamoDB_holdsEveryConstraintOfARead(t *testing.T) {
	t.Parallel()
	requireEachFound(t, dynamoDB(),
		`{"TableName":"Data","IndexName":"GSI1-Year","KeyConditionExpression":"#p = :p AND #s BETWEEN :f AND :t",
		"FilterExpression":"contains(#g, :g)","ExpressionAttributeNames":{"#p":"G1","#s":"S1","#g":"tags"},
		"ExpressionAttributeValues":{":p":{"S":"p"},":f":{"S":"f"},":t":{"S":"t"},":g":{"S":"g"}},"Limit":50,
		"ExclusiveStartKey":{"PK":{"S":"p"},"SK":{"S":"s"},"G1":{"S":"p"},"S1":{"S":"f"}}}`, sentToTable("Query"), []broken{
			{`"GSI1-Year"`, `"GSI9-Year"`, "no index GSI9-Year"},
			{`"#p":"G1"`, `"#p":"PK"`, "partition key equal"},
			{`"#s":"S1"`, `"#s":"SK"`, "more than a partition"},
			{`#p = :p AND`, `#p = :p OR`, "more than a partition"},
			{`"#g":"tags"`, `"#g":"S1"`, "uses the key attribute S1"},
			{`":p":{"S":"p"}`, `":p":{"S":""}`, "KeyConditionExpression :p"},
			{`":t":{"S":"t"}`, `":t":{"S":"a"}`, "ends before it begins"},
			{`50`, `0`, "Limit"},
			{`"Limit"`, `"ConsistentRead":true,"Limit"`, "cannot be read consistently"},
			{`,"S1":{"S":"f"}`, ``, "ExclusiveStartKey.S1"},
			{`"Limit"`, `"Select":"COUNT","ProjectionExpression":"#g","Limit"`, "contradict"},
			{`"Limit":50`, `"QueryFilter":{}`, "QueryFilter is unknown"},
		})
	requireEachFound(t, dynamoDB(), `{"TableName":"Data","Segment":2,"TotalSegments":3}`, sentToTable("Scan"), []broken{
		{`3`, `2`, "segment 2 of 2"}, {`,"TotalSegments":3`, ``, "segment 2 of"}, {`3`, `1000001`, "TotalSegments"},
	})
	keys := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"PK":{"S":"p"},"SK":{"S":"s%d"}}`, i)
		}
		return strings.Join(all, ",")
	}
	requireEachFound(t, dynamoDB(), `{"RequestItems":{"Data":{"Keys":[`+keys(2)+`],"ConsistentRead":true}}}`,
		sentToTable("BatchGetItem"), []broken{
			{keys(2), keys(101), "101 elements"}, {keys(2), ``, "0 elements"}, {`"s1"`, `"s0"`, "again"}, {`"s1"`, `""`, "SK"},
		})
}

func TestDynamoDB_holdsEveryConstraintOfManyWrites(t *testing.T) {
	t.Parallel()
	puts := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"PutRequest":{"Item":{"PK":{"S":"p"},"SK":{"S":"s%d"}}}}`, i)
		}
		return strings.Join(all, ",")
	}
	requireEachFound(t, dynamoDB(), `{"RequestItems":{"Data":[`+puts(2)+`]}}`, sentToTable("BatchWriteItem"), []broken{
		{puts(2), puts(26), "26 elements"}, {`"s1"`, `"s0"`, "again"}, {puts(2), `{}`, "0 members"},
	})
	actions := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"Delete":{"TableName":"Data","Key":{"PK":{"S":"p"},"SK":{"S":"s%d"}}}}`, i)
		}
		return strings.Join(all, ",")
	}
	check := `{"ConditionCheck":{"TableName":"Data","Key":{"PK":{"S":"p"},"SK":{"S":"c"}},` +
		`"ConditionExpression":"attribute_exists(#a)",
		"ExpressionAttributeNames":{"#a":"a"},"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}`
	put := `{"Put":{"TableName":"Data","Item":{"PK":{"S":"p"},"SK":{"S":"p"}}}}`
	whole := `{"ClientRequestToken":"token","TransactItems":[` + actions(2) + `,` + put + `,` + check + `]}`
	large := make([]string, 12)
	for i := range large {
		large[i] = fmt.Sprintf(`{"Put":{"TableName":"Data","Item":{"PK":{"S":"p"},"SK":{"S":"l%d"},"x":{"S":%q}}}}`, i,
			strings.Repeat("x", 390<<10))
	}
	requireEachFound(t, dynamoDB(), whole, sentToTable("TransactWriteItems"), []broken{
		{`"token"`, `""`, "ClientRequestToken"},
		{`"token"`, `"` + strings.Repeat("t", 37) + `"`, "ClientRequestToken"},
		{`"s1"`, `"s0"`, "again"},
		{`"s1"`, `"p"`, "again"},
		{actions(2), actions(99), "101 elements"},
		{`"ConditionExpression":"attribute_exists(#a)",`, ``, "ConditionExpression is missing"},
		{put, `{}`, "0 members"},
		{put, strings.Join(large, ","), "at most 4194304"},
	})
}
