package revision

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/text"
)

// Rules about a commit itself.
const (
	RuleMessageMissing Rule = "message-missing"
	RuleMessageLong    Rule = "message-long"
	RuleMessageText    Rule = "message-text"
	RuleSourceUnknown  Rule = "source-unknown"
)

// maxMessage bounds a commit's message, in characters.
const maxMessage = 500

// Change is a revision to be made.
type Change[S any] struct {
	Message string
	Source  string
	// OriginRevID is the revision that a rollback restores.
	OriginRevID string
	// RolledFromRevID is the revision of the repository RolledFrom that is rolled over into this one; empty preserves the
	// head's value. It is in the log of that repository when the revision is published.
	RolledFrom      repository.Address
	RolledFromRevID string
	State           S
}

// Prepared is a new revision with its rows, ready to be published.
type Prepared struct {
	at         repository.Address
	head       Head
	commit     Commit
	rolledFrom string
	named      item.Key // of the log entry of that revision
	sourceAttr string
	rows       []item.Item
}

// Commit returns the revision's log entry; its CommittedAt is set once it was published.
func (p *Prepared) Commit() Commit { return p.commit }

// When returns the time of a revision made now from that head: later than the head's, so that history sorts.
func (p *Publisher) When(head Head) time.Time {
	now := p.now().UTC().Truncate(time.Second)
	if head.RevID == "" || now.After(head.RevTs) {
		return now
	}
	return head.RevTs.Add(time.Second)
}

// Prepare makes a revision of a change. The caller must have checked the rules of the state before.
func (r *Repository[S]) Prepare(base Base[S], at time.Time, c Change[S]) *Prepared {
	revID := repository.NewRevisionID(at, r.newID())
	rows := r.shape.Rows(base.Repository, revID, c.State)
	prepared := &Prepared{
		at: base.Repository, head: base.Head, rolledFrom: c.RolledFromRevID, sourceAttr: r.shape.SourceAttr, rows: rows,
		commit: Commit{
			RevID: revID, RevTs: at, ParentRevID: base.Head.RevID, Message: c.Message, Source: c.Source,
			OriginRevID: c.OriginRevID, Rows: len(rows),
		},
	}
	if c.RolledFromRevID != "" {
		prepared.named = c.RolledFrom.LogKey(c.RolledFromRevID)
	}
	return prepared
}

// CheckCommit records the faults of a client's message and source.
func (r *Repository[S]) CheckCommit(v *Violations, message, source string) {
	r.checkMessage(v, message)
	if !slices.Contains(r.shape.Sources, source) {
		v.Add(RuleSourceUnknown, "", "/"+r.shape.SourceAttr, "must be one of %s", strings.Join(r.shape.Sources, ", "))
	}
}

// CheckAdopted records the faults of the entry of a revision that was made elsewhere.
func (r *Repository[S]) CheckAdopted(v *Violations, c Commit) {
	if c.Source == SourceRollback {
		r.checkMessage(v, c.Message)
		return
	}
	r.CheckCommit(v, c.Message, c.Source)
}

func (r *Repository[S]) checkMessage(v *Violations, message string) {
	const pointer = "/" + attrMessage
	switch {
	case !utf8.ValidString(message):
		v.Add(RuleMessageText, "", pointer, "must be valid UTF-8")
	case text.CheckLine(message) != "":
		v.Add(RuleMessageText, "", pointer, "%s", text.CheckLine(message))
	case message == "" && r.shape.MessageRequired:
		v.Add(RuleMessageMissing, "", pointer, "must say what the revision is for")
	case utf8.RuneCountInString(message) > maxMessage:
		v.Add(RuleMessageLong, "", pointer, "must have at most %d characters", maxMessage)
	}
}
