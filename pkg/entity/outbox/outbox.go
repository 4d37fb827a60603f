// Package outbox holds the type of an endpoint that is told of changes, and the keys of the rows by which it is told:
// messages, the outbox, and the lane of each endpoint.
//
// It promises that the rows of an endpoint sort by the time of the event, and then by the version of its item. It must
// never know which attributes a row has.
package outbox

import (
	"fmt"
	"strconv"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Prefixes of the sort keys.
const (
	// TypeWebhook is the type of the endpoints themselves, which are entities.
	TypeWebhook = "WEBHOOK"
	RowMessage  = "MSG"
	RowOut      = "OUT"
	RowLane     = "LANE"
)

// versionDigits is the length of a version in a key: versions sort as their texts do.
const versionDigits = 12

// ID names a message of a user: its endpoint, the second and the version of its event, and the id that receivers see.
type ID struct {
	Hook    string
	At      time.Time // in whole seconds
	Version int64     // 0 for an event that belongs to no version
	Message string
}

func (id ID) key(user, prefix string) item.Key {
	return item.Key{PK: entity.UserPK(user), SK: entity.SortKey{Prefix: prefix, Components: []string{
		id.Hook, item.FormatInstant(id.At), fmt.Sprintf("%0*d", versionDigits, id.Version), id.Message,
	}}.String()}
}

// MessageKey returns the key of the row with a message's content.
func MessageKey(user string, id ID) item.Key { return id.key(user, RowMessage) }

// OutKey returns the key of the row that a message has while it is to be sent.
func OutKey(user string, id ID) item.Key { return id.key(user, RowOut) }

// Parse returns the message of a key that [MessageKey] or [OutKey] made, by its sort key.
func Parse(sk string) (ID, error) {
	key, err := entity.ParseSortKey(sk)
	if err == nil && key.Prefix != RowMessage && key.Prefix != RowOut {
		err = fmt.Errorf("sort key %q: want %s or %s", sk, RowMessage, RowOut)
	}
	if err != nil {
		return ID{}, err
	}
	c := key.Components
	at, err := item.ParseInstant(c[1])
	if err != nil {
		return ID{}, fmt.Errorf("sort key %q: %w", sk, err)
	}
	version, err := strconv.ParseInt(c[2], 10, 64)
	if err != nil || len(c[2]) != versionDigits || version < 0 {
		return ID{}, fmt.Errorf("sort key %q: want a version of %d digits", sk, versionDigits)
	}
	return ID{c[0], at, version, c[3]}, nil
}

// MessagePrefix begins the sort keys of all messages of an endpoint.
func MessagePrefix(hook string) string { return entity.Under(entity.ItemPrefix(RowMessage), hook) }

// OutPrefix begins the sort keys of all messages of an endpoint that are to be sent.
func OutPrefix(hook string) string { return entity.Under(entity.ItemPrefix(RowOut), hook) }

// Messages begins the sort keys of the messages of all endpoints, and Outs those of what is to be sent.
func Messages() string { return entity.ItemPrefix(RowMessage) }

// Outs begins the sort keys of what is to be sent to all endpoints.
func Outs() string { return entity.ItemPrefix(RowOut) }

// Lanes begins the sort keys of the lanes of all endpoints.
func Lanes() string { return entity.ItemPrefix(RowLane) }

// LaneKey returns the key of the row with the state of an endpoint's lane.
func LaneKey(user, hook string) item.Key {
	return item.Key{PK: entity.UserPK(user), SK: entity.SortKey{
		Prefix: RowLane, Components: []string{hook},
	}.String()}
}
