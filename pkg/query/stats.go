package query

import (
	"context"
	"time"

	"nexus/pkg/entity"
)

// Stats are a user's statistics at an instant.
type Stats struct {
	AsOf time.Time
	// Totals are the statistics of USER_META; see the Stat names of pkg/entity.
	Totals entity.Item
	// UpcomingEvents start after AsOf, and OverdueTasks are open although their due time has passed.
	UpcomingEvents, OverdueTasks int
}

// Stats returns the statistics as of now.
func (s *Service) Stats(ctx context.Context, user string) (Stats, error) {
	return Stats{}, nil
}
