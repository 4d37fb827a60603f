package query

import (
	"context"
	"crypto/sha256"
	"fmt"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// Check says what a client's copy must hold if it is complete.
type Check struct {
	// Count is the number of things, and Digest the XOR of the first 16 bytes of SHA-256 of the greatest entry of each,
	// as [changelog.Entry.String] has it. The heads of plans are in neither.
	Count  int
	Digest [16]byte
	// Next is the token of the log before the things were read.
	Next string
}

// maxCheckReads bounds the store's pages of 1 MB that a check reads.
const maxCheckReads = 500

// Check walks over all that the user has of the types; none for all. It is for doubt: it reads all entities, about
// 1,250 read units for the items of a year. A [*BusyError] says that the user has just had one.
func (s *Service) Check(ctx context.Context, user string, names []string) (Check, error) {
	if err := checkUser(user); err != nil {
		return Check{}, err
	}
	types, err := s.typesOf(names)
	if err != nil {
		return Check{}, err
	}
	if err := s.checks.take(user, s.now()); err != nil {
		return Check{}, err
	}
	at, err := s.head(ctx, user, types)
	if err != nil {
		return Check{}, err
	}
	heads, err := s.heads(ctx, user, types, false)
	if err != nil {
		return Check{}, err
	}
	out := Check{Next: at.String()}
	for _, c := range heads {
		out.add(c.entry())
	}
	_, more, err := s.walk(ctx, user, types, "", maxCheckReads, func(c Change) bool {
		out.add(c.entry())
		return true
	})
	if more {
		err = fmt.Errorf("check %s: %w", entity.UserPK(user), table.ErrTooMany)
	}
	return out, err
}

func (c *Check) add(e changelog.Entry) {
	c.Count++
	sum := sha256.Sum256([]byte(e.String()))
	for i := range c.Digest {
		c.Digest[i] ^= sum[i]
	}
}
