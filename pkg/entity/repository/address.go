// Package repository holds the keys and ids of versioned repositories: the values tree and the daily plans of a user.
// Package revision reads and writes their rows.
//
// It promises that each key that it builds can be parsed again, and that no two rows share a key. It must never know
// which attributes a row has, but the one by which a head names its revision.
package repository

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Words in the keys of versioned repositories (docs/repositories.md).
const (
	separator  = "#"
	userPrefix = "U"
	valuesWord = "VALUES"
	planWord   = "PLAN"
	headWord   = "HEAD"
	logWord    = "REV"
	draftWord  = "DRAFT"
)

// AttrHeadRevisionID is the attribute in which a head names the present revision.
const AttrHeadRevisionID = "headRevId"

// HeadPrefix begins the sort keys of all heads, and no other.
func HeadPrefix() string { return headWord }

// join builds a key under the rule of package entity: it panics if a component is empty or contains the separator.
func join(prefix string, components ...string) string {
	return entity.SortKey{Prefix: prefix, Components: components}.String()
}

// Address names one versioned repository of a user: the values tree, or the plan of one day.
type Address struct {
	User string
	// Date is the day of a plan, YYYY-MM-DD; empty for the values tree.
	Date string
}

// String names the repository by the user's partition, as errors name users: a log replaces the user of a key.
func (a Address) String() string {
	partition := userPrefix + separator + a.User // which may be no user id
	if a.Date == "" {
		return "values of " + partition
	}
	return "plan of " + partition + " for " + a.Date
}

// Check refuses an address that no repository has. Callers must check before they build a key of it. Both errors wrap
// [entity.ErrID].
func (a Address) Check() error {
	if err := entity.CheckUserID(a.User); err != nil {
		return err
	}
	if a.Date == "" {
		return nil
	}
	if day, err := item.ParseDate(a.Date); err != nil || day.Year() < entity.MinYear || day.Year() > entity.MaxYear {
		return fmt.Errorf("%w: a plan's date is YYYY-MM-DD in the years %d to %d", entity.ErrID, entity.MinYear,
			entity.MaxYear)
	}
	return nil
}

// Days around the present one of which a device shows plans. One more at each end covers the zones in which another day
// begins earlier or later than in UTC.
const (
	daysBack  = 30 + 1
	daysAhead = 90 + 1
)

// ShownDays returns the dates of which a device shows plans, in any zone.
func ShownDays(now time.Time) []string {
	dates := make([]string, 0, daysBack+1+daysAhead)
	for day := -daysBack; day <= daysAhead; day++ {
		dates = append(dates, item.FormatDate(now.UTC().AddDate(0, 0, day)))
	}
	return dates
}

// UserPK is the partition of a user's values repository and of the drafts of all their repositories.
func UserPK(user string) string { return join(userPrefix, user) }

// UserPrefix begins the partitions of all of a user's other repository rows.
func UserPrefix(user string) string { return UserPK(user) + separator }

// Owner returns the user in whose repositories the partition is; not ok if it is no partition of a repository.
func Owner(pk string) (user string, ok bool) {
	prefix, rest, ok := strings.Cut(pk, separator)
	user, _, _ = strings.Cut(rest, separator)
	if !ok || prefix != userPrefix || entity.CheckUserID(user) != nil {
		return "", false
	}
	return user, true
}

// LogPK is the partition that holds the head and the commit log.
func (a Address) LogPK() string {
	if a.Date == "" {
		return UserPK(a.User)
	}
	return join(userPrefix, a.User, planWord, a.Date)
}

// HeadKey returns the key of the pointer to the present revision.
func (a Address) HeadKey() item.Key {
	if a.Date == "" {
		return item.Key{PK: a.LogPK(), SK: join(headWord, valuesWord)}
	}
	return item.Key{PK: a.LogPK(), SK: headWord}
}

// LogPrefix begins the sort keys of all entries of the commit log.
func (a Address) LogPrefix() string {
	if a.Date == "" {
		return join(logWord, valuesWord) + separator
	}
	return logWord + separator
}

// LogKey returns the key of a revision's entry in the commit log. The id contains the time that the key needs; it must
// have passed [CheckRevisionID].
func (a Address) LogKey(revID string) item.Key {
	at, err := RevisionTime(revID)
	if err != nil {
		panic("repository: " + err.Error())
	}
	return item.Key{PK: a.LogPK(), SK: a.LogPrefix() + join(item.FormatInstant(at), revID)}
}

