package tabletest

import (
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// repository checks one write of a versioned repository's row against the rules that preserve history. A head moves
// only under the head that was read, an entry of the log is put once, and a snapshot never changes. The row of a
// plan's day stays.
func (l *Law) repository(key item.Key, row repository.Row, a table.Action) {
	switch row.Kind {
	case repository.HeadRow:
		u, moves := a.(table.Update)
		creates := moves && u.If.Row == table.RowMissing && !u.If.OrNoRow
		if !creates && (!moves || !dependsOn(u.If, attrHeadRevID)) {
			l.breach(key, "a head is written without a condition on %s", attrHeadRevID)
		}
	case repository.LogRow:
		if p, puts := a.(table.Put); !puts || p.If.Row != table.RowMissing || p.If.OrNoRow {
			l.breach(key, "an entry of the log is written otherwise than once")
		}
	case repository.DayRow:
		if _, puts := a.(table.Put); !puts {
			l.breach(key, "the row of a plan's day is changed or removed")
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

// days requires of a transaction that makes the head of a plan the row of its day.
func (l *Law) days(actions []table.Action) {
	put := map[item.Key]bool{}
	for _, a := range actions {
		if p, puts := a.(table.Put); puts {
			put[p.Item.Key()] = true
		}
	}
	for _, a := range actions {
		u, updates := a.(table.Update)
		row, err := repository.ParseRow(a.Target())
		isFirst := updates && err == nil && row.Kind == repository.HeadRow && u.If.Row == table.RowMissing
		if isFirst && row.Repository.Date != "" && !put[row.Repository.DayKey()] {
			l.breach(a.Target(), "a plan begins without the row of its day")
		}
	}
}

const attrHeadRevID = "headRevId"
