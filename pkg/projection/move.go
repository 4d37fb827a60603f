package projection

import (
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

type action = table.Action

// Attributes of a ledger row.
const (
	attrVersion      = "v"
	attrContribution = "c"
)

const (
	// tombstoneLife is how long the ledger row of an item that contributes nothing stays.
	tombstoneLife = 30 * 24 * time.Hour
	// agedAfter is the age from which a record may have outlived the tombstone of its item, delivery being what it is.
	agedAfter = time.Hour
)

// move takes one item's contribution forward: the records of a batch for that item, folded.
type move struct {
	user    string
	ref     entity.Ref
	typ     *entity.Type
	records []int // their positions in the batch
	version int64
	from    string // the contribution the ledger is expected to hold
	to      string
	facts   facts
	// aged: a record in it is so old that the ledger row of a deleted item may be gone.
	aged bool

	// present: to and version are the item's state as read, and row is the ledger row as read (nil for none); the write
	// then depends on exactly that row.
	present bool
	row     item.Item

	state state
	err   error
	// already: the ledger had the records before this call; nothing but facts was left to be joined.
	already bool
}

type state int

const (
	pending state = iota
	needsItem
	done
	retry
	poison
)

func (s state) verdict() change.Verdict {
	switch s {
	case done:
		return change.Done
	case poison:
		return change.Poison
	default:
		return change.Retry
	}
}

// firstForm is the form of the rows that may be changed without having been read.
var firstForm = table.Missing(entity.AttrForm)

// condition is what the ledger row must be for the move to be applied as planned.
func (m *move) condition() table.Condition {
	if m.present {
		return asRead(m.row)
	}
	tests := []table.Test{
		table.Less(attrVersion, item.Int(m.version)),
		table.Equal(attrContribution, item.String(m.from)),
		firstForm,
	}
	if m.from == "" && !m.aged {
		return table.OrNoRow(tests...)
	}
	return table.Exists(tests...)
}

// ledgerRow is the row the move writes. A row with an empty contribution is a tombstone and expires; any other does
// not.
func (p *Projection) ledgerRow(m *move, now time.Time) item.Item {
	row := entity.LedgerKey(m.user, p.name, m.ref.ID).Item()
	row[attrVersion] = item.Int(m.version)
	row[attrContribution] = item.String(m.to)
	if m.to == "" {
		row[entity.AttrTTL] = item.Int(now.Add(tombstoneLife).Unix())
	}
	p.index(row, m.user, m.to)
	return row
}

// index gives a ledger row its place among what is counted when it is read.
func (p *Projection) index(row item.Item, user, c string) {
	if open := p.shape.ledgerIndex(c); open != "" {
		row[item.AttrGSI3PK] = item.String(entity.UserPK(user))
		row[item.AttrGSI3SK] = item.String(open)
	}
}

// replan decides how to go on when the ledger row was not as expected; row is what was there, nil for none.
func (m *move) replan(row item.Item) {
	switch {
	case m.present:
		m.state = needsItem // the item may have moved on with the row
	case row == nil:
		m.from = ""
		if m.aged {
			m.state = needsItem
		}
	case row.Int(attrVersion) >= m.version:
		m.state, m.already = done, true
	default:
		m.from = row.Str(attrContribution)
		if m.from == "" && m.aged {
			m.state = needsItem
		}
	}
}

// isPast says that the ledger row, nil for none, is at the records' version or beyond it: it has them, however old they
// are.
func (m *move) isPast(row item.Item) bool {
	return row != nil && row.Int(attrVersion) >= m.version
}

// resolvePresent plans from a ledger row that is not past and the item, as read after it; nil for either that is not
// there. The row is behind the records, and the item is not: versions never come back.
func (m *move) resolvePresent(p *Projection, row, it item.Item) {
	m.present, m.row, m.state = true, row, pending
	m.from = row.Str(attrContribution)
	if it == nil {
		m.to = ""
		return
	}
	m.follow(p, it)
}

// follow plans the move to the item's present state. An item that is there was never deleted, so its records can be
// believed: they are where its contribution is one that no row can hold.
func (m *move) follow(p *Projection, it item.Item) {
	to := p.contribution(m.typ, it)
	if p.refuses(m.user, m.ref.ID, to) != nil {
		return
	}
	m.to, m.version = to, it.Int(entity.AttrVersion)
	m.facts = m.facts.join(p.shape.facts(to))
}
