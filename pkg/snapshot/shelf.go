package snapshot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"nexus/pkg/blob"
)

const (
	// maxPiece is the size of a piece: a snapshot beyond it has several objects.
	maxPiece = 8 << 20
	// maxPieces bounds the pieces of a snapshot.
	maxPieces = 16
	// kept is how many snapshots stay: the newest, and the one before it for a reader that has just found its name.
	kept = 2
	// listed bounds the snapshots that are found at a time: those that writers beside each other may leave.
	listed = 8
)

// ErrDamaged says that an object is missing a part, or is not what was saved.
var ErrDamaged = errors.New("damaged snapshot")

// ErrTooLarge says that there is too much to save.
var ErrTooLarge = errors.New("snapshot too large")

// Shelf has the snapshots of one kind.
type Shelf struct {
	objects blob.Store
	kind    string
	form    uint32
	piece   int
}

// New returns the shelf of a kind, a word in lower case. Content of another form counts as damaged.
func New(objects blob.Store, kind string, form uint32) *Shelf {
	return &Shelf{objects, kind, form, maxPiece}
}

// Newest returns the user's snapshots without their content, that of the greatest row first, and at most [listed] of
// them. It removes objects whose names are none.
func (s *Shelf) Newest(ctx context.Context, user string) (all []At, err error) {
	heads := headsOf(user, s.kind)
	for after := ""; ; {
		names, err := s.objects.List(ctx, heads, listed, after)
		if err != nil {
			return nil, fmt.Errorf("list snapshots: %w", err)
		}
		for _, name := range names {
			after = name
			if at, ok := parse(strings.TrimPrefix(name, heads)); ok {
				all = append(all, at)
			} else {
				_ = s.objects.Delete(ctx, name) // it only stands in the way
			}
		}
		if len(names) < listed || len(all) > 0 {
			return all, nil
		}
	}
}

// header stands before the content in the first object.
//
//	form, pieces, second of its making, bytes of the content, checksum: each 4 bytes, the second and the bytes 8
const header = 4 + 4 + 8 + 8 + 4

// sum binds the content to its user, kind and row.
func (s *Shelf) sum(user string, at At, head, body []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Checksum([]byte(at.piece(user, s.kind, 0)), table)
	return crc32.Update(crc32.Update(sum, table, head), table, body)
}

// Load returns the content of a snapshot and when it was made. The error wraps [ErrDamaged] or [blob.ErrNotFound] if it
// must be made again; others are the store's.
func (s *Shelf) Load(ctx context.Context, user string, at At) (body []byte, made time.Time, err error) {
	first, err := s.objects.Get(ctx, at.piece(user, s.kind, 0))
	if err != nil {
		return nil, made, err
	}
	if len(first) < header {
		return nil, made, fmt.Errorf("%w: %d bytes", ErrDamaged, len(first))
	}
	head := first[:header-4]
	pieces, size := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint64(head[16:])
	if form := binary.BigEndian.Uint32(head); form != s.form || pieces < 1 || pieces > maxPieces {
		return nil, made, fmt.Errorf("%w: form %d, %d pieces", ErrDamaged, form, pieces)
	}
	body = first[header:]
	for n := 1; n < int(pieces); n++ {
		more, err := s.objects.Get(ctx, at.piece(user, s.kind, n))
		if err != nil {
			return nil, made, err
		}
		body = append(body, more...)
	}
	if uint64(len(body)) != size || binary.BigEndian.Uint32(first[header-4:]) != s.sum(user, at, head, body) {
		return nil, made, fmt.Errorf("%w: %d bytes of %d", ErrDamaged, len(body), size)
	}
	return body, time.Unix(int64(binary.BigEndian.Uint64(head[8:])), 0).UTC(), nil
}

// Save keeps the content. Of the snapshots that were there before, as [Shelf.Newest] returned them, the first stays.
// The first object comes last: without it the others are none. The error is [ErrTooLarge] or the store's.
func (s *Shelf) Save(
	ctx context.Context, user string, at At, body []byte, now time.Time, before ...At,
) error {
	pieces := max(1, (header+len(body)+s.piece-1)/s.piece)
	if pieces > maxPieces {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(body))
	}
	whole := make([]byte, header, header+len(body))
	binary.BigEndian.PutUint32(whole, s.form)
	binary.BigEndian.PutUint32(whole[4:], uint32(pieces))
	binary.BigEndian.PutUint64(whole[8:], uint64(now.Unix()))
	binary.BigEndian.PutUint64(whole[16:], uint64(len(body)))
	binary.BigEndian.PutUint32(whole[header-4:], s.sum(user, at, whole[:header-4], body))
	whole = append(whole, body...)
	for n := pieces - 1; n >= 0; n-- {
		part := whole[n*s.piece : min((n+1)*s.piece, len(whole))]
		if err := s.objects.Put(ctx, at.piece(user, s.kind, n), part); err != nil {
			return fmt.Errorf("save a snapshot: %w", err)
		}
	}
	before = slices.DeleteFunc(slices.Clone(before), func(old At) bool { return old == at }) // it was made again
	for _, old := range before[min(kept-1, len(before)):] {
		if err := s.Remove(ctx, user, old); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes a snapshot. The first object goes first: what is left of it is none.
func (s *Shelf) Remove(ctx context.Context, user string, at At) error {
	if err := s.objects.Delete(ctx, at.piece(user, s.kind, 0)); err != nil {
		return fmt.Errorf("remove a snapshot: %w", err)
	}
	names, err := s.objects.List(ctx, piecesOf(user, s.kind)+at.name(), maxPieces, "")
	if err != nil {
		return fmt.Errorf("remove a snapshot: %w", err)
	}
	for _, name := range names {
		if err := s.objects.Delete(ctx, name); err != nil {
			return fmt.Errorf("remove a snapshot: %w", err)
		}
	}
	return nil
}

// Life is how long a snapshot stays that is not replaced.
const Life = 30 * 24 * time.Hour

// EndOld removes the snapshots of all users that are older than [Life], as a rule of the bucket does in AWS. It returns
// how many objects it removed.
func EndOld(ctx context.Context, objects blob.Store, now time.Time) (removed int, err error) {
	for after := ""; ; {
		names, err := objects.List(ctx, Root, blob.MaxList, after)
		if err != nil {
			return removed, fmt.Errorf("end old snapshots: %w", err)
		}
		for _, name := range names {
			after = name
			is, err := isOld(ctx, objects, name, now)
			if err == nil && is {
				err = objects.Delete(ctx, name)
				removed++
			}
			if err != nil {
				return removed, fmt.Errorf("end old snapshots: %w", err)
			}
		}
		if len(names) < blob.MaxList {
			return removed, nil
		}
	}
}

// isOld reports whether an object is older than a snapshot lives, or has no time. A piece is as old as its first
// object, and old without one.
func isOld(ctx context.Context, objects blob.Store, name string, now time.Time) (bool, error) {
	first := name
	if of, piece, ok := strings.Cut(name, piecesMark); ok {
		first = of + "/" + piece[:strings.LastIndexByte(piece, '-')]
	}
	body, err := objects.Get(ctx, first)
	if errors.Is(err, blob.ErrNotFound) {
		return true, nil
	}
	if err != nil || len(body) < header {
		return err == nil, err
	}
	return now.Sub(time.Unix(int64(binary.BigEndian.Uint64(body[8:])), 0)) >= Life, nil
}
