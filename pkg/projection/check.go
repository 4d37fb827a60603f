package projection

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Evidence holds the rows of one item that concern a projection.
type Evidence struct {
	User   string
	Type   *entity.Type
	Ref    entity.Ref
	Item   item.Item   // nil if it is gone
	Ledger item.Item   // nil if there is none
	Rows   []item.Item // of a projection of rows: all whose source is the item
	// Of an item that has left, for a projection that keeps what expires: its rows, and what its cold copy holds, if that
	// was read. Nil is missing.
	Gone, Cold, Copy item.Item
}

// Fault is one row that differs from what the items require.
type Fault struct {
	Key      item.Key
	Is, Want string
	name     string // of the number or text, in a row that holds a sum
}

// IsAlike reports whether two reads of a changing row show the same fault.
func (f Fault) IsAlike(other Fault) bool { return f.Key == other.Key && f.name == other.name }

const noRow = "no row"

// Summed reports whether the projection is a sum in one row per user.
func (p *Projection) Summed() bool {
	_, isSum := p.shape.(*SumSpec)
	return isSum
}

// RowsPrefix begins the sort keys of all rows whose source is of the type; the source's id and more follow it. It is
// empty for a sum.
func (p *Projection) RowsPrefix(typeName string) string {
	return p.shape.prefix(typeName)
}

func (s *RowsSpec) prefix(typeName string) string { return s.Prefix(typeName) }
func (*SumSpec) prefix(string) string             { return "" }
func (*IndexSpec) prefix(string) string           { return "" }

// Contributes reports whether an image contributes anything.
func (p *Projection) Contributes(t *entity.Type, it item.Item) bool {
	return p.contribution(t, it) != ""
}

// Check returns the faults of an item's ledger row, and of the rows of which it is the source. While the stream runs,
// the evidence was not read at one instant: a fault is then only a suspicion.
func (p *Projection) Check(e Evidence) []Fault {
	want, known := p.wanted(e)
	if !known {
		want = e.Ledger.Str(attrContribution)
	}
	key := entity.LedgerKey(e.User, p.name, e.Ref.ID)
	if isStaged(e.Ledger) {
		return append([]Fault{{Key: key, Is: "staged by a repair that has not ended", Want: p.showWanted(want)}},
			p.shape.checkRows(e, want)...)
	}
	if err := entity.CheckForm(e.Ledger, entity.AttrForm); err != nil { // its content is unknown
		return []Fault{{Key: key, Is: err.Error(), Want: "verified by that release"}}
	}
	if err := p.refuses(e.User, e.Ref, want); err != nil { // a repair leaves nothing of it, and the difference remains
		return append([]Fault{{Key: key, Is: p.showLedger(e.Ledger), Want: err.Error()}}, p.shape.checkRows(e, "")...)
	}
	var faults []Fault
	if is, should := p.showLedger(e.Ledger), p.showWanted(want); is != should && (e.Ledger != nil || want != "") {
		faults = append(faults, Fault{Key: key, Is: is, Want: should})
	}
	return append(faults, p.shape.checkRows(e, want)...)
}

// wanted returns what an item has to contribute by the evidence. Not known says that nothing tells.
func (p *Projection) wanted(e Evidence) (c string, known bool) {
	rest := left{e.Gone, e.Cold}
	switch {
	case e.Item != nil || !p.Keeps():
		return p.contribution(e.Type, e.Item), true
	case !rest.expired():
		return "", true
	case entity.CheckForm(e.Cold, entity.AttrForm) != nil:
		return "", false
	case e.Copy != nil:
		return p.contribution(e.Type, e.Copy), true
	}
	return p.outlived(e.Type, e.Cold)
}

// showLedger returns the valid content of a ledger row without its version, which most changes leave behind the
// item's.
func (p *Projection) showLedger(row item.Item) string {
	if row == nil {
		return noRow
	}
	return showContribution(row.Str(attrContribution), row.Has(entity.AttrTTL), row.Str(item.AttrGSI3SK))
}

func (p *Projection) showWanted(c string) string {
	return showContribution(c, c == "", p.shape.ledgerIndex(c))
}

func showContribution(c string, expires bool, index string) string {
	text := strings.ReplaceAll(c, "\n", " ")
	if c == "" {
		text = "nothing"
	}
	if expires {
		text += ", expires"
	}
	if index != "" {
		text += ", at " + index
	}
	return text
}

func (s *RowsSpec) checkRows(e Evidence, want string) []Fault {
	if s.Prefix(e.Ref.Type) == "" {
		return nil
	}
	missing := s.wantedRows(e.User, e.Ref, want)
	var faults []Fault
	for _, row := range e.Rows {
		wanted, ok := missing[row.Key()]
		delete(missing, row.Key())
		switch {
		case !ok:
			faults = append(faults, Fault{Key: row.Key(), Is: "there", Want: noRow})
		case !wanted.Equal(row):
			faults = append(faults, Fault{Key: row.Key(), Is: show(row), Want: show(wanted)})
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(missing), item.Key.Compare) {
		faults = append(faults, Fault{Key: key, Is: noRow, Want: "there"})
	}
	return faults
}

func (*SumSpec) checkRows(Evidence, string) []Fault   { return nil }
func (*IndexSpec) checkRows(Evidence, string) []Fault { return nil }

// wantedRows returns the rows of a contribution by their keys.
func (s *RowsSpec) wantedRows(user string, source entity.Ref, c string) map[item.Key]item.Item {
	out := map[item.Key]item.Item{}
	for _, edge := range edgesOf(c) {
		row := s.Row(user, source, edge)
		out[row.Key()] = row
	}
	return out
}

func show(row item.Item) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if name != item.AttrPK && name != item.AttrSK {
			parts = append(parts, fmt.Sprintf("%s=%v", name, row[name]))
		}
	}
	return strings.Join(parts, " ")
}

