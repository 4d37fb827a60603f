package revision

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
)

// Attributes of heads and log entries. Each kind of repository names its source attribute.
const (
	attrHeadRevID   = repository.AttrHeadRevisionID
	attrHeadRevTs   = "headRevTs"
	attrRolledFrom  = "rolledFromRevId"
	attrOldestRevID = "oldestRevId"
	attrPrunedUntil = "prunedUntil"
	attrRevID       = "revId"
	attrRevTs       = "revTs"
	attrParentRevID = "parentRevId"
	attrOriginRevID = "originRevId"
	attrMessage     = "message"
	attrCommittedAt = "committedAt"
	attrRows        = "rows"
)

// SourceRollback is the source of a revision that restores an earlier one.
const SourceRollback = "rollback"

// Head is the pointer of a repository; the zero Head is that of a repository without a revision.
type Head struct {
	RevID string
	RevTs time.Time
	// RolledFromRevID is the revision of another repository that was last rolled over into this one; it stays when the
	// head moves.
	RolledFromRevID string
	UpdatedAt       time.Time
	// OldestRevID is the revision with which the unbroken part of a pruned history begins, and PrunedUntil its
	// CommittedAt; both zero if nothing was pruned.
	OldestRevID string
	PrunedUntil time.Time
}

// Commit is one entry of the log.
type Commit struct {
	RevID string
	// RevTs is the time of the commit, in whole seconds: later than its parent, if necessary ahead of the clock.
	RevTs time.Time
	// CommittedAt is when the head moved, in whole seconds. It differs from RevTs in a burst of commits, where RevTs runs
	// ahead of the clock, and after a snapshot that took long to write.
	CommittedAt time.Time
	// ParentRevID is the revision before it; empty for the first.
	ParentRevID string
	Message     string
	// Source names the origin of the revision.
	Source string
	// OriginRevID is the revision that a rollback restores.
	OriginRevID string
	// Rows is the number of rows in its snapshot.
	Rows int
}

// Revision is a commit with its state.
type Revision[S any] struct {
	Commit
	State S
}

func readHead(row item.Item) (Head, error) {
	if row == nil {
		return Head{}, nil
	}
	head := Head{
		RevID: row.Str(attrHeadRevID), RolledFromRevID: row.Str(attrRolledFrom), OldestRevID: row.Str(attrOldestRevID),
	}
	at, err := repository.RevisionTime(head.RevID)
	if err != nil {
		return Head{}, fmt.Errorf("head %s: %w: %w", row.Key(), ErrBroken, err)
	}
	head.RevTs = at
	head.UpdatedAt, _ = row.Time(entity.AttrUpdatedAt)
	head.PrunedUntil, _ = row.Time(attrPrunedUntil)
	return head, nil
}

func (c Commit) row(at repository.Address, sourceAttr string) item.Item {
	row := at.LogKey(c.RevID).Item()
	if !c.CommittedAt.Equal(c.RevTs) {
		row.SetTime(attrCommittedAt, c.CommittedAt)
	}
	row[attrRevID] = item.String(c.RevID)
	row[attrRevTs] = item.String(item.FormatInstant(c.RevTs))
	row[attrRows] = item.Int(int64(c.Rows))
	row[sourceAttr] = item.String(c.Source)
	for name, value := range map[string]string{
		attrParentRevID: c.ParentRevID, attrOriginRevID: c.OriginRevID, attrMessage: c.Message,
	} {
		if value != "" {
			row[name] = item.String(value)
		}
	}
	return row
}

func readCommit(row item.Item, sourceAttr string) (Commit, error) {
	c := Commit{
		RevID: row.Str(attrRevID), ParentRevID: row.Str(attrParentRevID), Message: row.Str(attrMessage),
		Source: row.Str(sourceAttr), OriginRevID: row.Str(attrOriginRevID), Rows: int(row.Int(attrRows)),
	}
	at, err := repository.RevisionTime(c.RevID)
	if err != nil {
		return Commit{RevID: inKey(row)}, fmt.Errorf("log entry %s: %w: %w", row.Key(), ErrBroken, err)
	}
	c.RevTs, c.CommittedAt = at, at
	if moved, apart := row.Time(attrCommittedAt); apart {
		c.CommittedAt = moved
	}
	return c, nil
}

// inKey returns the id of the revision in the key of its log entry.
func inKey(row item.Item) string {
	sk := row.Str(item.AttrSK)
	return sk[strings.LastIndexByte(sk, '#')+1:]
}

// lacks reports whether a revision is older than the unbroken part of a pruned history. The id must have passed
// [repository.CheckRevisionID].
func (h Head) lacks(revID string) bool {
	if h.OldestRevID == "" {
		return false
	}
	at, err := repository.RevisionTime(revID)
	oldest, errOldest := repository.RevisionTime(h.OldestRevID)
	return err == nil && errOldest == nil && at.Before(oldest)
}
