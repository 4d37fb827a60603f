package transfer

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/table"
	"nexus/pkg/text"
)

// Bounds of a history in a file.
const (
	// maxEntries bounds the entries of one log: an account has at most a thousand.
	maxEntries = 10_000
	// maxRows bounds the rows of one revision: a tree has 2,000 nodes and four times as many edges.
	maxRows = 10_000
)

// adoption puts a revision with the caller's own actions.
type adoption func(ctx context.Context, own ...table.Action) error

// history reads the history of one repository of a file.
type history[S any] struct {
	*content
	repo    *revision.Repository[S]
	at      repository.Address
	dir     string
	read    func(rows [][]byte) (S, error)
	clean   func(l numberedLine, state S)
	equal   func(a, b S) bool
	adopted func(broken *revision.Violations, parent *S, c revision.Commit, state S) S
	// isPruned says that the history was pruned: the file has it without a gap from the revision oldest on, and before
	// that single ones.
	isPruned bool
	oldest   *revision.Commit
}

// visit calls the visitor for each revision, and remembers the head.
func (h *history[S]) visit(ctx context.Context, v visitor) error {
	commits, newest, err := h.log()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	parent, before := new(S), ""
	for _, c := range commits {
		if known[c.RevID] = true; c.ParentRevID != before {
			parent = nil // it was pruned
		}
		state, err := h.state(c, parent, known)
		if err != nil {
			return err
		}
		err = v.revision(ctx, adoptable{h.at, c, func(ctx context.Context, own ...table.Action) error {
			return h.repo.Adopt(ctx, h.at, c, state, own...)
		}})
		if err != nil {
			return err
		}
		parent, before = &state, c.RevID
	}
	for _, name := range h.file.names(h.dir) {
		if revID := strings.TrimSuffix(strings.TrimPrefix(name, h.dir), lines); name != h.dir+logFile && !known[revID] {
			return refuse(name, 0, "is of no entry of the log")
		}
	}
	head := newHead{at: h.at, commit: commits[len(commits)-1], oldest: h.oldest}
	// A head may name a revision that was pruned since. It says as much as one that names none.
	if h.dayBefore.ids[newest.RolledFromRevID] && isDayBefore(h.dayBefore.at, h.at) {
		head.rolledFrom = revision.Named{Repository: h.dayBefore.at, RevID: newest.RolledFromRevID}
	}
	h.heads, h.dayBefore = append(h.heads, head), revisions{h.at, known}
	return nil
}

// isDayBefore reports whether a plan is that of the day before another's.
func isDayBefore(before, after repository.Address) bool {
	day, err := item.ParseDate(before.Date)
	return err == nil && item.FormatDate(day.AddDate(0, 0, 1)) == after.Date
}

// log reads the entries, oldest first, and returns the newest line beside them.
func (h *history[S]) log() (commits []revision.Commit, newest logLine, err error) {
	for l, err := range h.file.lines(h.dir + logFile) {
		if err != nil {
			return nil, newest, err
		}
		switch {
		case len(commits) == maxEntries:
			return nil, newest, l.refuse("the log has more than %d entries", maxEntries)
		case newest.RolledFromRevID != "" || newest.OldestRevID != "":
			return nil, newest, l.refuse("the entry before has members that belong to the newest")
		}
		newest = logLine{}
		if err := decode(l.text, &newest); err != nil {
			return nil, newest, l.refuse("%v", err)
		}
		c, wrong := h.commit(l, newest)
		switch {
		case wrong != "":
			return nil, newest, l.refuse("%s", wrong)
		case len(commits) > 0 && !c.RevTs.After(commits[len(commits)-1].RevTs):
			return nil, newest, l.refuse("revTs must be later than that of the entry before")
		case c.RevTs.After(h.now.Add(skew + time.Duration(l.n)*time.Second)):
			return nil, newest, l.refuse("revTs must be a time that has passed")
		}
		commits = append(commits, c)
	}
	if len(commits) == 0 {
		return nil, newest, refuse(h.dir+logFile, 0, "has no entry")
	}
	return commits, newest, h.checkLine(commits, newest.OldestRevID)
}