// Tally adds up ledger rows.
type Tally struct {
	spec    *SumSpec
	target  item.Item // the sum's row, as it was read before the ledger's
	total   *delta
	largest int64 // the largest amount that any row adds to any number, without sign; at least 1
	// ahead is the pending entry of the sum's row as long as its own row is not among those added.
	ahead *pendingEntry
	key   item.Key // of that row
}

// NewTally returns an empty tally. It panics for a projection that is no sum.
func (p *Projection) NewTally() *Tally {
	return &Tally{spec: p.sum(), total: newDelta(), largest: 1}
}

// sum returns the spec of a sum. It panics for a projection of rows.
func (p *Projection) sum() *SumSpec {
	spec, isSum := p.shape.(*SumSpec)
	if !isSum {
		panic("projection: " + p.name + " is no sum")
	}
	return spec
}

// TallyUnder returns an empty tally for the rows of a user whose sum's row was read before them: its pending entry
// counts, whether or not its own row exists yet.
func (p *Projection) TallyUnder(user string, target item.Item) *Tally {
	t := p.NewTally()
	t.target = target
	if e, ok := t.spec.pendingEntry(user, target); ok {
		t.ahead, t.key = &e, entity.LedgerKey(user, p.name, e.item)
	}
	return t
}

// Add counts a ledger row.
func (t *Tally) Add(row item.Item) {
	if t.ahead != nil && row.Key() == t.key {
		if !t.ahead.isIn(row) {
			return // the pending entry replaces it
		}
		t.ahead = nil
	}
	_, contribution := t.spec.counted(t.target, row)
	t.add(contribution)
}

// finish counts the pending entry, if its row was not added.
func (t *Tally) finish() {
	if t.ahead != nil {
		t.add(t.ahead.contribution)
		t.ahead = nil
	}
}

func (t *Tally) add(c string) {
	amounts := amountsOf(c)
	for name, n := range amounts.Add {
		t.total.add[name] += n
		t.largest = max(t.largest, n, -n)
	}
	t.total.facts = t.total.facts.join(amounts.Max)
}

// sum returns the correct sum: the numbers as they add up, and texts that are never lowered.
func (t *Tally) sum(row item.Item) item.Map {
	t.finish()
	out := t.spec.Empty()
	for name, v := range row.Map(t.spec.SumAttr) {
		if text, isText := v.(item.String); isText {
			out[name] = text
		}
	}
	return t.spec.next(item.Item{t.spec.SumAttr: out}, t.total)
}

// Check returns the faults of the row that holds the sum; nil if the user has none. A text that is too great cannot be
// distinguished from that of a deleted item.
func (t *Tally) Check(user string, row item.Item, now time.Time) []Fault {
	key := t.spec.Target(user)
	if err := t.spec.checkForm(row); err != nil {
		return []Fault{{Key: key, Is: err.Error(), Want: "verified by that release"}}
	}
	want, is := item.Item(t.sum(row)), row.Map(t.spec.SumAttr)
	if is == nil {
		is = item.Item(t.spec.Empty())
	}
	var faults []Fault
	for _, name := range namesOf(want, is) {
		if !item.Equal(is[name], want[name]) {
			faults = append(faults, Fault{key, showSum(name, is[name]), showSum(name, want[name]), name})
		}
	}
	if row.Has(t.spec.LeaseAttr) && !t.spec.leased(row, now) {
		faults = append(faults, Fault{Key: key, Is: "a repair began and did not finish", Want: "no " + t.spec.LeaseAttr})
	}
	return faults
}

// CheckMoving is [Tally.Check] for a sum that was written while its rows were added up, given its row before and after
// that. It returns the faults that no such write explains: numbers farther from the rows than so many writes can have
// moved them, and texts lower than those of the rows.
func (t *Tally) CheckMoving(user string, before, after item.Item) []Fault {
	writes := after.Int(t.spec.VersionAttr) - before.Int(t.spec.VersionAttr)
	t.finish()
	room := writes * (table.MaxActions - 1) * t.largest
	want, was, is := item.Item(t.sum(after)), before.Map(t.spec.SumAttr), after.Map(t.spec.SumAttr)
	var faults []Fault
	for _, name := range namesOf(want, is) {
		switch v := want[name].(type) {
		case item.String:
			if is.Str(name) != string(v) {
				faults = append(faults, Fault{t.spec.Target(user), showSum(name, is[name]), showSum(name, v), name})
			}
		default:
			if off := want.Int(name) - was.Int(name); max(off, -off) > room {
				faults = append(faults,
					Fault{t.spec.Target(user), showSum(name, is[name]), fmt.Sprintf("%s about %d", name, want.Int(name)), name})
			}
		}
	}
	return faults
}

func namesOf(items ...item.Item) []string {
	names := map[string]bool{}
	for _, it := range items {
		for name := range it {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func showSum(name string, v item.Value) string {
	if v == nil {
		return "no " + name
	}
	return fmt.Sprintf("%s %v", name, v)
}

// Target returns the key of the row that holds a user's sum. It panics for a projection that is no sum.
func (p *Projection) Target(user string) item.Key { return p.sum().Target(user) }

// Moved reports whether the sum was written between two reads of its row.
func (p *Projection) Moved(before, after item.Item) bool {
	attr := p.sum().VersionAttr
	return before.Int(attr) != after.Int(attr)
}

// Leased reports whether a repair has the lease of the sum whose row was read.
func (p *Projection) Leased(row item.Item, now time.Time) bool {
	return p.sum().leased(row, now)
}
