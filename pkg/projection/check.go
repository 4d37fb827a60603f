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

// Evidence is what the table holds of one item, as far as a projection goes.
type Evidence struct {
	User   string
	Type   *entity.Type
	Ref    entity.Ref
	Item   item.Item   // nil if it is gone
	Ledger item.Item   // nil if there is none
	Rows   []item.Item // of a projection of rows: all that have the item for their source
}

// Fault is one row that is not as the items say.
type Fault struct {
	Key      item.Key
	Is, Want string
	name     string // of the number or text, in a row that holds a sum
}

// IsAlike says that two looks at a row that keeps changing show the same fault.
func (f Fault) IsAlike(other Fault) bool { return f.Key == other.Key && f.name == other.name }

const noRow = "no row"

// Summed says that the projection is a sum in a row of its own per user.
func (p *Projection) Summed() bool {
	_, isSum := p.shape.(*SumSpec)
	return isSum
}

// RowsPrefix begins the sort keys of all rows whose source is of the type; behind it stand the source's id and more. It
// is empty for a sum.
func (p *Projection) RowsPrefix(typeName string) string {
	return p.shape.prefix(typeName)
}

func (s *RowsSpec) prefix(typeName string) string { return s.Prefix(typeName) }
func (*SumSpec) prefix(string) string             { return "" }

// Contributes says that an image contributes something.
func (p *Projection) Contributes(t *entity.Type, it item.Item) bool {
	return p.contribution(t, it) != ""
}

// Check returns what is wrong with an item's ledger row, and with the rows it is the source of. The evidence was not
// read at one instant while the stream runs: what it shows then is a suspicion.
func (p *Projection) Check(e Evidence) []Fault {
	want := p.contribution(e.Type, e.Item)
	key := entity.LedgerKey(e.User, p.name, e.Ref.ID)
	if isStaged(e.Ledger) {
		return append([]Fault{{Key: key, Is: "staged by a repair that has not ended", Want: p.showWanted(want)}},
			p.shape.checkRows(e, want)...)
	}
	if err := entity.CheckForm(e.Ledger, entity.AttrForm); err != nil { // it is not known what it says
		return []Fault{{Key: key, Is: err.Error(), Want: "verified by that release"}}
	}
	if err := p.refuses(e.User, e.Ref.ID, want); err != nil { // a repair leaves nothing of it, and the difference
		return append([]Fault{{Key: key, Is: p.showLedger(e.Ledger), Want: err.Error()}}, p.shape.checkRows(e, "")...)
	}
	var faults []Fault
	if is, should := p.showLedger(e.Ledger), p.showWanted(want); is != should && (e.Ledger != nil || want != "") {
		faults = append(faults, Fault{Key: key, Is: is, Want: should})
	}
	return append(faults, p.shape.checkRows(e, want)...)
}

// showLedger is what counts of a ledger row beside its version, which may be any: most changes leave it behind.
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

func (*SumSpec) checkRows(Evidence, string) []Fault { return nil }

// wantedRows are the rows of a contribution by their keys.
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
	largest int64 // what any row adds to any number, the sign aside; at least 1
	// ahead is the pending entry of the sum's row as long as its own row is not among those added.
	ahead *pendingEntry
	key   item.Key // of that row
}

// NewTally returns an empty one. It panics for a projection that is no sum.
func (p *Projection) NewTally() *Tally {
	return &Tally{spec: p.sum(), total: newDelta(), largest: 1}
}

// sum is the spec of a sum. It panics for a projection that is none.
func (p *Projection) sum() *SumSpec {
	spec, isSum := p.shape.(*SumSpec)
	if !isSum {
		panic("projection: " + p.name + " is no sum")
	}
	return spec
}

// TallyUnder returns an empty one for the rows of a user whose sum's row was read before them: its pending entry
// counts, whether or not its own row is there yet.
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
			return // the entry is counted in its place
		}
		t.ahead = nil
	}
	_, contribution := t.spec.counted(t.target, row)
	t.add(contribution)
}

// finish counts the pending entry, if its row has not come.
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

// sum is what the row's sum is to be: the numbers as they add up, and texts that are never lowered.
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

// Check returns what is wrong with the row that holds the sum; nil is a user's who has none. A text that is too great
// cannot be told from that of an item that is gone.
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
// that: it returns what is wrong whatever was written. Those are numbers farther from the rows than so many writes can
// have moved them, and texts behind those of the rows.
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

// Target is the key of the row that holds a user's sum. It panics for a projection that is no sum.
func (p *Projection) Target(user string) item.Key { return p.sum().Target(user) }

// Moved says that the sum was written between two reads of its row.
func (p *Projection) Moved(before, after item.Item) bool {
	attr := p.sum().VersionAttr
	return before.Int(attr) != after.Int(attr)
}

// Leased says that a repair has the lease of the sum whose row was read.
func (p *Projection) Leased(row item.Item, now time.Time) bool {
	return p.sum().leased(row, now)
}
