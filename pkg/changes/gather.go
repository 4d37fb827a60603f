package changes

import (
	"time"

	"nexus/pkg/change"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
)

// userChanges are the records of a batch that concern one user.
type userChanges struct {
	user string
	// wanted holds the greatest entry of each thing, in the order of the batch.
	wanted []changelog.Entry
	at     map[entity.Ref]int // of a thing, its position in wanted
	// late is the time of the oldest late record; nil if there is none.
	late    *time.Time
	records []recordOf

	appended  []changelog.Row
	openUntil time.Time
	err       error
}

// recordOf is one record with the thing that it changed.
type recordOf struct {
	index int
	thing entity.Ref
}

// gather groups the batch by user, and leaves out records of nothing that a log names.
func (c *Consumer) gather(batch []change.Change) []*userChanges {
	now := c.Now()
	index := map[string]*userChanges{}
	var users []*userChanges
	for i, ch := range batch {
		entry, ok := EntryOf(ch)
		if !ok {
			continue
		}
		u := index[ch.User]
		if u == nil {
			u = &userChanges{user: ch.User}
			index[ch.User] = u
			users = append(users, u)
		}
		u.want(entry)
		u.records = append(u.records, recordOf{i, entry.Ref})
		if since := ch.Created.Add(-clockSkew); now.Sub(ch.Created) > lateAfter && (u.late == nil || since.Before(*u.late)) {
			u.late = &since
		}
	}
	return users
}

// want adds the entry, unless a greater one of its thing is wanted.
func (u *userChanges) want(e changelog.Entry) {
	i, isWanted := u.at[e.Ref]
	switch {
	case !isWanted:
		if u.at == nil {
			u.at = map[entity.Ref]int{}
		}
		u.at[e.Ref] = len(u.wanted)
		u.wanted = append(u.wanted, e)
	case u.wanted[i].Compare(e) < 0:
		u.wanted[i] = e
	}
}

// setOutcomes sets the outcomes of the user's records. One whose thing needed no entry was a repetition.
func (u *userChanges) setOutcomes(outcomes []change.Outcome) {
	announced := map[entity.Ref]bool{}
	for _, row := range u.appended {
		for _, e := range row.Entries {
			announced[e.Ref] = true
		}
	}
	for _, r := range u.records {
		if u.err != nil {
			outcomes[r.index] = change.Outcome{Verdict: verdictOf(u.err), Err: u.err}
			continue
		}
		outcomes[r.index].Already = !announced[r.thing]
	}
}

// EntryOf returns the entry that a record requires; false for a record of a row that no log names, or of a damaged
// head.
func EntryOf(ch change.Change) (changelog.Entry, bool) {
	if ch.Type == nil {
		return headEntry(ch)
	}
	return changelog.Entry{Ref: ch.Ref, Version: ch.Version, Lapsing: ch.New.Has(entity.AttrTTL)}, true
}

// headEntry returns the entry of a repository's head. A removed head counts as a revision after the one that it named.
func headEntry(ch change.Change) (changelog.Entry, bool) {
	head := ch.New
	if head == nil {
		head = ch.Old
	}
	row, err := repository.ParseRow(ch.Key)
	revision := head.Str(repository.AttrHeadRevisionID)
	if err != nil || row.Kind != repository.HeadRow || repository.CheckRevisionID(revision) != nil {
		return changelog.Entry{}, false
	}
	if ch.New == nil {
		revision = repository.RemovalID(revision)
	}
	return changelog.Head(row.Repository, revision), true
}
