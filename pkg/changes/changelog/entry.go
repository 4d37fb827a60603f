package changelog

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
)

// Types of the things in a log that are no entities: the heads of versioned repositories.
const (
	TypeValues = "VALUES"
	TypePlan   = "PLAN"
)

// ErrEntry says that a text is no entry.
var ErrEntry = errors.New("no entry of a change log")

// lapsing follows the version of an item that has a ttl.
const lapsing = "!"

// Entry says of one thing how far it has come at least. An entity, USER_META included, has its type, its id and a
// Version. The head of a repository has a RevisionID instead; its ID is the date of a plan, and empty for the values
// tree.
type Entry struct {
	entity.Ref
	// Version is that of the entity. A removal, by a user or by TTL, counts as the old version plus 1. 0 for a head.
	Version int64
	// Lapsing says that the entity has a ttl at this version, so it ends at an instant that the item names.
	Lapsing bool
	// RevisionID is the head's revision; empty for an entity.
	RevisionID string
}

// Head returns the entry of a repository whose head names the revision.
func Head(a repository.Address, revisionID string) Entry {
	if a.Date == "" {
		return Entry{Ref: entity.Ref{Type: TypeValues}, RevisionID: revisionID}
	}
	return Entry{Ref: entity.Ref{Type: TypePlan, ID: a.Date}, RevisionID: revisionID}
}

// IsHead reports whether the entry is of the head of a repository.
func (e Entry) IsHead() bool { return e.Type == TypeValues || e.Type == TypePlan }

// Compare returns which of two entries of one thing says more: below 0 if e says less, 0 if both say the same. The
// higher version says more; at the same version the lapsing one does. Of heads the greater revision id does, for it
// begins with the instant of the commit, which never goes back in a repository.
func (e Entry) Compare(other Entry) int {
	if c := cmp.Compare(e.Version, other.Version); c != 0 {
		return c
	}
	if e.Lapsing != other.Lapsing {
		if e.Lapsing {
			return 1
		}
		return -1
	}
	return strings.Compare(e.RevisionID, other.RevisionID)
}

// String returns the entry as rows hold it: "TASK task_… 3", "TASK task_… 3!", "VALUES rev_…" or
// "PLAN 2026-01-23 rev_…".
// USER_META has the user's id.
func (e Entry) String() string {
	switch e.Type {
	case TypeValues:
		return e.Type + " " + e.RevisionID
	case TypePlan:
		return e.Type + " " + e.ID + " " + e.RevisionID
	}
	text := e.Type + " " + e.ID + " " + strconv.FormatInt(e.Version, 10)
	if e.Lapsing {
		text += lapsing
	}
	return text
}

// ParseEntry is the inverse of [Entry.String]. It takes an unknown type as that of an entity, because a later release
// may have more. An error wraps [ErrEntry].
func ParseEntry(text string) (Entry, error) {
	e, ok := parseEntry(strings.Split(text, " "))
	if !ok || e.String() != text {
		return Entry{}, fmt.Errorf("%w: %.100q", ErrEntry, text)
	}
	return e, nil
}

func parseEntry(words []string) (e Entry, ok bool) {
	e.Type = words[0]
	switch {
	case e.Type == TypeValues && len(words) == 2:
		e.RevisionID = words[1]
		return e, repository.CheckRevisionID(e.RevisionID) == nil
	case e.Type == TypePlan && len(words) == 3:
		e.ID, e.RevisionID = words[1], words[2]
		_, err := item.ParseDate(e.ID)
		return e, err == nil && repository.CheckRevisionID(e.RevisionID) == nil
	case len(words) != 3 || e.IsHead() || e.Type == "" || words[1] == "":
		return e, false
	}
	e.ID = words[1]
	digits, lapses := strings.CutSuffix(words[2], lapsing)
	version, err := strconv.ParseInt(digits, 10, 64)
	e.Version, e.Lapsing = version, lapses
	return e, err == nil && version >= 0
}
