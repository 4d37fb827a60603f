package system

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/archive"
	"nexus/pkg/projection"
	"nexus/pkg/table"
)

// copiesPage is how many cold copies are listed at a time.
const copiesPage = 100

// countCopies returns what counts the items of which a user has only the cold copies, for the projections that keep
// what expires. An import brings such copies without a record. Each is counted as a repair would count it, so repeating
// changes nothing.
func (s *System) countCopies(store table.Store) func(ctx context.Context, user string) error {
	copies := archive.New(s.archiving(store))
	return func(ctx context.Context, user string) error {
		var start table.Position
		for {
			page, next, err := copies.List(ctx, user, copiesPage, start)
			if err != nil {
				return err
			}
			for _, c := range page {
				if err := s.countCopy(ctx, store, copies, user, c); err != nil {
					return err
				}
			}
			if start = next; len(start) == 0 {
				return nil
			}
		}
	}
}

func (s *System) countCopy(
	ctx context.Context, store table.Store, copies *archive.Archive, user string, c archive.Copy,
) error {
	t := s.registry.ByName(c.Ref.Type)
	if t == nil || len(t.Outlives) == 0 {
		return nil
	}
	it, err := copies.Item(ctx, user, c)
	if errors.Is(err, archive.ErrNoCopy) || errors.Is(err, archive.ErrForeign) {
		return nil // restored since, or lost: a verification names that
	}
	if err != nil {
		return fmt.Errorf("read the copy of %s: %w", c.Ref, err)
	}
	for _, p := range s.projections {
		if !p.Keeps() || !p.Contributes(t, it) {
			continue
		}
		err := projection.NewConsumer(p, store, s.ports.Now).Repair(ctx, projection.Evidence{
			User: user, Type: t, Ref: c.Ref, Copy: it,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
