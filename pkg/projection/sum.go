package projection

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// SumSpec describes a projection that folds numbers into one row per user.
type SumSpec struct {
	Name     string
	Revision string // of Amounts; a change of the function needs another one, and a rebuild
	// Amounts returns what the item adds.
	Amounts func(t *entity.Type, it item.Item) Amounts
	// Target is the row that holds the sum, in the map attribute SumAttr under the optimistic lock VersionAttr, which is
	// the projection's own: other writers of the row are not disturbed.
	Target               func(user string) item.Key
	SumAttr, VersionAttr string
	// NewTarget is the row to begin with where there is none; Empty the sum to begin with. Numbers in Empty stay when they
	// come to zero, all others leave the sum then.
	NewTarget func(user string, now time.Time) item.Item
	Empty     func() item.Map
	// LeaseAttr names the map attribute {owner, until} with which a repair holds the sum.
	LeaseAttr string
	// WrittenAttr, if there is one, names a flag that every write of the sum sets, and that every other writer of the row
	// takes off: so a filter can tell whose write a record is about.
	WrittenAttr string
	// RepairsAttr names the number of repairs that staged ledger rows and have been through.
	RepairsAttr string
	// PendingAttr names the map attribute {item, v, c} with the ledger's pending entry, see [pendingEntry].
	PendingAttr string
	// FormAttr names the attribute with the form of all these, as [entity.AttrForm] is that of a row.
	FormAttr string
}

// Amounts is what one image contributes to a sum. The zero Amounts is nothing.
type Amounts struct {
	// Add goes into the numbers of the sum, and out again.
	Add map[string]int64 `json:"add,omitempty"`
	// Max are texts of which the greatest ever seen is kept and never lowered.
	Max map[string]string `json:"max,omitempty"`
	// Open is the state-view sort key of the item's ledger row, for what is counted when it is read: at most 1,024 bytes,
	// as each text of Max.
	Open string `json:"open,omitempty"`
}

// NewSum returns the projection. It panics if the spec lacks something: only WrittenAttr may be empty.
func NewSum(spec SumSpec) *Projection {
	spec.check()
	return &Projection{spec.Name, sum{&spec}}
}

// NewOwnSum returns a summing projection with a row of its own, for products that count things of their own.
func NewOwnSum(name, revision string, amounts func(*entity.Type, item.Item) Amounts) *Projection {
	return NewSum(SumSpec{
		Name: name, Revision: revision, Amounts: amounts,
		Target:  func(user string) item.Key { return entity.SumKey(user, name) },
		SumAttr: "sum", VersionAttr: "sumVersion",
		NewTarget: func(user string, _ time.Time) item.Item { return entity.SumKey(user, name).Item() },
		Empty:     func() item.Map { return item.Map{} },
		LeaseAttr: "sumHold", RepairsAttr: "sumRepairs", PendingAttr: "sumLast", FormAttr: entity.AttrForm,
	})
}

type sum struct{ spec *SumSpec }

func (s sum) contribution(t *entity.Type, it item.Item) string {
	amounts := s.spec.Amounts(t, it)
	if len(amounts.Add) == 0 && len(amounts.Max) == 0 && amounts.Open == "" {
		return ""
	}
	text, err := json.Marshal(amounts) // map keys come out sorted: canonical
	if err != nil {
		panic(fmt.Sprintf("projection %s: %v", s.spec.Name, err)) // texts and numbers only: cannot happen
	}
	return withRevision(s.spec.Revision, string(text))
}

// amountsOf reads a contribution back. One that cannot be read adds nothing; the ledger is written by this package
// alone.
func amountsOf(c string) Amounts {
	var amounts Amounts
	_ = json.Unmarshal([]byte(withoutRevision(c)), &amounts)
	return amounts
}

func (sum) facts(c string) facts        { return amountsOf(c).Max }
func (sum) ledgerIndex(c string) string { return amountsOf(c).Open }
func (sum) actions(*move) []action      { return nil }
func (s sum) target() *SumSpec          { return s.spec }

// facts are texts of which the greatest counts.
type facts map[string]string

// join raises f to what is greater in more.
func (f facts) join(more facts) facts {
	if len(more) == 0 {
		return f
	}
	out := maps.Clone(f)
	if out == nil {
		out = facts{}
	}
	for name, text := range more {
		out[name] = max(out[name], text)
	}
	return out
}

// delta is the change of a user's sum by several moves.
type delta struct {
	add   map[string]int64
	facts facts
}

func newDelta() *delta { return &delta{add: map[string]int64{}} }

func (d *delta) move(m *move) {
	for name, n := range amountsOf(m.from).Add {
		d.add[name] -= n
	}
	for name, n := range amountsOf(m.to).Add {
		d.add[name] += n
	}
	d.facts = d.facts.join(m.facts)
}

// next is the sum after the delta.
func (s *SumSpec) next(row item.Item, d *delta) item.Map {
	total := item.Item(s.Empty())
	for name, v := range row.Map(s.SumAttr) {
		total[name] = v
	}
	keep := s.Empty()
	for name, n := range d.add {
		value := total.Int(name) + n
		total[name] = item.Int(value)
		if _, always := keep[name]; value == 0 && !always {
			delete(total, name)
		}
	}
	for name, text := range d.facts {
		if text > total.Str(name) {
			total[name] = item.String(text)
		}
	}
	return item.Map(total)
}

// knows reports whether the row already holds facts at least as great.
func (s *SumSpec) knows(row item.Item, f facts) bool {
	total := row.Map(s.SumAttr)
	for name, text := range f {
		if text > total.Str(name) {
			return false
		}
	}
	return true
}

// checkForm returns an error for a row that a later release wrote.
func (s *SumSpec) checkForm(row item.Item) error { return entity.CheckForm(row, s.FormAttr) }

// leased reports whether a repair holds the sum.
func (s *SumSpec) leased(row item.Item, now time.Time) bool {
	until, ok := row.Map(s.LeaseAttr).Time(leaseUntil)
	return ok && now.Before(until)
}

// write is the update of the target row, as it was read (nil if there was none), by the delta.
func (s *SumSpec) write(user string, row item.Item, d *delta, now time.Time) table.Update {
	update := table.Update{Key: s.Target(user), Set: item.Item{}}
	switch {
	case row == nil:
		update.If = table.NotExists()
		for name, v := range s.NewTarget(user, now) {
			if name != item.AttrPK && name != item.AttrSK {
				update.Set[name] = v
			}
		}
	case row.Has(s.VersionAttr):
		update.If = table.Exists(table.Equal(s.VersionAttr, row[s.VersionAttr]))
	default:
		update.If = table.Exists(table.Missing(s.VersionAttr))
	}
	update.Set[s.SumAttr] = s.next(row, d)
	update.Set[s.VersionAttr] = item.Int(row.Int(s.VersionAttr) + 1)
	if s.WrittenAttr != "" {
		update.Set[s.WrittenAttr] = item.Bool(true)
	}
	return update
}