// checkLine checks that each entry has the one before it for its parent: of a pruned history from its oldest one on.
func (h *history[S]) checkLine(commits []revision.Commit, oldest string) error {
	before := ""
	h.isPruned, h.oldest = oldest != "", nil
	for i, c := range commits {
		if c.RevID == oldest {
			h.oldest = &commits[i]
		} else if c.ParentRevID != before && (!h.isPruned || h.oldest != nil) {
			return refuse(h.dir+logFile, i+1, "parentRevId must be the entry before")
		}
		before = c.RevID
	}
	if h.isPruned && h.oldest == nil {
		return refuse(h.dir+logFile, len(commits), "oldestRevId must be an entry of the log")
	}
	return nil
}

// commit reads an entry by itself, and returns what is wrong with it.
func (h *history[S]) commit(l numberedLine, line logLine) (c revision.Commit, wrong string) {
	at, err := repository.RevisionTime(line.RevID)
	if err != nil {
		return c, "revId: " + err.Error()
	}
	c = revision.Commit{
		RevID: line.RevID, RevTs: at, CommittedAt: at, ParentRevID: line.ParentRevID, OriginRevID: line.OriginRevID,
		Message: h.replaced(l, "/message", line.Message, text.OneLine), Source: line.Source,
	}
	if h.at.Date != "" {
		c.Source = line.Reason
	}
	if line.CommittedAt != "" {
		if c.CommittedAt, err = item.ParseInstant(line.CommittedAt); err != nil {
			return c, "committedAt: " + err.Error()
		}
	}
	for _, id := range []string{line.ParentRevID, line.OriginRevID, line.RolledFromRevID, line.OldestRevID} {
		if id != "" && repository.CheckRevisionID(id) != nil {
			return c, "names a revision by what is no id of one"
		}
	}
	switch {
	case line.RevTs != item.FormatInstant(at):
		return c, "revTs must be the time in revId"
	case at.Year() < entity.MinYear || c.CommittedAt.Year() < entity.MinYear:
		return c, "its times are before the year 1900"
	case c.CommittedAt.After(h.now.Add(skew)):
		return c, "committedAt must be an instant that has passed"
	case (line.Source != "") == (h.at.Date != ""), (line.Reason != "") != (h.at.Date != ""):
		return c, "a revision of the tree has a source, and that of a plan a reason"
	case (c.Source == revision.SourceRollback) != (c.OriginRevID != ""), c.OriginRevID >= c.RevID:
		return c, "a rollback, and nothing else, names an earlier revision as its origin"
	case line.ParentRevID >= line.RevID:
		return c, "parentRevId must be an earlier revision"
	case line.RolledFromRevID != "" && h.at.Date == "":
		return c, "only a plan is rolled over"
	}
	return c, ""
}

// state reads the rows of a revision and checks them as a commit on its parent would.
func (h *history[S]) state(c revision.Commit, parent *S, known map[string]bool) (S, error) {
	state, err := h.rows(c.RevID, false)
	if err != nil {
		return state, err
	}
	if c.Source == revision.SourceRollback {
		if known[c.OriginRevID] {
			origin, err := h.rows(c.OriginRevID, true)
			if err != nil {
				return state, err
			}
			if !h.equal(origin, state) {
				return state, refuse(h.dir+c.RevID+lines, 0, "is not what the rollback restores")
			}
		}
		parent = nil // what a rollback restores need not follow from its parent
	}
	var broken revision.Violations
	state = h.adopted(&broken, parent, c, state)
	var rules *revision.RuleError
	if errors.As(broken.Err(), &rules) {
		return state, &FileError{Name: h.dir + c.RevID + lines, Fields: rules.Fields()}
	}
	return state, nil
}

// rows reads the state of a revision; of one that was read before it reports nothing again.
func (h *history[S]) rows(revID string, again bool) (state S, err error) {
	name := h.dir + revID + lines
	var rows [][]byte
	for l, err := range h.file.lines(name) {
		if err != nil {
			return state, err
		}
		if len(rows) == maxRows {
			return state, l.refuse("a revision has at most %d rows", maxRows)
		}
		rows = append(rows, bytes.Clone(l.text))
	}
	if state, err = h.read(rows); err != nil {
		return state, refuse(name, 0, "%v", err)
	}
	if again {
		defer func(cleaned func(numberedLine, string)) { h.cleaned = cleaned }(h.cleaned)
		h.cleaned = nil
	}
	h.clean(numberedLine{file: name}, state)
	return state, nil
}