// LogUntil bounds the sort keys of the log's entries of an instant and all before it, both ends inclusive.
func (a Address) LogUntil(at time.Time) (from, to string) {
	// The separator follows the instant, so the next character ends the instant's entries.
	return a.LogPrefix(), a.LogPrefix() + item.FormatInstant(at) + string(separator[0]+1)
}

// SnapshotPK is the partition of a revision's rows.
func (a Address) SnapshotPK(revID string) string {
	if a.Date == "" {
		return join(userPrefix, a.User, valuesWord, revID)
	}
	return join(userPrefix, a.User, planWord, a.Date, revID)
}

// DraftKey returns the key of the row that announces a snapshot. The snapshot's rows are written before its revision
// is.
func (a Address) DraftKey(revID string) item.Key {
	if a.Date == "" {
		return item.Key{PK: UserPK(a.User), SK: join(draftWord, valuesWord, revID)}
	}
	return item.Key{PK: UserPK(a.User), SK: join(draftWord, planWord, a.Date, revID)}
}

// DraftPrefix begins the sort keys of the drafts of all of a user's repositories.
func DraftPrefix() string { return draftWord + separator }

// DayKey returns the key of the row that says that the day has a plan. No other row of the user's partition names it.
func (a Address) DayKey() item.Key {
	return item.Key{PK: UserPK(a.User), SK: join(planWord, a.Date)}
}

// DayPrefix begins the sort keys of these rows.
func DayPrefix() string { return planWord + separator }

// Row is the parsed key of a repository's row.
type Row struct {
	Repository Address
	Kind       RowKind
	// RevisionID is the revision that the row belongs to; empty for a head and a day.
	RevisionID string
}

// RowKind distinguishes a repository's rows.
type RowKind int

const (
	HeadRow RowKind = iota
	LogRow
	DraftRow
	SnapshotRow
	DayRow
)

// ParseRow reads the key of any row of a repository.
func ParseRow(key item.Key) (Row, error) {
	row, ok := parseRow(key)
	if !ok || row.Repository.Check() != nil || row.RevisionID != "" && CheckRevisionID(row.RevisionID) != nil {
		return Row{}, fmt.Errorf("key %q: not of a repository's row", key)
	}
	return row, nil
}

func parseRow(key item.Key) (row Row, ok bool) {
	pk, sk := strings.Split(key.PK, separator), strings.Split(key.SK, separator)
	if len(pk) < 2 || pk[0] != userPrefix || pk[1] == "" {
		return row, false
	}
	row.Repository.User = pk[1]
	switch rest := pk[2:]; {
	case len(rest) == 0 && sk[0] == draftWord:
		row.Kind = DraftRow
		if len(sk) == 4 && sk[1] == planWord {
			row.Repository.Date, row.RevisionID = sk[2], sk[3]
			return row, sk[2] != "" && sk[3] != ""
		}
		row.RevisionID = sk[len(sk)-1]
		return row, len(sk) == 3 && sk[1] == valuesWord && sk[2] != ""
	case len(rest) == 0 && sk[0] == planWord:
		row.Repository.Date, row.Kind = sk[len(sk)-1], DayRow
		return row, len(sk) == 2 && sk[1] != ""
	case len(rest) == 0:
		return parseLogRow(row, key.SK)
	case len(rest) == 2 && rest[0] == valuesWord:
		row.Kind, row.RevisionID = SnapshotRow, rest[1]
		return row, rest[1] != "" && key.SK != ""
	case len(rest) == 2 && rest[0] == planWord:
		row.Repository.Date = rest[1]
		if rest[1] == "" {
			return row, false
		}
		return parseLogRow(row, key.SK)
	case len(rest) == 3 && rest[0] == planWord:
		row.Repository.Date, row.Kind, row.RevisionID = rest[1], SnapshotRow, rest[2]
		return row, rest[1] != "" && rest[2] != "" && key.SK != ""
	}
	return row, false
}

// parseLogRow reads the sort key of a head or an entry of the log.
func parseLogRow(row Row, sk string) (Row, bool) {
	if sk == row.Repository.HeadKey().SK {
		row.Kind = HeadRow
		return row, true
	}
	rest, ok := strings.CutPrefix(sk, row.Repository.LogPrefix())
	instant, revID, cut := strings.Cut(rest, separator)
	if !ok || !cut {
		return row, false
	}
	at, err := RevisionTime(revID)
	row.Kind, row.RevisionID = LogRow, revID
	return row, err == nil && item.FormatInstant(at) == instant
}
