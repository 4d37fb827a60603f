package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"nexus/pkg/local/engine/enginetest"
)

// streamRecord is a record as the stream of the table has it, and as a function gets it.
type streamRecord map[string]any

func (r streamRecord) within(path ...string) any {
	var value any = map[string]any(r)
	for _, name := range path {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}

func (r streamRecord) sequence() string {
	s, _ := r.within("dynamodb", "SequenceNumber").(string)
	return s
}

// key is the key of the record's row.
func (r streamRecord) key() string {
	return fmt.Sprintf("%v %v", r.within("dynamodb", "Keys", "PK", "S"), r.within("dynamodb", "Keys", "SK", "S"))
}

func (r streamRecord) created() time.Time {
	n, _ := r.within("dynamodb", "ApproximateCreationDateTime").(json.Number)
	seconds, _ := n.Float64()
	return time.Unix(int64(seconds), 0)
}

// askStream asks DynamoDB Streams something in the name of a role.
func (d *deployed) askStream(role, operation, resource string, in, out any) error {
	d.rights.require(role, "dynamodb:"+operation, resource)
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	ctx, end := context.WithTimeout(context.Background(), patience)
	defer end()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.engine, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("X-Amz-Target", "DynamoDBStreams_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	at := time.Now().UTC()
	r.Header.Set("X-Amz-Date", at.Format("20060102T150405Z"))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/"+at.Format("20060102")+"/"+stackRegion+
		"/dynamodb/aws4_request, SignedHeaders=host, Signature="+strings.Repeat("0", 64))
	response, err := d.transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", operation, response.StatusCode, text)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(out)
}

// follow reads the stream from its beginning until the run ends, and hands each page over. The stream of the template
// is that of the engine's table.
func (d *deployed) follow(role, streamARN string, take func([]streamRecord)) {
	var listed struct {
		Streams []struct{ StreamArn string }
	}
	table := strings.Split(streamARN, "/stream/")[0]
	of := map[string]any{"TableName": d.tableName}
	if err := d.askStream(role, "ListStreams", table+"/stream/*", of, &listed); err != nil || len(listed.Streams) != 1 {
		d.Errorf("streams of the table: %+v %v", listed, err)
		return
	}
	stream, read := listed.Streams[0].StreamArn, map[string]bool{}
	for !d.over() {
		var described struct {
			StreamDescription struct {
				Shards []struct{ ShardId, ParentShardId string }
			}
		}
		of := map[string]any{"StreamArn": stream}
		if err := d.askStream(role, "DescribeStream", streamARN, of, &described); err != nil {
			d.Errorf("stream: %v", err)
			return
		}
		for _, shard := range described.StreamDescription.Shards { // parents come first
			if !read[shard.ShardId] {
				read[shard.ShardId] = true
				d.followShard(role, streamARN, stream, shard.ShardId, take)
			}
		}
		d.pause(betweenReads)
	}
}

// betweenReads is how long a reader waits where there is nothing new.
const betweenReads = 100 * time.Millisecond

func (d *deployed) followShard(role, streamARN, stream, shard string, take func([]streamRecord)) {
	var next struct{ ShardIterator string }
	in := map[string]any{"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
	if err := d.askStream(role, "GetShardIterator", streamARN, in, &next); err != nil {
		d.Errorf("iterator: %v", err)
		return
	}
	for iterator := next.ShardIterator; iterator != "" && !d.over(); {
		var page struct {
			Records           []streamRecord
			NextShardIterator string
		}
		if err := d.askStream(role, "GetRecords", streamARN, map[string]any{"ShardIterator": iterator}, &page); err != nil {
			d.Errorf("records: %v", err)
			return
		}
		for _, r := range page.Records {
			r["eventSourceARN"] = streamARN
			r["awsRegion"] = stackRegion
			if r["eventName"] == "REMOVE" && d.isSwept(r.key()) {
				r["userIdentity"] = map[string]any{"principalId": "dynamodb.amazonaws.com", "type": "Service"}
			}
		}
		take(page.Records)
		if iterator = page.NextShardIterator; len(page.Records) == 0 {
			d.pause(betweenReads)
		}
	}
}

// streamTransport corrects what the engine's stream does otherwise than the service's.
func streamTransport() http.RoundTripper { return enginetest.Transport() }
