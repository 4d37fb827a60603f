package limit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// warned is the part of a quota, in percent, from which the user is warned and each use asks.
const warned = 80

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
// [Counts] say. One use in ten asks, by the instance's own random number; each asks that follows an answer of 80
// percent or more. A refusal, and room where less than 80 percent are used, are kept for a minute.
func (l *Limiter) Room(ctx context.Context, user string, names ...string) error {
	return l.checkRoom(place{user: user}, names, func() (usage, error) { return l.read(ctx, user) })
}

// Count is [Limiter.Room] for a quota that no statistics have: the query finds the rows that count. Room is not kept: a
// minute may make a third of them.
func (l *Limiter) Count(ctx context.Context, user, name string, q table.Query) error {
	return l.checkRoom(place{user, name}, []string{name}, func() (usage, error) {
		n, err := l.Store.Count(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("count for the quota %s: %w", name, err)
		}
		return usage{name: n}, nil
	})
}

// checkRoom judges the quotas by what is kept or, where that does not decide, by what ask returns.
func (l *Limiter) checkRoom(at place, names []string, ask func() (usage, error)) error {
	now := l.Now()
	l.mu.Lock()
	kept, known := l.known[at]
	l.mu.Unlock()
	used, left := kept.usage, kept.until.Sub(now)
	isFresh := known && 0 < left && left <= maxKept
	if !isFresh || !l.holds(used, names) {
		if !l.isNear(used, names) && !l.Sampled() {
			return nil
		}
		var err error
		if used, err = ask(); err != nil {
			return err
		}
		if at.of == "" || l.isNear(used, names) {
			l.keep(at, memory{until: now.Add(maxKept), usage: used})
		}
	}
	for _, name := range names {
		if err := l.Check(name, used[name]); err != nil {
			return err
		}
	}
	return nil
}

func (l *Limiter) isNear(used usage, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return l.Quota(name, used[name]).IsNear() })
}

// holds reports whether what is kept decides about these quotas: one is full, or none is near its limit.
func (l *Limiter) holds(used usage, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return l.Quota(name, used[name]).IsFull() }) ||
		!l.isNear(used, names)
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
