package main

import "net/http"

// place is a shard of a stream.
type place struct{ stream, shard any }

// records answers GetRecords. The engine numbers the records of all tables together. It calls a position before a
// shard's first record trimmed, if another table's record came between. Nothing is trimmed within a run, so the records
// that follow such a position are those from the shard's beginning on.
func (b *bridge) records(r request) (exchange, error) {
	iterator, _ := r.in["ShardIterator"].(string)
	b.mu.Lock()
	at, known := b.places[iterator]
	b.mu.Unlock()
	got, err := b.send(r.Request, r.operation, r.in)
	if err == nil && got.code() == "TrimmedDataAccessException" && known {
		b.count(emptyShard)
		if got, err = b.send(r.Request, "GetShardIterator", map[string]any{
			"StreamArn": at.stream, "ShardId": at.shard, "ShardIteratorType": "TRIM_HORIZON",
		}); err != nil || got.status != http.StatusOK {
			return got, err
		}
		var begun map[string]any
		if err := decode(got.body, &begun); err != nil {
			return got, err
		}
		r.in["ShardIterator"] = begun["ShardIterator"]
		got, err = b.send(r.Request, r.operation, r.in)
	}
	if err != nil {
		return got, err
	}
	return got, b.remember(at, "NextShardIterator", got)
}

// iterator answers GetShardIterator.
func (b *bridge) iterator(r request) (exchange, error) {
	got, err := b.send(r.Request, r.operation, r.in)
	if err != nil {
		return got, err
	}
	return got, b.remember(place{r.in["StreamArn"], r.in["ShardId"]}, "ShardIterator", got)
}

// remember notes of which shard the iterator is that an answer has under the name.
func (b *bridge) remember(at place, name string, answer exchange) error {
	var out map[string]any
	if err := decode(answer.body, &out); err != nil {
		return err
	}
	if iterator, ok := out[name].(string); ok && at.shard != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.places[iterator] = at
	}
	return nil
}
