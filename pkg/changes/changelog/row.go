package changelog

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
)

// MaxEntries is the number of entries that a row holds at most; it holds at least one.
const MaxEntries = 100

// MaxRow is the greatest number of a row.
const MaxRow = device.MaxChange

// A row lives for [Life], and is relied on for [Trusted] of it. The ten days between are more than a read, a write and
// two clocks may differ by.
const (
	Life    = 90 * 24 * time.Hour
	Trusted = 80 * 24 * time.Hour
)

// Attributes of a row, in addition to its key and its ttl.
const (
	attrEntries = "e"
	attrNonce   = "x"
	attrAt      = "at"
	attrFirst   = "first"
)

// ErrRow says that a row of a log is damaged.
var ErrRow = errors.New("damaged row of a change log")

// Row is one row of a user's log.
type Row struct {
	// N is the row's number, from 1 to [MaxRow].
	N       int64
	Entries []Entry
	// X are the row's random bits. They distinguish it from a row with its number in a table that was restored.
	X uint64
	// At is when the row was appended, in whole seconds.
	At time.Time
	// First says that rows in front of this one may have been lost.
	First bool
	// Until is the row's ttl: when it may be deleted. The zero time is no ttl.
	Until time.Time
	// Size is the number of bytes that the row takes in the table.
	Size int
}

// NewRow returns the row to append at the instant.
func NewRow(n int64, entries []Entry, x uint64, first bool, now time.Time) Row {
	at := now.UTC().Truncate(time.Second)
	return Row{N: n, Entries: entries, X: x, At: at, First: first, Until: at.Add(Life)}
}

// Old reports whether the row must not be relied on any more: rows behind it may have been deleted before it.
func (r Row) Old(now time.Time) bool { return !now.Before(r.Until.Add(Trusted - Life)) }

// Item returns the row as the user's partition holds it. It panics unless there are 1 to [MaxEntries] entries: a writer
// that has more makes several rows.
func (r Row) Item(user string) item.Item {
	if len(r.Entries) == 0 || len(r.Entries) > MaxEntries {
		panic(fmt.Sprintf("changelog: %d entries in row %d, want 1 to %d", len(r.Entries), r.N, MaxEntries))
	}
	entries := make(item.List, len(r.Entries))
	for i, e := range r.Entries {
		entries[i] = item.String(e.String())
	}
	row := device.ChangeKey(user, r.N).Item()
	row[attrEntries] = entries
	row[attrNonce] = item.String(fmt.Sprintf("%016x", r.X))
	row.SetTime(attrAt, r.At)
	row[entity.AttrTTL] = item.Int(r.Until.Unix())
	if r.First {
		row[attrFirst] = item.Bool(true)
	}
	return row
}

// MarkFirst returns what a repair sets in a row behind a hole that nothing tells of, so that readers are told.
func MarkFirst() item.Item { return item.Item{attrFirst: item.Bool(true)} }

// ParseRow is the inverse of [Row.Item]. An error wraps [ErrRow]; the row then has what could be read, its number in
// any case if the key is one of a log.
func ParseRow(it item.Item) (Row, error) {
	row := Row{First: it.Has(attrFirst), Size: item.Size(it)}
	var errs []error
	damaged := func(err error) { errs = append(errs, err) }
	var err error
	if row.N, err = device.ParseChange(it.Str(item.AttrSK)); err != nil {
		damaged(err)
	}
	if it.Has(entity.AttrTTL) {
		row.Until = time.Unix(it.Int(entity.AttrTTL), 0).UTC()
	} else {
		damaged(errors.New("no " + entity.AttrTTL))
	}
	if row.X, err = strconv.ParseUint(it.Str(attrNonce), 16, 64); err != nil || len(it.Str(attrNonce)) != 16 {
		damaged(fmt.Errorf("%s is no number of 16 hexadecimal digits", attrNonce))
	}
	var ok bool
	if row.At, ok = it.Time(attrAt); !ok {
		damaged(fmt.Errorf("%s is no instant", attrAt))
	}
	list, _ := it[attrEntries].(item.List)
	if len(list) == 0 {
		damaged(errors.New("no entries"))
	}
	for _, v := range list {
		text, _ := v.(item.String)
		entry, err := ParseEntry(string(text))
		if err != nil {
			damaged(err)
			continue
		}
		row.Entries = append(row.Entries, entry)
	}
	if len(errs) > 0 {
		return row, fmt.Errorf("%w %s: %w", ErrRow, it.Key(), errors.Join(errs...))
	}
	return row, nil
}

// OpenRow returns the row that says until when an app of the user is open. [Read] meets it behind the newest row of the
// log. The error is about the user id.
func OpenRow(user string, until time.Time) (item.Item, error) {
	if err := entity.CheckUserID(user); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	row := device.WatchKey(user).Item()
	row[entity.AttrTTL] = item.Int(until.Unix())
	return row, nil
}
