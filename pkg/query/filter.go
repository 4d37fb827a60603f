package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

// maxText bounds the text that is searched for in titles, in characters.
const maxText = 200

// Filter selects a part of a list. The zero Filter selects all of it.
type Filter struct {
	// Tag is one that the entity has.
	Tag string
	// Text occurs in the entity's title, without regard to case and to how Unicode composes a character.
	Text string
}

func (f Filter) check() error {
	if !utf8.ValidString(f.Text) || utf8.RuneCountInString(f.Text) > maxText {
		return refuse("q", "must have at most %d characters", maxText)
	}
	return nil
}

// params returns the values to which a cursor is bound. Texts are compared in the folded form.
func (f Filter) params(fold func(string) string) []string { return []string{f.Tag, fold(f.Text)} }

// keeps returns the filter as a function; nil if it selects everything.
func (f Filter) keeps(fold func(string) string) func(seen item.Item) bool {
	if f == (Filter{}) {
		return nil
	}
	text := fold(f.Text)
	return func(seen item.Item) bool {
		if f.Tag != "" && !slices.Contains(seen.Strings(entity.AttrTags), f.Tag) {
			return false
		}
		return text == "" || strings.Contains(fold(seen.Str(entity.AttrTitle)), text)
	}
}

// both combines two filters; nil selects everything.
func both(a, b func(item.Item) bool) func(item.Item) bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(seen item.Item) bool { return a(seen) && b(seen) }
}

// isOverdue returns a test for overdue tasks, by the rule of the statistics: open ones whose due time has passed,
// floating ones by the latest reading of a clock in the user's zone. It reads USER_META once.
func (s *Service) isOverdue(ctx context.Context, user string) (func(seen item.Item) bool, error) {
	meta, err := s.Me(ctx, user)
	if err != nil {
		return nil, err
	}
	zone, err := wallclock.LoadLocation(meta.Str(product.AttrDefaultTzid))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", meta.Key(), err)
	}
	now := s.now().UTC().Truncate(time.Second)
	wall := item.LatestWall(now, zone)
	return func(seen item.Item) bool {
		if status := seen.Str(entity.AttrStatus); status != product.StatusBacklog && status != product.StatusInProgress {
			return false
		}
		at, floating, ok := product.TaskDue(seen)
		if floating {
			return ok && !at.After(wall)
		}
		return ok && !at.After(now)
	}, nil
}
