package change

import (
	"time"

	"nexus/pkg/item"
)

// Record is one stream record in neutral form, as a source of records returns it. It is not yet interpreted as an
// entity. Its JSON form (see [AppendRecord]) is exactly what Lambda receives.
type Record struct {
	EventID  string
	Name     EventName
	Sequence string // 21 to 40 digits in AWS; shorter from a local engine; compare with [CompareSequence]
	Created  time.Time
	Key      item.Key
	Old, New item.Item // nil if absent
	// Expired says that the TTL service removed the row (userIdentity).
	Expired bool
	// SourceARN is the stream's ARN.
	SourceARN string
}

// EventName names what happened to the row.
type EventName string

const (
	Insert EventName = "INSERT"
	Modify EventName = "MODIFY"
	Remove EventName = "REMOVE"
)

// CompareSequence orders two sequence numbers of one item: by length, then by text. They have up to 40 digits and are
// never an int64.
func CompareSequence(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Shard is one shard of a stream. Its parent, if it has one that still exists, is read to its end first.
type Shard struct{ ID, Parent string }

// Slice is the result of one read of a shard: records in order, possibly none.
type Slice struct {
	Records []Record
	// End says that the shard is closed and has been read to its end.
	End bool
}
