package simulate

import (
	"context"
	"encoding/json"
	"slices"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/table/memory"
)

// stream is the table's stream as it was read: every record ever written, in the order of the writes, with its shard.
type stream struct {
	feed   *memory.Feed
	last   string
	log    []*record
	shards []*shard
	// replicated says that another region removes rows, too.
	replicated bool
}

// record is one record and its outcomes.
type record struct {
	change.Record               // as it happened
	arrives       change.Record // as the stream has it
	by            kind          // who wrote it
	shard         *shard
	raw           json.RawMessage // as Lambda delivers it; nil until first used
	done          map[string]bool // by consumer

	user           string         // of its row; "" without one
	row            repository.Row // of a repository; zero for others
	isOfRepository bool           // it is a row of the values or of a plan
	item           contendedItem  // which several workers can contend for; zero for none
}

type shard struct {
	id      string
	parent  *shard
	records []*record
	after   string // the last record read
	closed  bool
}

func newStream(feed *memory.Feed, replicated bool) *stream {
	return &stream{feed: feed, replicated: replicated}
}

func newRecord(from change.Record) *record {
	r := &record{Record: from, done: map[string]bool{}}
	var err error
	if r.user, err = entity.ParseUserPK(r.Key.PK); err != nil {
		r.row, err = repository.ParseRow(r.Key)
		r.user, r.isOfRepository = r.row.Repository.User, err == nil
	}
	r.item = itemOf(r)
	return r
}

func (r *record) payload() json.RawMessage {
	if r.raw == nil {
		r.raw = change.AppendRecord(nil, r.arrives)
	}
	return r.raw
}

// read reads the records written since the last call and returns them.
func (s *stream) read(by kind) []*record {
	last := s.feed.Last()
	if last == s.last {
		return nil
	}
	s.last = last
	s.discover()
	var fresh []*record
	for _, sh := range s.shards {
		if sh.closed {
			continue
		}
		for {
			slice, err := s.feed.Read(context.Background(), sh.id, sh.after, 0)
			if err != nil {
				panic("simulate: " + err.Error()) // nothing is ever trimmed here
			}
			for _, one := range slice.Records {
				r := newRecord(one)
				r.arrives, r.by, r.shard = s.arrives(one), by, sh
				sh.records, sh.after = append(sh.records, r), one.Sequence
				fresh = append(fresh, r)
			}
			if sh.closed = slice.End; sh.closed || len(slice.Records) == 0 {
				break
			}
		}
	}
	slices.SortFunc(fresh, func(a, b *record) int { return change.CompareSequence(a.Sequence, b.Sequence) })
	s.log = append(s.log, fresh...)
	return fresh
}

// discover takes in shards that are new.
func (s *stream) discover() {
	shards, err := s.feed.Shards(context.Background())
	if err != nil {
		panic("simulate: " + err.Error()) // the context does not end
	}
	for _, one := range shards[len(s.shards):] {
		made := &shard{id: one.ID}
		for _, parent := range s.shards {
			if parent.id == one.Parent {
				made.parent = parent
			}
		}
		s.shards = append(s.shards, made)
	}
}

// maxShards bounds the splits of a history.
const maxShards = 7

// split splits an open shard.
func (s *stream) split(n int) {
	s.discover()
	open := slices.DeleteFunc(slices.Clone(s.shards), func(sh *shard) bool { return sh.closed })
	if len(s.shards)+2 > maxShards || len(open) == 0 {
		return
	}
	sh := open[n%len(open)]
	if _, err := s.feed.Split(sh.id); err != nil {
		return // it was closed before; only the read of its end is missing
	}
	s.last = "" // so that the next read sees the end
}
