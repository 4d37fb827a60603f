// Package change represents one stream record as an entity before and after a write, with the codec for the form in
// which Lambda receives it.
//
// It promises that decoding names the one bad record and never fails its neighbours. A decoded change obeys the key
// and version rules. Encoding a decoded record gives an equal record. It must never decide whether a change matters:
// that is for the consumers.
package change

import (
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Kind names what happened to the item.
type Kind int

const (
	Inserted Kind = iota
	Modified
	Removed // by a client
	Expired // by the TTL service
)

func (k Kind) String() string { return [...]string{"Inserted", "Modified", "Removed", "Expired"}[k] }

// Change is one record decoded.
type Change struct {
	Kind Kind
	// Type is the entity's type; nil for a row that is no entity (of those only removals of timers reach a consumer).
	Type *entity.Type
	User string
	Ref  entity.Ref // the entity; empty for a row
	Key  item.Key
	// Old and New are the images; nil if absent.
	Old, New item.Item
	// Version is that of the new image. A removal counts as a version, so for a removal it is the old image's plus 1. 0
	// for a row.
	Version int64
	// Created is the stream's time of the write, in whole seconds: an age, not an order.
	Created  time.Time
	Sequence string
	// Raw is the record as it was delivered, for parking.
	Raw []byte
}

// TraceID names the write that produced the record, as the command logged it ([entity.TraceID]). The removal of a
// timer belongs to the write that set it, bookkeeping to the write that it records. Empty for a row that no command
// has written.
func (c Change) TraceID() string {
	if c.Type != nil && c.Version > 0 {
		return entity.TraceID(c.User, c.Ref.ID, c.Version)
	}
	if timer, err := entity.ParseTimer(c.Key.SK); err == nil {
		return entity.TraceID(c.User, timer.TaskID, timer.Version)
	}
	return ""
}
