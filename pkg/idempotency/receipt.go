// Package idempotency makes a request harmless to repeat: it owns the RECEIPT row, which remembers a request under the
// key that its client chose.
//
// It promises that of two requests under one key at most one is carried out, if each puts its receipt in the
// transaction of its write: the other is refused, or finds the receipt. A write of several transactions puts it in the
// last one. Commands, repositories and accounts share the keys, so each refuses a key that another used. The caller
// decides the other content of a receipt. The package must never decide how a repeated request is answered.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"
	"unicode"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// Retention is how long a request is remembered under its key.
	Retention = 24 * time.Hour
	// BatchRetention is how long a command of a batch is remembered. A device sends what it could not send for 80 days.
	BatchRetention = 90 * 24 * time.Hour
	// maxKeyLength is the length of a key in characters.
	maxKeyLength = 255

	attrFingerprint = "fingerprint"
)

// Errors about a key. They are matched with errors.Is.
var (
	// ErrKey says that the idempotency key is malformed (400).
	ErrKey = errors.New("an idempotency key is 1 to 255 printable characters")
	// ErrKeyReused says that the idempotency key was used for another request (422).
	ErrKeyReused = errors.New("the idempotency key was used for another request")
)

// ReplayError ends an attempt whose request was carried out before.
type ReplayError struct{ Receipt item.Item }

// Error implements error.
func (e *ReplayError) Error() string { return "the request was carried out before" }

// Receipt is the record of one request of a user.
type Receipt struct {
	// Key is the key of the row.
	Key         item.Key
	fingerprint string
	retention   time.Duration
}

// New returns the receipt of a request, or nil if its client chose no key. Two requests are the same if their request
// values, in JSON form, are equal. The request is remembered for the retention; 0 means [Retention]. The error is
// [ErrKey], or about that form.
func New(user, key string, retention time.Duration, request []any) (*Receipt, error) {
	if key == "" {
		return nil, nil
	}
	if !IsKey(key) {
		return nil, ErrKey
	}
	content, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("fingerprint of the request: %w", err)
	}
	if retention == 0 {
		retention = Retention
	}
	return &Receipt{
		Key: entity.ReceiptKey(user, Digest([]byte(key))), fingerprint: Digest(content), retention: retention,
	}, nil
}

// IsKey reports whether a client may choose the key.
func IsKey(key string) bool {
	if key == "" || !utf8.ValidString(key) || utf8.RuneCountInString(key) > maxKeyLength {
		return false
	}
	for _, r := range key {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// Digest returns the SHA-256 of b in hexadecimal.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Put returns the action that writes the receipt with the attributes of its user, unless there is one in force. TTL
// removes rows days late, so a receipt past its ttl counts as none.
func (r *Receipt) Put(own item.Item, now time.Time) table.Put {
	row := r.Key.Item()
	maps.Copy(row, own)
	row[attrFingerprint] = item.String(r.fingerprint)
	row[entity.AttrTTL] = item.Int(now.Add(r.retention).Unix())
	// entity.Expired holds from the second of the ttl on, so the second after now is the bound.
	return table.Put{Item: row, If: table.OrNoRow(table.Less(entity.AttrTTL, item.Int(now.Unix()+1)))}
}

// Check classifies a row that was read under the receipt's key, nil for none. The error is a [*ReplayError] if the row
// is of this request, and [ErrKeyReused] if it is of another. It is nil if no receipt is in force.
func (r *Receipt) Check(row item.Item, now time.Time) error {
	switch {
	case row == nil || entity.Expired(row, now):
		return nil
	case row.Str(attrFingerprint) != r.fingerprint:
		return ErrKeyReused
	}
	return &ReplayError{row}
}

// Find reads the receipt and classifies it, as [Receipt.Check] does. The error may also be the store's. A nil receipt
// finds nothing.
func (r *Receipt) Find(ctx context.Context, store table.Reader, now time.Time) error {
	if r == nil {
		return nil
	}
	row, err := table.Find(ctx, store, r.Key)
	if err != nil {
		return err
	}
	return r.Check(row, now)
}

// Once carries out a write that puts the receipt, unless it was carried out before: then it returns the row of the
// receipt. After a refusal it reads the receipt again, because a twin of the request may have run, and its effect may
// be the reason. Its errors are [ErrKeyReused], those of the store and those of the write. A nil receipt only writes.
func (r *Receipt) Once(
	ctx context.Context, store table.Reader, now func() time.Time, isRefusal func(error) bool, write func() error,
) (before item.Item, err error) {
	if err = r.Find(ctx, store, now()); err == nil {
		err = write()
		if err != nil && isRefusal(err) {
			if seen := r.Find(ctx, store, now()); seen != nil {
				err = seen
			}
		}
	}
	var replay *ReplayError
	if errors.As(err, &replay) {
		return replay.Receipt, nil
	}
	return nil, err
}
