package transfer

import (
	"encoding/json"
	"fmt"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/revision"
)

// Form is the form of the files that this release writes and reads.
const Form = 1

// Names of the files.
const (
	manifestFile = "manifest.json"
	settingsFile = "settings.json"
	goneFile     = "gone.ndjson"
	itemsDir     = "items/"
	archiveDir   = "archive/"
	valuesDir    = "values/"
	plansDir     = "plans/"
	readableDir  = "readable/"
	logFile      = "log.ndjson"
	lines        = ".ndjson"
)

// Bounds of a file.
const (
	// maxLine is the length of a line in bytes. A row of the table has at most 400 KB, and JSON escapes a byte by two.
	maxLine = 1 << 20
	// linesPerFile is the number of lines of one file below items/ and archive/.
	linesPerFile = 10_000
	// maxManifest bounds the manifest, and maxFiles the files that it may list.
	maxManifest = 256 << 20
	maxFiles    = 1_000_000
)

// hidden is the member of a line that holds what the API does not show of an item.
const hidden = "_"

// hiddenMembers are its members.
type hiddenMembers struct {
	// EditVersion is the version that the last write of a user made, where the system has written since.
	EditVersion int64 `json:"editVersion,omitempty"`
	// ICalStamp is when another calendar wrote what the item says.
	ICalStamp string `json:"icalStamp,omitempty"`
	// Kept holds what another calendar says of the item and no field does.
	Kept string `json:"kept,omitempty"`
}

// Manifest says what is in a file.
type Manifest struct {
	Form int    `json:"form"`
	From string `json:"from"`
	To   string `json:"to"`
	// Counts has the number of entities by their type, and of the other things.
	Counts map[string]int `json:"counts"`
	Files  []File         `json:"files"`
	// LeftOut says what an account has that is not in the file, and why.
	LeftOut []LeftOut `json:"leftOut"`
	// Missing names what should be in the file and could not be read: items of which the row or the copy is damaged, and
	// revisions, by the names of their files without the end.
	Missing []Missing `json:"missing,omitempty"`
}

// File is one file of an archive.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines,omitempty"`
	SHA256 string `json:"sha256"`
}

// LeftOut is a kind of data that no export has.
type LeftOut struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Missing is one thing that could not be read.
type Missing struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Names of counts that are no types of entities.
const (
	countArchived  = "archived"
	countGone      = "gone"
	countValues    = "valuesRevisions"
	countPlans     = "plans"
	countRevisions = "planRevisions"
)

// goneLine is a line of gone.ndjson: an id that never comes back, and of an event that became a series the id of that.
type goneLine struct {
	ID       string `json:"id"`
	BecameID string `json:"becameId,omitempty"`
}

// logLine is a line of a log, as the API shows an entry. The source of a plan's revision is its reason.
type logLine struct {
	RevID       string `json:"revId"`
	RevTs       string `json:"revTs"`
	CommittedAt string `json:"committedAt,omitempty"` // if it differs from revTs
	ParentRevID string `json:"parentRevId,omitempty"`
	Message     string `json:"message,omitempty"`
	Source      string `json:"source,omitempty"`
	Reason      string `json:"reason,omitempty"`
	OriginRevID string `json:"originRevId,omitempty"`
	// RolledFromRevID of the newest entry is the revision that was last rolled over into this plan.
	RolledFromRevID string `json:"rolledFromRevId,omitempty"`
	// OldestRevID of the newest entry is the revision with which the unbroken part of a pruned history begins.
	OldestRevID string `json:"oldestRevId,omitempty"`
}

func lineOf(c revision.Commit, isPlan bool) logLine {
	l := logLine{
		RevID: c.RevID, RevTs: item.FormatInstant(c.RevTs), ParentRevID: c.ParentRevID, Message: c.Message,
		OriginRevID: c.OriginRevID,
	}
	if !c.CommittedAt.Equal(c.RevTs) {
		l.CommittedAt = item.FormatInstant(c.CommittedAt)
	}
	if isPlan {
		l.Reason = c.Source
	} else {
		l.Source = c.Source
	}
	return l
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("transfer: %v", err)) // only values of this package are encoded, which have a form
	}
	return text
}

func instant(t time.Time) string { return item.FormatInstant(t) }
