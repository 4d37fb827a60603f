package streams_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// stream is DynamoDB Streams over one stream whose shards have split, with small pages. What its reference demands of a
// request is for the guard before it.
type stream struct {
	mu     sync.Mutex
	shards []shard
	// life is after how many requests an iterator expires, which the service counts in minutes; 0 for never.
	life     int
	requests int
}

type shard struct {
	id, parent string
	records    []string // sequence numbers
	trimmed    int      // of the records, how many are kept no more
	open       bool
}

// Sizes of a page: of shards and of records.
const (
	pageShards  = 2
	pageRecords = 3
)

func shardID(n int) string { return fmt.Sprintf("shardId-0000000177625440000%d-3d9c1b2a", n) }

// split returns a stream with a parent and two children, the second still open; records have the numbers of their
// shard.
func split(perShard int) *stream {
	s := &stream{}
	for i := range 3 {
		made := shard{id: shardID(i), open: i == 2}
		if i > 0 {
			made.parent = shardID(0)
		}
		for n := range perShard {
			made.records = append(made.records, fmt.Sprintf("1111%d%016d", i, n))
		}
		s.shards = append(s.shards, made)
	}
	return s
}

func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	var in struct {
		ExclusiveStartShardID, ShardID, ShardIteratorType, SequenceNumber, ShardIterator string
		Limit                                                                            int
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		answerException(w, "SerializationException")
		return
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch operation {
	case "DescribeStream":
		s.describe(w, in.ExclusiveStartShardID)
	case "GetShardIterator":
		s.iterator(w, in.ShardID, in.SequenceNumber)
	case "GetRecords":
		s.records(w, in.ShardIterator, in.Limit)
	}
}

func answerException(w http.ResponseWriter, exception string) {
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{
		"__type": "com.amazonaws.dynamodb.v20120810#" + exception, "message": "no",
	})
}

func (s *stream) describe(w http.ResponseWriter, start string) {
	from := 0
	for i, listed := range s.shards {
		if listed.id == start {
			from = i + 1
		}
	}
	page := []map[string]any{}
	for _, listed := range s.shards[from:min(from+pageShards, len(s.shards))] {
		page = append(page, map[string]any{"ShardId": listed.id, "ParentShardId": listed.parent})
	}
	described := map[string]any{"StreamArn": streamARN, "Shards": page}
	if from+pageShards < len(s.shards) {
		described["LastEvaluatedShardId"] = page[len(page)-1]["ShardId"]
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"StreamDescription": described})
}

func (s *stream) find(id string) *shard {
	for i := range s.shards {
		if s.shards[i].id == id {
			return &s.shards[i]
		}
	}
	return nil
}

func (s *stream) iterator(w http.ResponseWriter, id, after string) {
	found := s.find(id)
	if found == nil {
		answerException(w, "ResourceNotFoundException")
		return
	}
	place := found.trimmed
	for i, sequence := range found.records {
		if sequence == after {
			place = i + 1
		}
	}
	if place < found.trimmed {
		answerException(w, "TrimmedDataAccessException")
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"ShardIterator": s.name(id, place)})
}

// name is an iterator: the shard, the place in it, and the request that made it.
func (s *stream) name(id string, place int) string {
	return fmt.Sprintf("%s|%d|%d", id, place, s.requests)
}

func (s *stream) records(w http.ResponseWriter, iterator string, limit int) {
	parts := strings.Split(iterator, "|")
	place, _ := strconv.Atoi(parts[1])
	made, _ := strconv.Atoi(parts[2])
	found := s.find(parts[0])
	switch {
	case found == nil:
		answerException(w, "ResourceNotFoundException")
		return
	case s.life > 0 && s.requests-made > s.life:
		answerException(w, "ExpiredIteratorException")
		return
	case place < found.trimmed:
		answerException(w, "TrimmedDataAccessException")
		return
	}
	end := min(place+min(limit, pageRecords), len(found.records))
	list := []map[string]any{}
	for _, sequence := range found.records[place:end] {
		key := map[string]any{"PK": map[string]string{"S": "p"}, "SK": map[string]string{"S": sequence}}
		list = append(list, map[string]any{"eventID": "e" + sequence, "eventName": "INSERT", "dynamodb": map[string]any{
			"SequenceNumber": sequence, "ApproximateCreationDateTime": 1767225600, "Keys": key, "NewImage": key,
		}})
	}
	out := map[string]any{"Records": list}
	if found.open || end < len(found.records) {
		out["NextShardIterator"] = s.name(found.id, end)
	}
	_ = json.NewEncoder(w).Encode(out)
}
