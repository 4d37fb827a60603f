package dynamo_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

func localCredentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
}

func rowKey(n int) item.Key {
	return entity.ItemKey("ada", entity.Ref{Type: product.TypeTask, ID: "task_" + strconv.Itoa(n)})
}

func row(n int, title string) item.Item {
	it := rowKey(n).Item()
	it[entity.AttrTitle] = item.String(title)
	return it
}

func titled(title string) item.Item { return item.Item{entity.AttrTitle: item.String(title)} }

func TestStore_sendsTheRequestThatThePortPromises(t *testing.T) {
	t.Parallel()
	key := `{"PK":{"S":"USER#ada"},"SK":{"S":"TASK#task_1"}}`
	exists := `"ConditionExpression":"attribute_exists(#n0)","ExpressionAttributeNames":{"#n0":"PK"},
		"ReturnValuesOnConditionCheckFailure":"ALL_OLD"`
	always := `"ConditionExpression":"attribute_exists(#n0) OR attribute_not_exists(#n0)",` +
		`"ExpressionAttributeNames":{"#n0":"PK"},
		"ReturnValuesOnConditionCheckFailure":"ALL_OLD"`
	tests := map[string]struct {
		call      func(ctx context.Context, s *dynamo.Store) error
		operation string
		body      string
	}{
		"a get is consistent": {
			func(ctx context.Context, s *dynamo.Store) error {
				_, err := s.Get(ctx, rowKey(1))
				require.ErrorIs(t, err, table.ErrNotFound)
				return nil
			},
			"GetItem", `{"TableName":"Data","Key":` + key + `,"ConsistentRead":true,"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a batch get is consistent": {
			func(ctx context.Context, s *dynamo.Store) error {
				_, err := s.BatchGet(ctx, []item.Key{rowKey(1), rowKey(1)})
				return err
			},
			"BatchGetItem",
			`{"RequestItems":{"Data":{"Keys":[` + key + `],"ConsistentRead":true}},"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a peek is not": {
			func(ctx context.Context, s *dynamo.Store) error {
				_, err := s.Peek(ctx, []item.Key{rowKey(1)})
				return err
			},
			"BatchGetItem",
			`{"RequestItems":{"Data":{"Keys":[` + key + `],"ConsistentRead":false}},"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a query of the table is consistent": {
			func(ctx context.Context, s *dynamo.Store) error {
				_, err := s.Query(ctx, table.Query{Partition: "p", Range: table.Range{Prefix: "a"}, Limit: 7, Descending: true})
				return err
			},
			"Query",
			`{"TableName":"Data","KeyConditionExpression":"#n0 = :v0 AND begins_with(#n1, :v1)",
			"ExpressionAttributeNames":{"#n0":"PK","#n1":"SK"},"ExpressionAttributeValues":{":v0":{"S":"p"},":v1":{"S":"a"}},
			"ConsistentRead":true,"ScanIndexForward":false,"Limit":7,"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a query of the table is not where the caller says so": {
			func(ctx context.Context, s *dynamo.Store) error {
				_, err := s.Query(ctx, table.Query{Partition: "p", Eventual: true})
				return err
			},
			"Query",
			`{"TableName":"Data","KeyConditionExpression":"#n0 = :v0","ExpressionAttributeNames":{"#n0":"PK"},
			"ExpressionAttributeValues":{":v0":{"S":"p"}},"ConsistentRead":false,"ScanIndexForward":true,
			"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a query of an index is not, and filters by tags": {
			func(ctx context.Context, s *dynamo.Store) error {
				_, err := s.Query(ctx, table.Query{
					Index: table.YearView, Partition: "p", Range: table.Range{From: "a", To: "b"}, AnyTag: []string{"x", "y"},
				})
				return err
			},
			"Query",
			`{"TableName":"Data","IndexName":"GSI1-YearView","KeyConditionExpression":"#n0 = :v0 AND #n1 BETWEEN :v1 AND :v2",
			"FilterExpression":"contains(#n2, :v3) OR contains(#n2, :v4)",
			"ExpressionAttributeNames":{"#n0":"GSI1PK","#n1":"GSI1SK","#n2":"tags"},
			"ExpressionAttributeValues":{":v0":{"S":"p"},":v1":{"S":"a"},":v2":{"S":"b"},":v3":{"S":"x"},":v4":{"S":"y"}},
			"ScanIndexForward":true,"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"the filter lets rows with an attribute pass": {
			func(ctx context.Context, s *dynamo.Store) error {
				_, err := s.Query(ctx, table.Query{Partition: "p", AnyTag: []string{"x"}, AnyTagOr: "modifiedFields"})
				return err
			},
			"Query",
			`{"TableName":"Data","KeyConditionExpression":"#n0 = :v0",` +
				`"FilterExpression":"contains(#n1, :v1) OR attribute_exists(#n2)",
			"ExpressionAttributeNames":{"#n0":"PK","#n1":"tags","#n2":"modifiedFields"},
			"ExpressionAttributeValues":{":v0":{"S":"p"},":v1":{"S":"x"}},
			"ConsistentRead":true,"ScanIndexForward":true,"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a count reads no rows": {
			func(ctx context.Context, s *dynamo.Store) error {
				_, err := s.Count(ctx, table.Query{Partition: "p", Range: table.Range{From: "a"}, Limit: 1})
				return err
			},
			"Query",
			`{"TableName":"Data","KeyConditionExpression":"#n0 = :v0 AND #n1 >= :v1","Select":"COUNT",
			"ExpressionAttributeNames":{"#n0":"PK","#n1":"SK"},"ExpressionAttributeValues":{":v0":{"S":"p"},":v1":{"S":"a"}},
			"ConsistentRead":true,"ScanIndexForward":true,"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a put asks for the row in the way": {
			func(ctx context.Context, s *dynamo.Store) error {
				return s.Put(ctx, table.Put{Item: rowKey(1).Item(), If: table.Exists()})
			},
			"PutItem", `{"TableName":"Data","Item":` + key + `,` + exists + `,"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"an update asks for the new row": {
			func(ctx context.Context, s *dynamo.Store) error {
				_, err := s.Update(ctx, table.Update{
					Key: rowKey(1), Set: item.Item{"b": item.Bool(true), "a": item.Int(1)}, Remove: []string{"d", "c"},
				})
				return err
			},
			"UpdateItem",
			`{"TableName":"Data","Key":` + key + `,"UpdateExpression":"SET #n0 = :v0, #n1 = :v1 REMOVE #n2, #n3",
			"ExpressionAttributeNames":{"#n0":"a","#n1":"b","#n2":"c","#n3":"d"},
			"ExpressionAttributeValues":{":v0":{"N":"1"},":v1":{"BOOL":true}},"ReturnValues":"ALL_NEW",
			"ReturnValuesOnConditionCheckFailure":"ALL_OLD","ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a delete asks for the row in the way": {
			func(ctx context.Context, s *dynamo.Store) error {
				return s.Delete(ctx, table.Delete{Key: rowKey(1), If: table.Exists()})
			},
			"DeleteItem", `{"TableName":"Data","Key":` + key + `,` + exists + `,"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a transaction has a token and asks for every row in the way": {
			func(ctx context.Context, s *dynamo.Store) error {
				return s.Transact(ctx,
					table.Delete{Key: rowKey(1), If: table.Exists()}, table.Check{Key: rowKey(2), If: table.Exists()},
					table.Put{Item: rowKey(3).Item(), If: table.Exists()},
					table.Update{Key: rowKey(4), Remove: []string{"c"}, If: table.Exists()})
			},
			"TransactWriteItems",
			`{"ClientRequestToken":"token-1","ReturnConsumedCapacity":"INDEXES","TransactItems":[
			{"Delete":{"TableName":"Data","Key":` + key + `,` + exists + `}},
			{"ConditionCheck":{"TableName":"Data","Key":{"PK":{"S":"USER#ada"},"SK":{"S":"TASK#task_2"}},` + exists + `}},
			{"Put":{"TableName":"Data","Item":{"PK":{"S":"USER#ada"},"SK":{"S":"TASK#task_3"}},` + exists + `}},
			{"Update":{"TableName":"Data","Key":{"PK":{"S":"USER#ada"},"SK":{"S":"TASK#task_4"}},"UpdateExpression":"REMOVE #n0",
			"ConditionExpression":"attribute_exists(#n1)","ExpressionAttributeNames":{"#n0":"c","#n1":"PK"},
			"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}]}`,
		},
		"a transaction of one write is that write": {
			func(ctx context.Context, s *dynamo.Store) error {
				return s.Transact(ctx, table.Delete{Key: rowKey(1), If: table.Exists()})
			},
			"DeleteItem", `{"TableName":"Data","Key":` + key + `,` + exists + `,"ReturnConsumedCapacity":"INDEXES"}`,
		},
		"a transaction of one check stays one": {
			func(ctx context.Context, s *dynamo.Store) error { return s.Transact(ctx, table.Check{Key: rowKey(1)}) },
			"TransactWriteItems",
			`{"ClientRequestToken":"token-1","ReturnConsumedCapacity":"INDEXES","TransactItems":[
			{"ConditionCheck":{"TableName":"Data","Key":` + key + `,` + always + `}}]}`,
		},
		"a load writes without conditions": {
			func(ctx context.Context, s *dynamo.Store) error { return s.Load(ctx, []item.Item{rowKey(1).Item()}) },
			"BatchWriteItem",
			`{"RequestItems":{"Data":[{"PutRequest":{"Item":` + key + `}}]},"ReturnConsumedCapacity":"INDEXES"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t, ok(`{}`))
			store := w.store(dynamo.WithTable("Data"), dynamo.WithTokens(func() string { return "token-1" }))
			require.NoError(t, test.call(t.Context(), store))
			sent := w.only(t)
			require.Equal(t, test.operation, sent.operation)
			require.Equal(t, parse(t, test.body), sent.body)
		})
	}
}

func TestWalk_readsItsSegmentConsistently(t *testing.T) {
	t.Parallel()
	w := newWire(t, ok(`{}`))
	walker := dynamo.NewWalker(client(w.endpoint, nil))
	require.NoError(t, walker.Walk(t.Context(), 2, 3, func(item.Item) error { return nil }))
	sent := w.only(t)
	require.Equal(t, "Scan", sent.operation)
	require.Equal(t, parse(t, `{"TableName":"ProductivityData","Segment":2,"TotalSegments":3,"ConsistentRead":true,
		"ReturnConsumedCapacity":"INDEXES"}`), sent.body)
}

func TestExpression_holdsAConditionAsOne(t *testing.T) {
	t.Parallel()
	tests := []struct {
		condition table.Condition
		text      any
	}{
		{table.Condition{}, nil},
		{table.Condition{OrNoRow: true}, nil},
		{table.NotExists(), "attribute_not_exists(#n0)"},
		{table.Exists(), "attribute_exists(#n0)"},
		{table.Exists(table.Equal("a", item.Int(1))), "attribute_exists(#n0) AND #n1 = :v0"},
		{table.OrNoRow(table.Less("a", item.Int(1))), "attribute_not_exists(#n1) OR #n0 < :v0"},
		{
			table.OrNoRow(table.Less("a", item.Int(1)), table.Equal("c", item.String("x")), table.Missing("d")),
			"attribute_not_exists(#n3) OR #n0 < :v0 AND #n1 = :v1 AND attribute_not_exists(#n2)",
		},
		{
			table.Condition{OrNoRow: true, Row: table.RowExists, Tests: []table.Test{table.Missing("PK")}},
			"attribute_not_exists(#n0) OR attribute_exists(#n0) AND attribute_not_exists(#n0)",
		},
	}
	for _, test := range tests {
		w := newWire(t, ok(`{}`))
		require.NoError(t, w.store().Put(t.Context(), table.Put{Item: row(1, "x"), If: test.condition}))
		require.Equal(t, test.text, w.only(t).body["ConditionExpression"])
	}
}

func TestCheckText_sendsNothingThatTheServiceRefusesOrChanges(t *testing.T) {
	t.Parallel()
	deep := item.Value(item.List{})
	for range 40 {
		deep = item.List{deep}
	}
	put := func(v item.Value) func(*dynamo.Store) error {
		return func(s *dynamo.Store) error {
			it := row(1, "x")
			it["v"] = v
			return s.Put(t.Context(), table.Put{Item: it})
		}
	}
	update := func(u table.Update) func(*dynamo.Store) error {
		return func(s *dynamo.Store) error {
			u.Key = rowKey(1)
			_, err := s.Update(t.Context(), u)
			return err
		}
	}
	query := func(q table.Query) func(*dynamo.Store) error {
		return func(s *dynamo.Store) error {
			_, err := s.Query(t.Context(), q)
			return err
		}
	}
	transact := func(actions ...table.Action) func(*dynamo.Store) error {
		return func(s *dynamo.Store) error { return s.Transact(t.Context(), actions...) }
	}
	at := func(pk, sk string) table.Position { return table.Position(item.Key{PK: pk, SK: sk}.Item()) }
	tests := map[string]func(*dynamo.Store) error{
		"no value":                     put(nil),
		"an empty set":                 put(item.StringSet{}),
		"an empty set within":          put(item.Map{"a": item.List{item.NumberSet{}}}),
		"broken text":                  put(item.String("a\xff")),
		"a broken name":                put(item.Map{"a\xff": item.Bool(true)}),
		"deep nesting":                 put(deep),
		"an update of nothing":         update(table.Update{}),
		"an update of the key":         update(table.Update{Set: item.Item{item.AttrSK: item.String("x")}}),
		"a removal of the key":         update(table.Update{Remove: []string{item.AttrPK}}),
		"an attribute set and removed": update(table.Update{Set: titled("x"), Remove: []string{entity.AttrTitle}}),
		"an attribute removed twice":   update(table.Update{Remove: []string{"a", "a"}}),
		"no partition":                 query(table.Query{}),
		"an unknown index":             query(table.Query{Partition: "p", Index: "nope"}),
		"a prefix and a range":         query(table.Query{Partition: "p", Range: table.Range{Prefix: "a", To: "b"}}),
		"a range that ends too early":  query(table.Query{Partition: "p", Range: table.Range{From: "b", To: "a"}}),
		"a negative limit":             query(table.Query{Partition: "p", Limit: -1}),
		"too many tags":                query(table.Query{Partition: "p", AnyTag: make([]string, 51)}),
		"a start in another partition": query(table.Query{Partition: "p", Start: at("q", "s")}),
		"a start outside the range": query(table.Query{
			Partition: "p", Range: table.Range{Prefix: "a"}, Start: at("p", "b"),
		}),
		"a start before the range": query(table.Query{Partition: "p", Range: table.Range{From: "c"}, Start: at("p", "b")}),
		"a start of another index": query(table.Query{Partition: "p", Index: table.YearView, Start: at("p", "s")}),
		"a start with more than a key": query(table.Query{
			Partition: "p", Start: table.Position{"PK": item.String("p"), "SK": item.String("s"), "x": item.String("x")},
		}),
		"an empty transaction":        transact(),
		"too many actions":            transact(make([]table.Action, table.MaxActions+1)...),
		"no action":                   transact(nil),
		"an action of a foreign type": transact(&table.Check{Key: rowKey(1)}),
		"two actions on one row":      transact(table.Check{Key: rowKey(1)}, table.Delete{Key: rowKey(1)}),
		"a condition out of the form": transact(table.Delete{
			Key: rowKey(1), If: table.Exists(table.Less("a", item.Bool(true))),
		}),
		"an unknown operator": transact(table.Delete{
			Key: rowKey(1), If: table.Exists(table.Test{Op: 9, Attr: "a", Value: item.Int(1)}),
		}),
		"an unknown row state": transact(table.Delete{Key: rowKey(1), If: table.Condition{Row: 9}}),
		"a row loaded twice": func(s *dynamo.Store) error {
			return s.Load(t.Context(), []item.Item{row(1, "a"), row(1, "b")})
		},
		"a late row that cannot be put": func(s *dynamo.Store) error {
			return s.Load(t.Context(), append(rows(60), item.Item{"a": nil}))
		},
	}
	for name, call := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t, ok(`{}`))
			require.ErrorIs(t, call(w.store()), table.ErrInvalid)
			require.Empty(t, w.sent())
		})
	}
}

func TestToAttributes_nestsAsDeepAsTheServiceTakes(t *testing.T) {
	t.Parallel()
	nested := func(depth int) table.Put {
		v := item.Value(item.String("x"))
		for range depth {
			v = item.List{v}
		}
		it := row(1, "x")
		it["v"] = v
		return table.Put{Item: it}
	}
	w := newWire(t, ok(`{}`))
	require.NoError(t, w.store().Put(t.Context(), nested(32)))
	require.ErrorIs(t, w.store().Put(t.Context(), nested(33)), table.ErrInvalid)
	require.Len(t, w.sent(), 1)
}

func rows(n int) []item.Item {
	out := make([]item.Item, n)
	for i := range out {
		out[i] = row(i, "x")
	}
	return out
}

func TestWithObserver_reportsWhatEachCallConsumed(t *testing.T) {
	t.Parallel()
	consumed := `{"TableName":"Data","CapacityUnits":5.5,"Table":{"CapacityUnits":2},
		"GlobalSecondaryIndexes":{"GSI1-YearView":{"CapacityUnits":3.5}}}`
	var seen []table.Consumption
	observe := dynamo.WithObserver(func(u table.Consumption) { seen = append(seen, u) })
	w := newWire(t,
		ok(`{"ConsumedCapacity":`+consumed+`}`), ok(`{"ConsumedCapacity":[`+consumed+`]}`),
		ok(`{"ConsumedCapacity":`+consumed+`,"Count":2,"ScannedCount":9}`), refusal(400, "ValidationException"))
	store := w.store(observe)
	require.NoError(t, store.Put(t.Context(), table.Put{Item: row(1, "x")}))
	require.NoError(t, store.Transact(t.Context(), table.Put{Item: row(1, "x")}, table.Check{Key: rowKey(2)}))
	n, err := store.Count(t.Context(), table.Query{Index: table.YearView, Partition: "p"})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Error(t, store.Delete(t.Context(), table.Delete{Key: rowKey(1)}))
	indexes := map[table.Index]float64{table.YearView: 3.5}
	require.Equal(t, []table.Consumption{
		{Op: "Put", Rows: 1, WriteUnits: 5.5, IndexWriteUnits: indexes},
		{Op: "Transact", Rows: 2, WriteUnits: 5.5, IndexWriteUnits: indexes},
		{Op: "Count", Rows: 9, ReadUnits: 5.5},
		{Op: "Delete"},
	}, seen)
}
