package query

import (
	"context"
	"slices"

	"nexus/pkg/changes/token"
)

// SnapshotQuery asks for everything that a user has.
type SnapshotQuery struct {
	// Types are the names of the types to follow; none for all.
	Types []string
	// Cursor continues a snapshot, with its types. Types beside it must be the same.
	Cursor string
}

// SnapshotPage ends a page of a snapshot. It has either Cursor, which leads to the next page, or Next at the end: the
// token from which [Service.Since] goes on.
type SnapshotPage struct{ Cursor, Next string }

const (
	// maxSnapshotPages bounds the snapshot pages that a user gets in a minute, and maxChecks the checks.
	maxSnapshotPages = 30
	maxChecks        = 1
	// maxSnapshotReads bounds the store's pages of 1 MB that are read for one page.
	maxSnapshotReads = 8
)

// Snapshot calls add for each thing of a page of the user's: first the settings and the heads of repositories, then the
// entities in the order of their sort keys. The page ends before the entity for which add returns false. All reads are
// consistent. The token is that of the log before the first page, and travels in the cursor, so whatever changes
// in between is in the first answer of [Service.Since]. A [*BusyError] says that the user has had too many pages, a
// [*ResetError] that the cursor's token is good no more: the client begins a new snapshot.
func (s *Service) Snapshot(
	ctx context.Context, user string, q SnapshotQuery, add func(Change) bool,
) (SnapshotPage, error) {
	if err := checkUser(user); err != nil {
		return SnapshotPage{}, err
	}
	types, err := s.typesOf(q.Types)
	if err != nil {
		return SnapshotPage{}, err
	}
	at, behind, err := s.resumeSnapshot(user, q, types)
	if err != nil {
		return SnapshotPage{}, err
	}
	if err := s.snapshots.take(user, s.now()); err != nil {
		return SnapshotPage{}, err
	}
	if q.Cursor == "" {
		if at, err = s.head(ctx, user, types); err != nil {
			return SnapshotPage{}, err
		}
		heads, err := s.heads(ctx, user, types, true)
		if err != nil {
			return SnapshotPage{}, err
		}
		for _, c := range heads {
			add(c)
		}
	} else if _, _, err := s.rowsBehind(ctx, user, at, 0, true); err != nil {
		return SnapshotPage{}, err // the token at the snapshot's end would be worth nothing
	}
	behind, more, err := s.walk(ctx, user, at.Types, behind, maxSnapshotReads, add)
	switch {
	case err != nil:
		return SnapshotPage{}, err
	case more:
		return SnapshotPage{Cursor: cursor{SK: behind, Token: at.String()}.encode(snapshotOf(user))}, nil
	}
	return SnapshotPage{Next: at.String()}, nil
}

func snapshotOf(user string) question { return question{user, "snapshot", nil} }

// resumeSnapshot returns the token of the cursor, and the sort key of the last row before its page; nothing at the
// beginning.
func (s *Service) resumeSnapshot(user string, q SnapshotQuery, types token.Types) (token.Token, string, error) {
	c, ok, err := decodeCursor(q.Cursor, snapshotOf(user))
	if err != nil || !ok {
		return token.Token{}, "", err
	}
	at, err := token.Parse(c.Token)
	isPlace := func(name string) bool { return c.SK == "" || isOfType(name, c.SK) }
	switch {
	case err != nil || at.Owner != token.OwnerOf(user) || !slices.ContainsFunc(s.registry.Collections(), isPlace):
		return token.Token{}, "", ErrCursor
	case len(q.Types) > 0 && !at.Types.Equal(types):
		return token.Token{}, "", ErrTypes
	}
	return at, c.SK, s.checkAge(at)
}
