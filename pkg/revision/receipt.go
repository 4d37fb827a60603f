package revision

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Receipt asks that a request be harmless to repeat for 24 hours. The zero Receipt asks for nothing.
type Receipt struct {
	// Key is the idempotency key, 1 to 255 printable characters.
	Key string
	// Request is what makes two requests the same; it has a JSON form.
	Request []any
}

const (
	// receiptRetention is how long a request is remembered under its key.
	receiptRetention = 24 * time.Hour
	maxKeyLength     = 255

	// attrFingerprint has the name that it has in the receipts of commands: they share the keys, and each refuses a key
	// that the other used.
	attrFingerprint = "fingerprint"
	attrRevIDs      = "revIds"
	receiptStatus   = "COMMITTED"
)

// receipt is how a request of a user is remembered.
type receipt struct {
	key         item.Key
	fingerprint string
}

// twinError ends an attempt that found its own request carried out already.
type twinError struct{ revIDs []string }

func (e *twinError) Error() string { return "the request was carried out before" }

// newReceipt returns nil if nothing is to be remembered.
func newReceipt(user string, r Receipt) (*receipt, error) {
	if r.Key == "" {
		return nil, nil
	}
	if !utf8.ValidString(r.Key) || utf8.RuneCountInString(r.Key) > maxKeyLength {
		return nil, ErrKey
	}
	for _, c := range r.Key {
		if !unicode.IsPrint(c) {
			return nil, ErrKey
		}
	}
	content, err := json.Marshal(r.Request)
	if err != nil {
		return nil, fmt.Errorf("fingerprint of the request: %w", err)
	}
	return &receipt{entity.ReceiptKey(user, digest([]byte(r.Key))), digest(content)}, nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// put is the action that writes the receipt, unless there is one in force. TTL removes rows days late, so a receipt past
// its ttl counts as none.
func (r *receipt) put(prepared []*Prepared, now time.Time) table.Put {
	row := r.key.Item()
	row[attrFingerprint] = item.String(r.fingerprint)
	row[entity.AttrStatus] = item.String(receiptStatus)
	row[entity.AttrTTL] = item.Int(now.Add(receiptRetention).Unix())
	var revIDs item.List
	for _, p := range prepared {
		revIDs = append(revIDs, item.String(p.commit.RevID))
	}
	row[attrRevIDs] = revIDs
	// entity.Lapsed holds from the second of the ttl on, so the second after now is the bound.
	return table.Put{Item: row, If: table.OrNoRow(table.Less(entity.AttrTTL, item.Int(now.Unix()+1)))}
}

// refused says what it means that the receipt could not be put.
func (r *receipt) refused(now time.Time) func(old item.Item) error {
	return func(old item.Item) error {
		if err := r.look(old, now); err != nil {
			return err
		}
		return fmt.Errorf("receipt %s: %w", r.key, table.ErrConflict) // it lapsed between the two clocks
	}
}

// look judges a row read under the receipt's key: a twinError if it is this request's, [ErrKeyReused] if it is another's,
// nil if there is none in force.
func (r *receipt) look(row item.Item, now time.Time) error {
	switch {
	case row == nil || entity.Lapsed(row, now):
		return nil
	case row.Str(attrFingerprint) != r.fingerprint:
		return ErrKeyReused
	}
	return &twinError{row.Strings(attrRevIDs)}
}

// check reads the receipt and judges it.
func (p *Publisher) check(ctx context.Context, r *receipt) error {
	if r == nil {
		return nil
	}
	row, err := p.store.Get(ctx, r.key)
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return fmt.Errorf("read receipt %s: %w", r.key, err)
	}
	return r.look(row, p.now())
}
