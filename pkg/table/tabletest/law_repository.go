package tabletest

import (
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Attributes of repositories' rows.
const (
	attrHeadRevID  = "headRevId"
	attrRolledFrom = "rolledFromRevId"
	attrStatus     = "status"
	draftPruned    = "PRUNED"
)

// repository checks one write of a versioned repository's row against the rules that preserve history. A head moves
// only under the head that was read, an entry of the log is put once, and a snapshot never changes. The row of a
// plan's day stays. [Law.together] says what may be removed with what.
func (l *Law) repository(key item.Key, row repository.Row, a table.Action) {
	_, deletes := a.(table.Delete)
	switch row.Kind {
	case repository.HeadRow:
		u, moves := a.(table.Update)
		creates := moves && u.If.Row == table.RowMissing && !u.If.OrNoRow
		if !deletes && !creates && (!moves || !dependsOn(u.If, attrHeadRevID)) {
			l.breach(key, "a head is written without a condition on %s", attrHeadRevID)
		}
	case repository.LogRow:
		if p, puts := a.(table.Put); !deletes && (!puts || p.If.Row != table.RowMissing || p.If.OrNoRow) {
			l.breach(key, "an entry of the log is written otherwise than once")
		}
	case repository.DayRow:
		if _, puts := a.(table.Put); !deletes && !puts {
			l.breach(key, "the row of a plan's day is changed")
		}
	case repository.SnapshotRow:
		if _, updates := a.(table.Update); updates {
			l.breach(key, "a row of a snapshot is changed")
		}
	}
	if p, puts := a.(table.Put); puts {
		for name := range p.Item {
			if !camelCase.MatchString(name) && name != item.AttrPK && name != item.AttrSK {
				l.breach(key, "attribute %s: want camelCase, and no key of an index", name)
			}
		}
	}
}

// together checks what a repository's rows require of the other actions of their transaction.
func (l *Law) together(actions []table.Action) {
	with := map[item.Key]table.Action{}
	for _, a := range actions {
		with[a.Target()] = a
	}
	for _, a := range actions {
		row, err := repository.ParseRow(a.Target())
		if err != nil {
			continue
		}
		_, deletes := a.(table.Delete)
		switch {
		case row.Kind == repository.HeadRow:
			l.headWith(with, row.Repository, a)
		case row.Kind == repository.LogRow && deletes:
			l.entryRemoved(with, row)
		case row.Kind == repository.DayRow && deletes:
			if _, isWhole := with[row.Repository.HeadKey()].(table.Delete); !isWhole {
				l.breach(a.Target(), "the row of a plan's day is removed without the plan's head")
			}
		}
	}
}

// headWith requires the row of its day beside the first and the last write of a plan's head, and beside a new name of
// a revision that was rolled over the check that the revision is in its log.
func (l *Law) headWith(with map[item.Key]table.Action, at repository.Address, a table.Action) {
	puts, removesDay := true, true
	if at.Date != "" {
		_, puts = with[at.DayKey()].(table.Put)
		_, removesDay = with[at.DayKey()].(table.Delete)
	}
	switch a := a.(type) {
	case table.Update:
		if a.If.Row == table.RowMissing && !puts {
			l.breach(a.Key, "a plan begins without the row of its day")
		}
		if named := a.Set.Str(attrRolledFrom); named != "" {
			key := neighbour(at, -1).LogKey(named)
			if c, checks := with[key].(table.Check); !checks || c.If.Row != table.RowExists {
				l.breach(a.Key, "a head names a revision without the check that it is in its log")
			}
		}
	case table.Delete:
		if !dependsOn(a.If, attrHeadRevID) || !removesDay {
			l.breach(a.Key, "a head is removed without a condition on %s, or without the row of its day", attrHeadRevID)
		}
	}
}

// entryRemoved requires beside the removal of a log entry a draft that announces the rows, the head under the
// condition that it names another revision, and the check that no other head names this one.
func (l *Law) entryRemoved(with map[item.Key]table.Action, row repository.Row) {
	at, key := row.Repository, row.Repository.LogKey(row.RevisionID)
	draft, puts := with[at.DraftKey(row.RevisionID)].(table.Put)
	if !puts || draft.Item.Str(attrStatus) != draftPruned || draft.If.Row != table.RowMissing {
		l.breach(key, "an entry of the log is removed without a draft in the state %s", draftPruned)
	}
	switch head := with[at.HeadKey()].(type) {
	case table.Update:
		names := func(t table.Test) bool { return t.Attr == attrHeadRevID && t.Value != item.String(row.RevisionID) }
		if !anyTest(head.If, names) {
			l.breach(key, "an entry of the log is removed that the head may name")
		}
	case table.Delete: // the whole plan goes
	default:
		l.breach(key, "an entry of the log is removed without the head's condition")
	}
	next := neighbour(at, 1)
	if next.Date == "" || next.Check() != nil {
		return
	}
	check, checks := with[next.HeadKey()].(table.Check)
	isNamed := func(t table.Test) bool { return t.Attr == attrRolledFrom && t.Value == item.String(row.RevisionID) }
	knows := check.If.Row == table.RowMissing || dependsOn(check.If, attrRolledFrom)
	if !checks || !knows || anyTest(check.If, isNamed) {
		l.breach(key, "an entry of the log is removed that the next day's head may name")
	}
}

func anyTest(c table.Condition, holds func(table.Test) bool) bool {
	for _, t := range c.Tests {
		if holds(t) {
			return true
		}
	}
	return false
}

// neighbour returns the plan of so many days later; the address itself for the values tree.
func neighbour(at repository.Address, days int) repository.Address {
	if day, err := time.Parse(time.DateOnly, at.Date); err == nil {
		at.Date = day.AddDate(0, 0, days).Format(time.DateOnly)
	}
	return at
}
