package limit

import (
	"fmt"
	"time"

	"nexus/pkg/item"
)

// attrCountedAt is the instant of a count, in milliseconds since 1970. The counts themselves are under the names of
// their quotas.
const attrCountedAt = "countedAt"

// Counts are how many a user has of what no total counts: [Exceptions], [Gone] and [Schedules]. A verification counts
// them, and keeps them in the user's row of counts.
type Counts struct{ Exceptions, Gone, Schedules int }

// CountsOf returns the counts that a row has; none for no row.
func CountsOf(row item.Item) Counts {
	return Counts{int(row.Int(Exceptions)), int(row.Int(Gone)), int(row.Int(Schedules))}
}

// Row returns the row under the key.
func (c Counts) Row(key item.Key, at time.Time) item.Item {
	row := key.Item()
	for name, n := range c.usage() {
		row[name] = item.Int(int64(n))
	}
	row[attrCountedAt] = item.Int(at.UnixMilli())
	return row
}

// String names the counts.
func (c Counts) String() string {
	return fmt.Sprintf("%s %d, %s %d, %s %d", Exceptions, c.Exceptions, Gone, c.Gone, Schedules, c.Schedules)
}

func (c Counts) usage() usage {
	return usage{Exceptions: c.Exceptions, Gone: c.Gone, Schedules: c.Schedules}
}

// CountedAt returns the name of the attribute by which one count differs from another, and its value in the row.
func CountedAt(row item.Item) (attr string, value item.Value) {
	return attrCountedAt, item.Int(row.Int(attrCountedAt))
}

// IsOff reports whether the counts are so far from those that were counted now that judging by them is wrong. That is
// more than a hundredth of a quota, of which one of both is at least a half: no other count comes near a refusal.
func (n Numbers) IsOff(kept, now Counts) bool {
	was := kept.usage()
	for name, is := range now.usage() {
		d := is - was[name]
		if max(d, -d) > n[name]/100 && 2*max(is, was[name]) >= n[name] {
			return true
		}
	}
	return false
}
