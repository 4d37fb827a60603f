package query

import (
	"context"

	"nexus/pkg/entity"
)

// Backlinks returns a page of the entities that link to the target. [ErrNotFound] if the target does not exist.
func (s *Service) Backlinks(ctx context.Context, user string, target entity.Ref, limit int, cursor string) (Page, error) {
	return Page{}, nil
}
