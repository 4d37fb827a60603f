// Package streams reads a DynamoDB stream as a source of change records.
//
// It promises the records of a shard in order and without loss as long as the stream retains them: it replaces an
// expired iterator by one after the last record returned. Records that were trimmed before they were read are lost to
// any reader; the source always reports that gap. It must never decide which records matter. It does not retry: the
// caller backs off.
package streams

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"nexus/pkg/change"
)

// maxRecords is the most that GetRecords returns in one answer.
const maxRecords = 1000

// Client is the part of the SDK's client that is used.
type Client interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// Gap is a part of a shard that was trimmed before it was read: the records after After, up to the oldest one
// available.
type Gap struct{ Shard, After string }

// Source is one stream. It holds one iterator per shard: readers at different places take it from each other, at the
// cost of a request for each read. Safe for concurrent use.
type Source struct {
	client Client
	arn    string
	onGap  func(Gap)

	mu      sync.Mutex
	cursors map[string]cursor
}

// cursor is an iterator and its position.
type cursor struct{ after, iterator string }

// New returns a source over the stream. Each gap is reported to onGap before the read that found it goes on.
func New(client Client, streamARN string, onGap func(Gap)) *Source {
	return &Source{client: client, arn: streamARN, onGap: onGap, cursors: map[string]cursor{}}
}

// Shards returns all shards of the stream.
func (s *Source) Shards(ctx context.Context) ([]change.Shard, error) {
	described, err := s.describe(ctx)
	if err != nil {
		return nil, err
	}
	shards := make([]change.Shard, len(described))
	for i, d := range described {
		shards[i] = change.Shard{ID: aws.ToString(d.ShardId), Parent: aws.ToString(d.ParentShardId)}
	}
	return shards, nil
}

func (s *Source) describe(ctx context.Context) ([]types.Shard, error) {
	var shards []types.Shard
	for start := (*string)(nil); ; {
		out, err := s.client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{
			StreamArn: &s.arn, ExclusiveStartShardId: start,
		})
		if err != nil {
			return nil, fmt.Errorf("describe stream %s: %w", s.arn, err)
		}
		shards = append(shards, out.StreamDescription.Shards...)
		next := out.StreamDescription.LastEvaluatedShardId
		if aws.ToString(next) == "" {
			return shards, nil
		}
		if aws.ToString(next) == aws.ToString(start) {
			return nil, fmt.Errorf("describe stream %s: the page behind shard %s leads to itself", s.arn, *next)
		}
		start = next
	}
}

// Read returns records after the sequence number after, at most limit and at most 1,000 and 1 MB.
func (s *Source) Read(ctx context.Context, shard, after string, limit int) (change.Slice, error) {
	out, err := s.records(ctx, shard, after, limit)
	if expired := new(types.ExpiredIteratorException); errors.As(err, &expired) {
		s.forget(shard)
		out, err = s.records(ctx, shard, after, limit)
	}
	if trimmed := new(types.TrimmedDataAccessException); errors.As(err, &trimmed) {
		s.forget(shard)
		s.onGap(Gap{shard, after})
		out, err = s.recordsAtHorizon(ctx, shard, after, limit)
	}
	if missing := new(types.ResourceNotFoundException); errors.As(err, &missing) {
		return s.vanished(ctx, shard, after, err)
	}
	if err != nil {
		return change.Slice{}, fmt.Errorf("read shard %s behind %q: %w", shard, after, err)
	}
	records := make([]change.Record, len(out.Records))
	for i, r := range out.Records {
		if records[i], err = fromRecord(r, s.arn); err != nil {
			s.forget(shard) // the next read must not begin after records that were not returned
			return change.Slice{}, fmt.Errorf("read shard %s behind %q: %w", shard, after, err)
		}
	}
	if len(records) > 0 {
		after = records[len(records)-1].Sequence
	}
	s.keep(shard, after, out.NextShardIterator)
	return change.Slice{Records: records, End: out.NextShardIterator == nil}, nil
}

// records reads with the shard's iterator if it is at the position, else with a new one.
func (s *Source) records(
	ctx context.Context, shard, after string, limit int,
) (*dynamodbstreams.GetRecordsOutput, error) {
	s.mu.Lock()
	at, ok := s.cursors[shard]
	s.mu.Unlock()
	if !ok || at.after != after {
		in := &dynamodbstreams.GetShardIteratorInput{ShardIteratorType: types.ShardIteratorTypeTrimHorizon}
		if after != "" {
			in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &after
		}
		var err error
		if at, err = s.iterator(ctx, shard, after, in); err != nil {
			return nil, err
		}
	}
	return s.get(ctx, at.iterator, limit)
}

// recordsAtHorizon reads the oldest available records instead of those after the sequence number after, which are
// gone.
func (s *Source) recordsAtHorizon(
	ctx context.Context, shard, after string, limit int,
) (*dynamodbstreams.GetRecordsOutput, error) {
	at, err := s.iterator(ctx, shard, after, &dynamodbstreams.GetShardIteratorInput{
		ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		return nil, err
	}
	return s.get(ctx, at.iterator, limit)
}

// iterator gets an iterator and stores it for the position, so that a refused read can be repeated with it.
func (s *Source) iterator(
	ctx context.Context, shard, after string, in *dynamodbstreams.GetShardIteratorInput,
) (cursor, error) {
	in.StreamArn, in.ShardId = &s.arn, &shard
	out, err := s.client.GetShardIterator(ctx, in)
	if err != nil {
		return cursor{}, fmt.Errorf("get shard iterator: %w", err)
	}
	if aws.ToString(out.ShardIterator) == "" {
		return cursor{}, errors.New("get shard iterator: the answer has none")
	}
	s.keep(shard, after, out.ShardIterator)
	return cursor{after, *out.ShardIterator}, nil
}

func (s *Source) get(ctx context.Context, iterator string, limit int) (*dynamodbstreams.GetRecordsOutput, error) {
	out, err := s.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
		ShardIterator: &iterator, Limit: aws.Int32(int32(min(max(limit, 1), maxRecords))),
	})
	if err != nil {
		return nil, fmt.Errorf("get records: %w", err)
	}
	return out, nil
}

// vanished decides why the shard was not found. If the stream exists without it, all its records have been trimmed, so
// it is at its end. The gap is reported because it is unknown whether they had been read.
func (s *Source) vanished(ctx context.Context, shard, after string, cause error) (change.Slice, error) {
	s.forget(shard)
	shards, err := s.Shards(ctx)
	if err != nil {
		return change.Slice{}, err
	}
	for _, listed := range shards {
		if listed.ID == shard {
			return change.Slice{}, fmt.Errorf("read shard %s behind %q: %w", shard, after, cause)
		}
	}
	s.onGap(Gap{shard, after})
	return change.Slice{End: true}, nil
}

func (s *Source) keep(shard, after string, iterator *string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if iterator == nil {
		delete(s.cursors, shard)
		return
	}
	s.cursors[shard] = cursor{after, *iterator}
}

func (s *Source) forget(shard string) { s.keep(shard, "", nil) }
