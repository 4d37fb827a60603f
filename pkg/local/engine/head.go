package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// headWindow is how many records a search for the head reads at first, backwards; each further read doubles it.
const (
	headWindow    = 4
	maxHeadWindow = 1000
)

// Head returns the sequence number of the last record that a reader of the stream will see, in the readers' form;
// empty if there is none. It ignores records that [Transport] leaves out: a reader at this position has read
// everything written before the call. The service has no such call.
func (e *Engine) Head(ctx context.Context, streamARN string) (string, error) {
	shard, last, err := e.lastWritten(ctx, streamARN)
	if err != nil {
		return "", fmt.Errorf("head of stream %s: %w", streamARN, err)
	}
	e.heads.Lock()
	known := e.heads.seen[streamARN]
	e.heads.Unlock()
	if last <= known.written {
		return known.visible.String(), nil
	}
	visible, err := e.lastVisible(ctx, streamARN, shard, last, known)
	if err != nil {
		return "", fmt.Errorf("head of stream %s: %w", streamARN, err)
	}
	e.heads.Lock()
	defer e.heads.Unlock()
	if e.heads.seen == nil {
		e.heads.seen = map[string]headSeen{}
	}
	if e.heads.seen[streamARN].written < last {
		e.heads.seen[streamARN] = headSeen{written: last, visible: visible}
	}
	return visible.String(), nil
}

// headSeen is the last record of a stream at the last request for its head, and the last visible one up to there.
type headSeen struct{ written, visible position }

// position is a sequence number of the engine: whole numbers from 1; 0 is before the first.
type position int64

func (p position) String() string {
	if p == 0 {
		return ""
	}
	return padSequence(strconv.FormatInt(int64(p), 10))
}

// lastWritten reads the end of the log. The engine reports the end of its one shard as the greatest sequence number by
// text ("9" after "22"). So lastWritten uses the position of an iterator for new records: the engine's iterators are
// JSON in base64 and contain the position after which they read.
func (e *Engine) lastWritten(ctx context.Context, streamARN string) (shard string, last position, err error) {
	var description struct {
		StreamDescription struct {
			Shards []struct {
				ShardID string `json:"ShardId"`
			}
		}
	}
	if err := e.askStreams(ctx, "DescribeStream", map[string]any{"StreamArn": streamARN}, &description); err != nil {
		return "", 0, err
	}
	shards := description.StreamDescription.Shards
	if len(shards) != 1 {
		return "", 0, fmt.Errorf("engine reports %d shards, want its one", len(shards))
	}
	var latest struct{ ShardIterator []byte } // a []byte is base64 in JSON
	if err := e.askStreams(ctx, "GetShardIterator", map[string]any{
		"StreamArn": streamARN, "ShardId": shards[0].ShardID, "ShardIteratorType": "LATEST",
	}, &latest); err != nil {
		return "", 0, err
	}
	var iterator struct {
		Position *position `json:"position"`
	}
	if err := json.Unmarshal(latest.ShardIterator, &iterator); err != nil || iterator.Position == nil {
		return "", 0, errors.Join(fmt.Errorf("iterator %q holds no position", latest.ShardIterator), err)
	}
	return shards[0].ShardID, *iterator.Position, nil
}

// lastVisible searches backwards from the last record written to the last one that changed something. It stops at the
// previous result.
func (e *Engine) lastVisible(ctx context.Context, arn, shard string, last position, known headSeen) (position, error) {
	for window := position(headWindow); ; window = min(window*2, maxHeadWindow) {
		first := max(last-window+1, known.written+1)
		visible, err := e.visibleIn(ctx, arn, shard, first, last)
		if err != nil {
			return 0, err
		}
		if visible != 0 {
			return visible, nil
		}
		if last = first - 1; last <= known.written {
			return known.visible, nil
		}
	}
}

// visibleIn returns the last record in the range that is not left out; 0 if there is none.
func (e *Engine) visibleIn(ctx context.Context, arn, shard string, first, last position) (position, error) {
	var at struct{ ShardIterator string }
	if err := e.askStreams(ctx, "GetShardIterator", map[string]any{
		"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "AT_SEQUENCE_NUMBER",
		"SequenceNumber": strconv.FormatInt(int64(first), 10),
	}, &at); err != nil {
		return 0, err
	}
	visible := position(0)
	for at.ShardIterator != "" {
		var page recordPage
		if err := e.askStreams(ctx, "GetRecords", map[string]any{"ShardIterator": at.ShardIterator}, &page); err != nil {
			return 0, err
		}
		for _, r := range page.Records {
			sequence, err := strconv.ParseInt(r.Dynamodb.SequenceNumber, 10, 64)
			if err != nil {
				return 0, err
			}
			if position(sequence) > last {
				return visible, nil
			}
			changesNothing, err := r.changesNothing()
			if err != nil {
				return 0, fmt.Errorf("record %d: %w", sequence, err)
			}
			if !changesNothing {
				visible = position(sequence)
			}
		}
		if len(page.Records) == 0 {
			break
		}
		at.ShardIterator = page.NextShardIterator
	}
	return visible, nil
}

// askStreams calls the engine without the SDK, whose types lack the engine's additional members.
func (e *Engine) askStreams(ctx context.Context, operation string, input, output any) (err error) {
	content, err := json.Marshal(input)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, Internal+"/", bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.Header.Set(targetHeader, "DynamoDBStreams_20120810."+operation)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Date", "20000101T000000Z") // the engine requires a signature's form and checks none
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20000101/"+DefaultRegion+
		"/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0")
	response, err := e.direct.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d: %.500s", operation, response.StatusCode, answer)
	}
	return json.Unmarshal(answer, output)
}
