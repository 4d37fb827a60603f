package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// maxActions is how many actions the engine takes in a transaction.
const maxActions = 10

// inParts carries a transaction out that is too large for the engine. It checks all conditions, and applies the actions
// if they hold, while no other request gets through. A transaction that comes again is answered from memory, as its
// token asks for.
func (b *bridge) inParts(r request, actions []any) (exchange, error) {
	b.alone.Lock()
	defer b.alone.Unlock()
	token, _ := r.in["ClientRequestToken"].(string)
	if answer, again := b.done[token]; again && token != "" {
		return answer, nil
	}
	refused, err := b.conditions(r, actions)
	if err != nil || refused != nil {
		return *refused, err
	}
	var whole exchange
	consumed := capacities{}
	for part := range slices.Chunk(actions, maxActions) {
		got, err := b.part(r, part)
		if err != nil {
			return got, err
		}
		if got.status != http.StatusOK {
			if whole.status != 0 {
				b.surprise("a large transaction is half applied: %s", got.body)
			}
			return got, nil
		}
		if err := consumed.add(got.body); err != nil {
			return got, err
		}
		whole = got
	}
	if whole.body, err = json.Marshal(map[string]any{"ConsumedCapacity": consumed.list()}); err != nil {
		return whole, err
	}
	if token != "" {
		b.done[token] = whole
	}
	return whole, nil
}

func (b *bridge) part(r request, actions []any) (exchange, error) {
	return b.send(r.Request, "TransactWriteItems", map[string]any{
		"TransactItems": actions, "ReturnConsumedCapacity": r.in["ReturnConsumedCapacity"],
	})
}

// conditions returns the refusal of the transaction if a condition of an action does not hold, and nil if all do.
func (b *bridge) conditions(r request, actions []any) (*exchange, error) {
	reasons := make([]any, len(actions))
	for i := range reasons {
		reasons[i] = map[string]any{"Code": "None"}
	}
	var checks []any
	var places []int
	for i, action := range actions {
		if check := checkOf(action); check != nil {
			checks, places = append(checks, check), append(places, i)
		}
	}
	var refusal *exchange
	for first := 0; first < len(checks); first += maxActions {
		part := checks[first:min(first+maxActions, len(checks))]
		got, err := b.part(r, part)
		if err != nil || got.status == http.StatusOK {
			if err != nil {
				return &got, err
			}
			continue
		}
		var failure struct{ CancellationReasons []any }
		if err := decode(got.body, &failure); err != nil || len(failure.CancellationReasons) != len(part) {
			return &got, err
		}
		for i, reason := range failure.CancellationReasons {
			reasons[places[first+i]] = reason
		}
		refusal = &got
	}
	if refusal == nil {
		return nil, nil
	}
	var whole map[string]any
	if err := decode(refusal.body, &whole); err != nil {
		return refusal, err
	}
	whole["CancellationReasons"] = reasons
	var err error
	refusal.body, err = json.Marshal(whole)
	return refusal, err
}

// checkOf is the condition of an action by itself, nil if it has none.
func checkOf(action any) any {
	for kind, content := range action.(map[string]any) {
		in := content.(map[string]any)
		condition, ok := in["ConditionExpression"].(string)
		if kind == "ConditionCheck" {
			return action
		}
		if !ok {
			return nil
		}
		check := map[string]any{
			"TableName": in["TableName"], "ConditionExpression": condition,
			"ReturnValuesOnConditionCheckFailure": in["ReturnValuesOnConditionCheckFailure"],
		}
		if check["Key"] = in["Key"]; kind == "Put" {
			row := in["Item"].(map[string]any)
			check["Key"] = map[string]any{"PK": row["PK"], "SK": row["SK"]}
		}
		for _, name := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
			if used := usedBy(condition, in[name]); len(used) > 0 {
				check[name] = used
			}
		}
		return map[string]any{"ConditionCheck": check}
	}
	return nil
}

// usedBy are those of an expression's names or values that the condition uses: the service refuses others.
func usedBy(condition string, all any) map[string]any {
	out := map[string]any{}
	given, _ := all.(map[string]any)
	words := strings.FieldsFunc(condition, func(r rune) bool {
		return !strings.ContainsRune("#:_0123456789", r) && (r < 'A' || 'Z' < r) && (r < 'a' || 'z' < r)
	})
	for name, value := range given {
		if slices.Contains(words, name) {
			out[name] = value
		}
	}
	return out
}

// capacities adds up what the parts of a transaction consumed, by table.
type capacities map[string]map[string]any

func (c capacities) add(answer []byte) error {
	var got struct{ ConsumedCapacity []map[string]any }
	if err := decode(answer, &got); err != nil {
		return err
	}
	for _, each := range got.ConsumedCapacity {
		name, _ := each["TableName"].(string)
		if c[name] == nil {
			c[name] = map[string]any{}
		}
		sum(c[name], each)
	}
	return nil
}

// sum adds the numbers of one object to another's, however deep they lie.
func sum(into, from map[string]any) {
	for name, value := range from {
		switch value := value.(type) {
		case json.Number:
			more, _ := value.Float64()
			had, _ := into[name].(float64)
			into[name] = had + more
		case map[string]any:
			inner, ok := into[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				into[name] = inner
			}
			sum(inner, value)
		default:
			into[name] = value
		}
	}
}

func (c capacities) list() []any {
	out := []any{}
	for _, each := range c {
		out = append(out, each)
	}
	return out
}
