package local

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/schedule"
)

var _ schedule.Lister = (*Scheduler)(nil)

// Find implements [schedule.Lister]. A former call has no schedule.
func (s *Scheduler) Find(ctx context.Context, name string) (schedule.Schedule, error) {
	if err := ctx.Err(); err != nil {
		return schedule.Schedule{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.schedules[name]
	if e == nil {
		return schedule.Schedule{}, fmt.Errorf("find schedule %q: %w", name, schedule.ErrNotFound)
	}
	return e.schedule(), nil
}

// Each implements [schedule.Lister]. Visit may use the scheduler.
func (s *Scheduler) Each(ctx context.Context, prefix string, visit func(name string) error) error {
	s.mu.Lock()
	names := make([]string, 0, len(s.schedules))
	for name := range s.schedules {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	s.mu.Unlock()
	slices.Sort(names) // so that two runs visit them in the same order
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}
