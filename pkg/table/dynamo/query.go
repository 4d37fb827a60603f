package dynamo

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxTags bounds the filter, and with it the expression's 4 KB: an item has no more tags than this.
const maxTags = 50

// Query implements [table.Reader].
func (s *Store) Query(ctx context.Context, q table.Query) (table.Page, error) {
	page, err := s.query(ctx, q)
	if err != nil {
		return table.Page{}, fmt.Errorf("query %s: %w", label(q), err)
	}
	return page, nil
}

func (s *Store) query(ctx context.Context, q table.Query) (table.Page, error) {
	in, err := s.queryInput(q)
	if err != nil {
		return table.Page{}, err
	}
	if err := s.startAt(in, q); err != nil {
		return table.Page{}, err
	}
	if q.Limit < 0 {
		return table.Page{}, fmt.Errorf("%w: limit %d", table.ErrInvalid, q.Limit)
	}
	if q.Limit > 0 {
		in.Limit = aws.Int32(int32(min(q.Limit, math.MaxInt32)))
	}
	out, err := s.client.Query(ctx, in)
	if err != nil {
		s.reportRead(ctx, "Query", 0)
		return table.Page{}, translate(ctx, err, &attempts{})
	}
	s.reportRead(ctx, "Query", int(out.ScannedCount), given(out.ConsumedCapacity)...)
	items, err := fromRows(out.Items)
	if err != nil {
		return table.Page{}, err
	}
	next, err := fromAttributes(out.LastEvaluatedKey)
	if err != nil {
		return table.Page{}, fmt.Errorf("next position: %w", err)
	}
	return table.Page{Items: items, Next: table.Position(next)}, nil
}

// Count implements [table.Reader].
func (s *Store) Count(ctx context.Context, q table.Query) (int, error) {
	n, err := s.count(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", label(q), err)
	}
	return n, nil
}

func (s *Store) count(ctx context.Context, q table.Query) (int, error) {
	in, err := s.queryInput(q)
	if err != nil {
		return 0, err
	}
	in.Select = types.SelectCount
	total := 0
	for {
		out, err := s.client.Query(ctx, in)
		if err != nil {
			s.reportRead(ctx, "Count", 0)
			return 0, translate(ctx, err, &attempts{})
		}
		s.reportRead(ctx, "Count", int(out.ScannedCount), given(out.ConsumedCapacity)...)
		total += int(out.Count)
		if len(out.LastEvaluatedKey) == 0 {
			return total, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// queryInput returns the request without its position and size.
func (s *Store) queryInput(q table.Query) (*dynamodb.QueryInput, error) {
	index, ok := s.schema.Index(q.Index)
	if !ok {
		return nil, fmt.Errorf("%w: no index %s", table.ErrInvalid, q.Index)
	}
	if index.KeysOnly && len(q.AnyTag) > 0 { // the local engine would take it for a filter that no row passes
		return nil, fmt.Errorf("%w: a filter by tags, which index %s does not have", table.ErrInvalid, q.Index)
	}
	var x expression
	keys, err := x.keyCondition(index, q.Partition, q.Range)
	if err != nil {
		return nil, err
	}
	filter, err := x.anyTag(s.schema.Tags, q.AnyTag, q.AnyTagOr)
	if err != nil {
		return nil, err
	}
	in := &dynamodb.QueryInput{
		TableName:                 &s.schema.Name,
		KeyConditionExpression:    &keys,
		FilterExpression:          filter,
		ExpressionAttributeNames:  x.names,
		ExpressionAttributeValues: x.values,
		ScanIndexForward:          aws.Bool(!q.Descending),
		ReturnConsumedCapacity:    reportCapacity,
	}
	if q.Index == table.Base {
		in.ConsistentRead = aws.Bool(!q.Eventual)
	} else {
		in.IndexName = aws.String(string(q.Index))
	}
	return in, nil
}

func (x *expression) keyCondition(index table.IndexSchema, partition string, r table.Range) (string, error) {
	if partition == "" {
		return "", fmt.Errorf("%w: no partition", table.ErrInvalid)
	}
	if r.Prefix != "" && (r.From != "" || r.To != "") {
		return "", fmt.Errorf("%w: a prefix and a range of sort keys", table.ErrInvalid)
	}
	if r.To != "" && r.From > r.To {
		return "", fmt.Errorf("%w: a range that ends before it begins", table.ErrInvalid)
	}
	var failure error
	value := func(text string) string {
		placeholder, err := x.value(item.String(text))
		if err != nil {
			failure = err
		}
		return placeholder
	}
	text := x.name(index.PK) + " = " + value(partition)
	switch {
	case r.Prefix != "":
		text += " AND begins_with(" + x.name(index.SK) + ", " + value(r.Prefix) + ")"
	case r.From != "" && r.To != "":
		text += " AND " + x.name(index.SK) + " BETWEEN " + value(r.From) + " AND " + value(r.To)
	case r.From != "":
		text += " AND " + x.name(index.SK) + " >= " + value(r.From)
	case r.To != "":
		text += " AND " + x.name(index.SK) + " <= " + value(r.To)
	}
	return text, failure
}

// anyTag returns the filter for rows whose attribute has one of the tags, or that have the attribute named by or; nil
// for no filter.
func (x *expression) anyTag(attr string, tags []string, or string) (*string, error) {
	if len(tags) == 0 {
		return nil, nil
	}
	if len(tags) > maxTags {
		return nil, fmt.Errorf("%w: %d tags asked for, at most %d", table.ErrInvalid, len(tags), maxTags)
	}
	tests := make([]string, len(tags))
	for i, tag := range tags {
		v, err := x.value(item.String(tag))
		if err != nil {
			return nil, fmt.Errorf("tag %d: %w", i, err)
		}
		tests[i] = "contains(" + x.name(attr) + ", " + v + ")"
	}
	if or != "" {
		tests = append(tests, "attribute_exists("+x.name(or)+")")
	}
	text := strings.Join(tests, " OR ")
	return &text, nil
}

// startAt sets the position to continue from. The position must lie in the query: otherwise a client's cursor could
// make the query read other rows. The service checks the same, but other engines of its kind do not.
func (s *Store) startAt(in *dynamodb.QueryInput, q table.Query) error {
	if len(q.Start) == 0 {
		return nil
	}
	index, _ := s.schema.Index(q.Index)
	place := item.Item(q.Start)
	want := map[string]bool{s.schema.PK: true, s.schema.SK: true, index.PK: true, index.SK: true}
	for name := range want {
		if place.Str(name) == "" {
			return fmt.Errorf("%w: start without %s", table.ErrInvalid, name)
		}
	}
	if len(place) != len(want) || place.Str(index.PK) != q.Partition || !within(q.Range, place.Str(index.SK)) {
		return fmt.Errorf("%w: start lies outside the query", table.ErrInvalid)
	}
	start, err := toAttributes(place)
	if err != nil {
		return err
	}
	in.ExclusiveStartKey = start
	return nil
}

// within reports whether a sort key lies in the range.
func within(r table.Range, sk string) bool {
	return strings.HasPrefix(sk, r.Prefix) && sk >= r.From && (r.To == "" || sk <= r.To)
}

func label(q table.Query) string {
	if q.Index == table.Base {
		return q.Partition
	}
	return string(q.Index) + " " + q.Partition
}
