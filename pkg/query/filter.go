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
)

// maxText bounds the text that is looked for in titles, in characters.
const maxText = 200

// Filter keeps a part of a list. The zero Filter keeps all of it.
type Filter struct {
	// Tag is one that the entity has.
	Tag string
	// Text stands in the entity's title, without regard to case and to how Unicode composes a character.
	Text string
}

func (f Filter) check() error {
	if !utf8.ValidString(f.Text) || utf8.RuneCountInString(f.Text) > maxText {
		return refuse("q", "must have at most %d characters", maxText)
	}
	return nil
}

// params are what a cursor is bound to. Texts are compared in the folded form.
func (f Filter) params(fold func(string) string) []string { return []string{f.Tag, fold(f.Text)} }

// keeps returns what the filter keeps; nil if that is everything.
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

// both keeps what each of two filters keeps; nil keeps everything.
func both(a, b func(item.Item) bool) func(item.Item) bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(seen item.Item) bool { return a(seen) && b(seen) }
}

// isOverdue returns what tells the overdue tasks, by the rule by which statistics count them: open ones whose due time
// has come, floating ones by the clock on the wall of the user's zone. It is one read of USER_META.
func (s *Service) isOverdue(ctx context.Context, user string) (func(seen item.Item) bool, error) {
	meta, err := s.Me(ctx, user)
	if err != nil {
		return nil, err
	}
	zone, err := entity.LoadZone(meta.Str(product.AttrDefaultTzid))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", meta.Key(), err)
	}
	now := s.now().UTC().Truncate(time.Second)
	wall := item.Wall(now, zone)
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
