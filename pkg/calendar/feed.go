package calendar

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// secretBytes is the length of an address' secret: 256 bits, which nobody guesses.
const secretBytes = 32

// attrSecretHash of a FEED row is the SHA-256 of the secret.
const attrSecretHash = "secretHash"

// ErrNoFeed: there is no such address, or not any more.
var ErrNoFeed = errors.New("no such calendar address")

// MakeFeed gives the user a new secret address, [base64url of the user id].[secret], and revokes the one before. It is told
// this once: only its digest is kept.
func (s *Service) MakeFeed(ctx context.Context, user string) (address string, createdAt time.Time, err error) {
	if err := entity.CheckUserID(user); err != nil {
		return "", time.Time{}, fmt.Errorf("user: %w", err)
	}
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(s.Random, raw); err != nil {
		return "", time.Time{}, fmt.Errorf("make a secret: %w", err)
	}
	secret := base64.RawURLEncoding.EncodeToString(raw)
	createdAt = s.Now().UTC().Truncate(time.Second)
	key := entity.FeedKey(user)
	row := key.Item()
	row[attrSecretHash] = entity.String(hashOf(secret))
	row.SetTime(entity.AttrCreatedAt, createdAt)
	if err := s.Store.Put(ctx, table.Put{Item: row}); err != nil {
		return "", time.Time{}, fmt.Errorf("put %s: %w", key, err)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(user)) + "." + secret, createdAt, nil
}

// Feed tells since when the user has an address; [ErrNoFeed] if there is none.
func (s *Service) Feed(ctx context.Context, user string) (createdAt time.Time, err error) {
	if err := entity.CheckUserID(user); err != nil {
		return time.Time{}, fmt.Errorf("user: %w", err)
	}
	row, err := s.feedRow(ctx, user)
	createdAt, _ = row.Time(entity.AttrCreatedAt)
	return createdAt, err
}

func (s *Service) feedRow(ctx context.Context, user string) (entity.Item, error) {
	key := entity.FeedKey(user)
	row, err := s.Store.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		return nil, ErrNoFeed
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return row, nil
}

// RevokeFeed takes the address back. One that is not there is revoked already.
func (s *Service) RevokeFeed(ctx context.Context, user string) error {
	if err := entity.CheckUserID(user); err != nil {
		return fmt.Errorf("user: %w", err)
	}
	key := entity.FeedKey(user)
	if err := s.Store.Delete(ctx, table.Delete{Key: key}); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// UserOfFeed returns whose address it is; [ErrNoFeed] for one that is malformed, unknown or revoked alike.
func (s *Service) UserOfFeed(ctx context.Context, address string) (user string, err error) {
	encoded, secret, _ := strings.Cut(address, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil || entity.CheckUserID(string(raw)) != nil {
		return "", ErrNoFeed
	}
	row, err := s.feedRow(ctx, string(raw))
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare([]byte(row.Str(attrSecretHash)), []byte(hashOf(secret))) != 1 {
		return "", ErrNoFeed
	}
	return string(raw), nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
