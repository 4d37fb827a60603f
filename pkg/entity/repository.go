package entity

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/item"
)

// Words in the keys of versioned repositories (docs/repositories.md).
const (
	repositoryPrefix = "U"
	valuesWord       = "VALUES"
	planWord         = "PLAN"
	headWord         = "HEAD"
	logWord          = "REV"
	draftWord        = "DRAFT"
)

// Repository addresses one versioned repository of a user: the values tree, or the plan of one day.
type Repository struct {
	User string
	// Date is the day of a plan, YYYY-MM-DD; empty for the values tree.
	Date string
}

func (r Repository) String() string {
	if r.Date == "" {
		return "values of " + r.User
	}
	return "plan of " + r.User + " for " + r.Date
}

// Check refuses an address that no repository has. Callers must check before they build a key of it. Both errors wrap
// [ErrID].
func (r Repository) Check() error {
	if err := CheckUserID(r.User); err != nil {
		return err
	}
	if r.Date == "" {
		return nil
	}
	if day, err := item.ParseDate(r.Date); err != nil || day.Year() < MinYear || day.Year() > MaxYear {
		return fmt.Errorf("%w: a plan's date is YYYY-MM-DD in the years %d to %d", ErrID, MinYear, MaxYear)
	}
	return nil
}

// RepositoryPK is the partition of a user's values repository and of the drafts of all their repositories.
func RepositoryPK(user string) string { return join(repositoryPrefix, user) }

// RepositoryPrefix begins the partitions of all of a user's other repository rows.
func RepositoryPrefix(user string) string { return RepositoryPK(user) + separator }

// LogPK is the partition that holds the head and the commit log.
func (r Repository) LogPK() string {
	if r.Date == "" {
		return RepositoryPK(r.User)
	}
	return join(repositoryPrefix, r.User, planWord, r.Date)
}

// HeadKey returns the key of the pointer to the present revision.
func (r Repository) HeadKey() item.Key {
	if r.Date == "" {
		return item.Key{PK: r.LogPK(), SK: join(headWord, valuesWord)}
	}
	return item.Key{PK: r.LogPK(), SK: headWord}
}

// LogPrefix begins the sort keys of all entries of the commit log.
func (r Repository) LogPrefix() string {
	if r.Date == "" {
		return join(logWord, valuesWord) + separator
	}
	return logWord + separator
}

// LogKey returns the key of a revision's entry in the commit log. The id contains the time that the key needs; it must
// have passed [CheckRevisionID].
func (r Repository) LogKey(revID string) item.Key {
	at, err := RevisionTime(revID)
	if err != nil {
		panic("entity: " + err.Error())
	}
	return item.Key{PK: r.LogPK(), SK: r.LogPrefix() + join(item.FormatInstant(at), revID)}
}

// LogUntil bounds the sort keys of the log's entries of an instant and all before it, both ends inclusive.
func (r Repository) LogUntil(at time.Time) (from, to string) {
	// The separator follows the instant, so the next character ends the instant's entries.
	return r.LogPrefix(), r.LogPrefix() + item.FormatInstant(at) + string(separator[0]+1)
}

// SnapshotPK is the partition of a revision's rows.
func (r Repository) SnapshotPK(revID string) string {
	if r.Date == "" {
		return join(repositoryPrefix, r.User, valuesWord, revID)
	}
	return join(repositoryPrefix, r.User, planWord, r.Date, revID)
}

// DraftKey returns the key of the row that announces a snapshot. The snapshot's rows are written before its revision
// is.
func (r Repository) DraftKey(revID string) item.Key {
	if r.Date == "" {
		return item.Key{PK: RepositoryPK(r.User), SK: join(draftWord, valuesWord, revID)}
	}
	return item.Key{PK: RepositoryPK(r.User), SK: join(draftWord, planWord, r.Date, revID)}
}

// DraftPrefix begins the sort keys of the drafts of all of a user's repositories.
func DraftPrefix() string { return draftWord + separator }

// RepositoryRow is the parsed key of a repository's row.
type RepositoryRow struct {
	Repository Repository
	Kind       RepositoryRowKind
	// RevisionID is the revision that the row belongs to; empty for a head.
	RevisionID string
}

// RepositoryRowKind distinguishes a repository's rows.
type RepositoryRowKind int

const (
	HeadRow RepositoryRowKind = iota
	LogRow
	DraftRow
	SnapshotRow
)

// ParseRepositoryRow reads the key of any row of a repository.
func ParseRepositoryRow(key item.Key) (RepositoryRow, error) {
	row, ok := parseRepositoryRow(key)
	if !ok || row.Repository.Check() != nil || row.RevisionID != "" && CheckRevisionID(row.RevisionID) != nil {
		return RepositoryRow{}, fmt.Errorf("key %q: not of a repository's row", key)
	}
	return row, nil
}

func parseRepositoryRow(key item.Key) (row RepositoryRow, ok bool) {
	pk, sk := strings.Split(key.PK, separator), strings.Split(key.SK, separator)
	if len(pk) < 2 || pk[0] != repositoryPrefix || pk[1] == "" {
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
func parseLogRow(row RepositoryRow, sk string) (RepositoryRow, bool) {
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
