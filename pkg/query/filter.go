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
	// Tag is one that the entity has, and of Tags it has one at least.
	Tag  string
	Tags []string
	// Text occurs in the entity's title, without regard to case and to how Unicode composes a character.
	Text string
}

func (f Filter) check() error {
	if !utf8.ValidString(f.Text) || utf8.RuneCountInString(f.Text) > maxText {
		return refuse("q", "must have at most %d characters", maxText)
	}
	return checkTags(f.Tags)
}

// checkTags bounds a list of tags.
func checkTags(tags []string) error {
	if len(tags) > maxTags {
		return refuse("tags", "must be at most %d", maxTags)
	}
	for _, tag := range tags {
		if tag == "" || utf8.RuneCountInString(tag) > maxTag {
			return refuse("tags", "each must have 1 to %d characters", maxTag)
		}
	}
	return nil
}

func (f Filter) isEmpty() bool { return f.Tag == "" && f.Text == "" && len(f.Tags) == 0 }

// params returns the values to which a cursor is bound. Texts are compared in the folded form.
func (f Filter) params(fold func(string) string) []string {
	return append([]string{f.Tag, fold(f.Text)}, slices.Sorted(slices.Values(f.Tags))...)
}

// keeps returns the filter as a function; nil if it selects everything.
func (f Filter) keeps(fold func(string) string) func(seen item.Item) bool {
	if f.isEmpty() {
		return nil
	}
	text := fold(f.Text)
	return func(seen item.Item) bool {
		if f.Tag != "" && !slices.Contains(seen.Strings(entity.AttrTags), f.Tag) {
			return false
		}
		if len(f.Tags) > 0 && !hasAnyTag(seen, f.Tags) {
			return false
		}
		return text == "" || strings.Contains(fold(seen.Str(entity.AttrTitle)), text)
	}
}

func hasAnyTag(seen item.Item, tags []string) bool {
	has := seen.Strings(entity.AttrTags)
	return slices.ContainsFunc(tags, func(tag string) bool { return slices.Contains(has, tag) })
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

// The dues by which tasks are selected.
const (
	DueOverdue = "overdue" // open ones whose due time has come
	DueToday   = "today"   // due on this day
	DueWeek    = "week"    // due in this week, which begins on the user's first weekday
	DueNone    = "none"    // without a due time
)

// Dues returns the dues by which tasks are selected.
func Dues() []string { return []string{DueOverdue, DueToday, DueWeek, DueNone} }

// isDue returns a test for tasks. It reads USER_META once: days are those of the user's zone. Overdue ones are those of
// the statistics: open ones whose due time has passed, floating ones by the latest reading of a clock there.
func (s *Service) isDue(ctx context.Context, user, due string) (func(seen item.Item) bool, error) {
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
	first := item.Wall(now, zone).Truncate(24 * time.Hour)
	behind := first.AddDate(0, 0, 1)
	if due == DueWeek {
		week := weekOf(first, product.Settings(meta).Int("weekStart"))
		first, behind = week[0], week[1].AddDate(0, 0, 1)
	}
	return func(seen item.Item) bool {
		at, floating, ok := product.TaskDue(seen)
		switch due {
		case DueNone:
			return !ok
		case DueToday, DueWeek:
			reading := at
			switch {
			case seen.Bool(product.AttrIsAllDay):
				reading = at.Add(-time.Second) // it is due at the end of its day
			case !floating:
				reading = item.Wall(at, zone)
			}
			return ok && !reading.Before(first) && reading.Before(behind)
		}
		if status := seen.Str(entity.AttrStatus); status != product.StatusBacklog && status != product.StatusInProgress {
			return false
		}
		if floating {
			return ok && !at.After(wall)
		}
		return ok && !at.After(now)
	}, nil
}
