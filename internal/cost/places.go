package cost

import (
	"slices"

	"nexus/pkg/changes"
	"nexus/pkg/links"
	"nexus/pkg/reminders"
	"nexus/pkg/stats"
)

// The source document's own prices for a million units.
const (
	documentWrites = 1.25
	documentReads  = 0.25
)

// Place is one use of the table, like for like with the source document's estimate.
type Place struct {
	What       string  `json:"what"`
	WriteUnits float64 `json:"writeUnits"`
	ReadUnits  float64 `json:"readUnits"`
	// Whole is its cost before deducting what is free of charge, Document that at the document's own prices. Sum is the
	// latter with all places before it.
	Whole    float64 `json:"whole"`
	Document float64 `json:"document"`
	Sum      float64 `json:"sum"`
	// Bound says that less is not possible from here on: "sum" for any sum, "exact" for one that is exact whatever the
	// stream repeats, delays or loses.
	Bound string `json:"bound,omitempty"`
}

// places returns where the units of the like-for-like part go: first what the document's own design needs, then what
// exactness needs, then the rest.
func (b biller) places() []Place {
	used := b.unitsOf(Creates, Updates, Reads)
	of := func(who string) Units {
		if u := used[who]; u != nil {
			return *u
		}
		return Units{}
	}
	index := func(u Units) float64 { return u.WriteUnits() - u.TableUnits }
	command, sums, edges := of(commandFunction), of(stats.Name), of(links.Name)
	written := 0.0 // creations and changes
	for _, t := range b.month.Taken {
		if t.Group == Creates || t.Group == Updates {
			written += float64(t.Times) * b.month.Times
		}
	}
	counted := sums.TableUnits / 2 // a change of a sum writes the sum and the ledger's row
	linked := index(edges)         // the entry of an edge in its index
	storage := b.line("", tableStorage, Counted, b.storedGB(true)+b.storedGB(false)).Whole
	out := []Place{
		{What: "each item's row, once", WriteUnits: written},
		{What: "its entries in the indexes", WriteUnits: index(command)},
		{What: "a row for each link, and its entry", WriteUnits: 2 * linked},
		{What: "the sum in the user's row, for each change", WriteUnits: counted},
		{What: "users' reads, and reads before changes", ReadUnits: of(queryFunction).ReadUnits + command.ReadUnits},
		{What: "storage", Document: storage, Whole: storage, Bound: "sum"},
		{What: "ledger: a row for each item that counts", WriteUnits: counted},
		{What: "reads that decide: statistics two, reminders", ReadUnits: 2*counted + of(reminders.Name).ReadUnits,
			Bound: "exact"},
		{What: "a ledger row's place in GSI3", WriteUnits: index(sums)},
		{What: "statistics' third read", ReadUnits: sums.ReadUnits - 2*counted},
		{What: "links: their ledger, and transactions", WriteUnits: edges.TableUnits - linked, ReadUnits: edges.ReadUnits},
		{What: "occurrences: a transaction with their series", WriteUnits: command.TableUnits - written},
		{What: "change logs", WriteUnits: of(changes.Name).WriteUnits(), ReadUnits: of(changes.Name).ReadUnits},
	}
	sum := 0.0
	for i := range out {
		p := &out[i]
		p.Whole += b.whole(tableWrites, p.WriteUnits) + b.whole(tableReads, p.ReadUnits)
		p.Document += (p.WriteUnits*documentWrites + p.ReadUnits*documentReads) / 1e6
		sum += p.Document
		p.Sum = sum
	}
	return out
}

// unitsOf sums the units that each user of the table takes for some groups, of all users.
func (b biller) unitsOf(groups ...Group) map[string]*Units {
	out := map[string]*Units{}
	for _, t := range b.month.Taken {
		if !slices.Contains(groups, t.Group) {
			continue
		}
		for who, used := range t.Table {
			if out[who] == nil {
				out[who] = &Units{}
			}
			out[who].add(used.times(b.month.Times))
		}
	}
	return out
}
