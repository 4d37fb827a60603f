package limit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

const (
	// warned is the part of a quota, in percent, from which the user is warned and each use asks.
	warned = 80
	// small is the number below which each use of a quota asks: a tenth of it is less than what passes unasked.
	small = 1000
	// maxUnasked is the number of uses that an instance lets pass without asking, whatever it drew and keeps.
	maxUnasked = 100
)

// Quota counts what a user has of a limited thing.
type Quota struct {
	Name        string
	Limit, Used int
}

// IsFull reports whether there is no room for another one.
func (q Quota) IsFull() bool { return q.Used >= q.Limit }

// IsNear reports whether 80 percent are used.
func (q Quota) IsNear() bool { return q.Used*100 >= q.Limit*warned }

// QuotaError refuses what would need more than there is room for (409).
type QuotaError struct{ Quota }

func (e *QuotaError) Error() string {
	return fmt.Sprintf("quota %q is reached: %d of %d", e.Name, e.Used, e.Limit)
}

// Quota returns the quota with what was counted.
func (l *Limiter) Quota(name string, used int) Quota { return Quota{name, l.Numbers[name], used} }

// Check returns a [*QuotaError] if a quota that was counted has no room for another one.
func (l *Limiter) Check(name string, used int) error {
	if q := l.Quota(name, used); q.IsFull() {
		return &QuotaError{q}
	}
	return nil
}

// usage counts what an instance knows that a user has, by the quota's name.
type usage map[string]int

// Room returns a [*QuotaError] if one of the quotas has no room for another one, as far as the statistics and the
// [Counts] say. Each use asks of a number below 1,000, and each that follows an answer of 80 percent or more. Of the
// others one in ten asks, by the instance's own random number, and the one with which more than 100 of the user would
// pass unasked. A refusal, and room where less than 80 percent are used, are kept for a minute.
func (l *Limiter) Room(ctx context.Context, user string, names ...string) error {
	return l.RoomFor(ctx, user, 1, names...)
}

// RoomFor is [Limiter.Room] for one request that may make several. It is judged as one: it may change what is there.
func (l *Limiter) RoomFor(ctx context.Context, user string, several int, names ...string) error {
	return l.checkRoom(place{user: user}, several, names, func() (usage, error) { return l.read(ctx, user) })
}

// Count is [Limiter.Room] for a quota that no statistics have: the query finds the rows that count. Room is not kept: a
// minute may make a third of them.
func (l *Limiter) Count(ctx context.Context, user, name string, q table.Query) error {
	return l.checkRoom(place{user, name}, 1, []string{name}, func() (usage, error) {
		n, err := l.Store.Count(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("count for the quota %s: %w", name, err)
		}
		return usage{name: n}, nil
	})
}

// checkRoom judges the quotas by what is kept or, where that does not decide, by what ask returns.
func (l *Limiter) checkRoom(at place, uses int, names []string, ask func() (usage, error)) error {
	now := l.Now()
	used, decides := l.unasked(at, uses, names, now)
	if !decides {
		var err error
		if used, err = ask(); err != nil {
			return err
		}
		answer := memory{}
		if at.of == "" || l.isNear(used, names) {
			answer = memory{until: now.Add(maxKept), usage: used}
		}
		l.keep(at, answer)
	}
	for _, name := range names {
		if err := l.Check(name, used[name]); err != nil {
			return err
		}
	}
	return nil
}

// unasked returns what is kept, and whether it decides: it is a refusal, or this use need not ask.
func (l *Limiter) unasked(at place, uses int, names []string, now time.Time) (used usage, decides bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.known[at]
	left := kept.until.Sub(now)
	isFresh := 0 < left && left <= maxKept
	switch {
	case isFresh && l.isFull(kept.usage, names):
		return kept.usage, true
	case l.isSmall(names), l.isNear(kept.usage, names), kept.unasked+uses > maxUnasked, !isFresh && l.Sampled():
		return nil, false
	}
	kept.unasked += uses
	l.put(at, kept, now)
	return kept.usage, true
}

func (l *Limiter) isNear(used usage, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return l.Quota(name, used[name]).IsNear() })
}

func (l *Limiter) isFull(used usage, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return l.Quota(name, used[name]).IsFull() })
}

func (l *Limiter) isSmall(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return l.Numbers[name] < small })
}

// Near returns the quotas of which a user with this row of statistics has used 80 percent, by name.
func (l *Limiter) Near(meta item.Item) []Quota {
	var near []Quota
	used := usageOf(meta)
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if q := l.Quota(name, used[name]); q.IsNear() {
			near = append(near, q)
		}
	}
	return near
}

// read returns the user's totals as of a moment ago, and the counts.
func (l *Limiter) read(ctx context.Context, user string) (usage, error) {
	rows, err := l.Store.Peek(ctx, []item.Key{l.keys.Meta(user), l.keys.Count(user)})
	if err != nil {
		return nil, fmt.Errorf("read the totals: %w", err)
	}
	used := usage{}
	for _, row := range rows {
		some := usageOf(row)
		if row.Key() == l.keys.Count(user) {
			some = CountsOf(row).usage()
		}
		maps.Copy(used, some)
	}
	return used, nil
}

// usageOf returns the totals that the statistics keep.
func usageOf(meta item.Item) usage {
	stats := meta.Map(product.AttrStats)
	return usage{
		Content: int(stats.Int(product.StatTotalEvents) + stats.Int(product.StatTotalTasks) +
			stats.Int(product.StatTotalReminders)),
		Notes: int(stats.Int(product.StatTotalNotes)),
	}
}
