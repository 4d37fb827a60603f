package calendar

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// secretBytes is the length of an address' secret: 256 bits, which cannot be guessed.
const secretBytes = 32

const (
	// attrSecretHash of a FEED row is the SHA-256 of the secret.
	attrSecretHash = "secretHash"
	// AttrPrivateAs of a FEED row is how the address shows PRIVATE or CONFIDENTIAL items; absent means [PrivateAsBusy].
	AttrPrivateAs = "privateAs"

	// receiptStatus is the status in the receipt of a request about the address.
	receiptStatus = "FEED"
)

// How a secret address shows events that are PRIVATE or CONFIDENTIAL: only their busy times, or as any other.
const (
	PrivateAsBusy = "BUSY"
	PrivateAsFull = "FULL"
)

// Feed describes a secret address.
type Feed struct {
	CreatedAt time.Time
	// PrivateAs is [PrivateAsBusy] or [PrivateAsFull].
	PrivateAs string
	// changed is when PrivateAs was changed last; zero if it never was.
	changed time.Time
}

func feedOf(row item.Item) Feed {
	f := Feed{PrivateAs: row.Str(AttrPrivateAs)}
	f.CreatedAt, _ = row.Time(entity.AttrCreatedAt)
	f.changed, _ = row.Time(entity.AttrUpdatedAt)
	if f.PrivateAs == "" {
		f.PrivateAs = PrivateAsBusy
	}
	return f
}

// ErrNoFeed says that there is no such address, or no longer.
var ErrNoFeed = errors.New("no such calendar address")

// MakeFeed gives the user a new secret address, [base64url of the user id].[secret], and revokes the previous one.
// Only this call returns it: only its digest is stored.
func (s *Service) MakeFeed(ctx context.Context, user, privateAs string) (address string, f Feed, err error) {
	if err := entity.CheckUserID(user); err != nil {
		return "", f, fmt.Errorf("user: %w", err)
	}
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(s.Random, raw); err != nil {
		return "", f, fmt.Errorf("make a secret: %w", err)
	}
	secret := base64.RawURLEncoding.EncodeToString(raw)
	key := entity.FeedKey(user)
	row := key.Item()
	row[attrSecretHash] = item.String(idempotency.Digest([]byte(secret)))
	if privateAs != "" {
		row[AttrPrivateAs] = item.String(privateAs)
	}
	row.SetTime(entity.AttrCreatedAt, s.Now().UTC().Truncate(time.Second))
	if err := s.Store.Put(ctx, table.Put{Item: row}); err != nil {
		return "", f, fmt.Errorf("put %s: %w", key, err)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(user)) + "." + secret, feedOf(row), nil
}

// Feed returns the description of the user's address; [ErrNoFeed] if there is none.
func (s *Service) Feed(ctx context.Context, user string) (Feed, error) {
	if err := entity.CheckUserID(user); err != nil {
		return Feed{}, fmt.Errorf("user: %w", err)
	}
	row, err := s.feedRow(ctx, user)
	return feedOf(row), err
}

// ChangeFeed sets how the user's address, which stays, shows private items; [ErrNoFeed] if there is none. A repetition
// under an idempotency key, "" for none, changes nothing and returns the address as it is now. Errors are also
// [idempotency.ErrKey] and [idempotency.ErrKeyReused].
func (s *Service) ChangeFeed(ctx context.Context, user, privateAs, key string) (f Feed, replayed bool, err error) {
	set := item.Item{AttrPrivateAs: item.String(privateAs)}
	set.SetTime(entity.AttrUpdatedAt, s.Now().UTC().Truncate(time.Second))
	replayed, err = s.once(ctx, user, key, []any{"changeFeed", privateAs}, table.Update{
		Key: entity.FeedKey(user), Set: set, If: table.Exists(),
	})
	if err == nil {
		f, err = s.Feed(ctx, user)
	}
	return f, replayed, err
}

// once makes a change of the row of the address and puts the receipt of the request in the same transaction: a
// repetition that is late must not change, or revoke, an address that was made since. [ErrNoFeed] if the change needs a
// row and there is none.
func (s *Service) once(
	ctx context.Context, user, key string, request []any, change table.Action,
) (replayed bool, err error) {
	if err := entity.CheckUserID(user); err != nil {
		return false, fmt.Errorf("user: %w", err)
	}
	receipt, err := idempotency.New(user, key, 0, request)
	if err != nil {
		return false, err
	}
	actions := []table.Action{change}
	if receipt != nil {
		actions = append(actions, receipt.Put(item.Item{entity.AttrStatus: item.String(receiptStatus)}, s.Now()))
	}
	isRefusal := func(err error) bool { return errors.Is(err, ErrNoFeed) }
	before, err := receipt.Once(ctx, s.Store, s.Now, isRefusal, func() error {
		err := s.Store.Transact(ctx, actions...)
		var failed *table.ConditionError
		if errors.As(err, &failed) {
			return ErrNoFeed // or the receipt is there, which is read again
		}
		if err != nil {
			return fmt.Errorf("change the address of the calendar: %w", err)
		}
		return nil
	})
	return before != nil, err
}

func (s *Service) feedRow(ctx context.Context, user string) (item.Item, error) {
	row, err := table.Find(ctx, s.Store, entity.FeedKey(user))
	if err == nil && row == nil {
		err = ErrNoFeed
	}
	return row, err
}

// RevokeFeed revokes the address. A missing one counts as revoked. A repetition under an idempotency key, "" for none,
// leaves an address that was made since. Errors are also [idempotency.ErrKey] and [idempotency.ErrKeyReused].
func (s *Service) RevokeFeed(ctx context.Context, user, key string) (replayed bool, err error) {
	return s.once(ctx, user, key, []any{"revokeFeed"}, table.Delete{Key: entity.FeedKey(user)})
}

// ExportFeed is [Service.Export] for a caller with the address, with private items as it shows them. It returns
// [ErrNoFeed] for a malformed, unknown or revoked address alike. Unless admit is nil, it asks admit about the user
// whose address it is, before it reads the calendar.
func (s *Service) ExportFeed(
	ctx context.Context, address string, part int, admit func(user string) error,
) (Export, error) {
	user, f, err := s.UserOfFeed(ctx, address)
	if err == nil && admit != nil {
		err = admit(user)
	}
	if err != nil {
		return Export{}, err
	}
	return s.export(ctx, user, part, f)
}

// isSecret reports whether a text has the form of an address's secret.
func isSecret(text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(raw) == secretBytes
}

// UserOfFeed returns the user and the description of an address. It returns [ErrNoFeed] for a malformed, unknown or
// revoked address alike.
func (s *Service) UserOfFeed(ctx context.Context, address string) (user string, f Feed, err error) {
	encoded, secret, _ := strings.Cut(address, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	// An address of another form costs no read: anybody may send as many as the gateway lets through.
	if err != nil || entity.CheckUserID(string(raw)) != nil || !isSecret(secret) {
		return "", f, ErrNoFeed
	}
	row, err := s.feedRow(ctx, string(raw))
	if err != nil {
		return "", f, err
	}
	if subtle.ConstantTimeCompare([]byte(row.Str(attrSecretHash)), []byte(idempotency.Digest([]byte(secret)))) != 1 {
		return "", f, ErrNoFeed
	}
	return string(raw), feedOf(row), nil
}
