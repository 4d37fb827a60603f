package cost

import "nexus/pkg/stats"

// Further is something that would lower the whole bill, and is not done.
type Further struct {
	What string `json:"what"`
	// Saves is a part of the whole bill, before deducting what is free of charge. Costs is the price of another kind.
	Saves float64 `json:"saves"`
	Costs string  `json:"costs"`
}

// plannedPart is the discount of a savings plan of a year on the units of a table.
const plannedPart = 0.18

// further returns what each further dollar would cost, by what it saves. The savings do not add up: a plan covers the
// units that are left.
func (b biller) further(bill Bill) []Further {
	units := map[string]float64{}
	spent := 0.0
	for _, part := range bill.Parts() {
		for _, l := range part.Lines {
			switch l.Price {
			case tableWrites, tableReads:
				units[l.Price] += l.Quantity
				spent += l.Whole
			}
		}
	}
	provisioned := func(used float64) float64 {
		return spent - (b.whole(provisionedWrites, units[tableWrites])+b.whole(provisionedReads, units[tableReads]))/used
	}
	used := b.unitsOf(Creates, Updates, Reads, LifeCycle)
	index := func(who, name string) float64 {
		saved := 0.0
		if u := used[who]; u != nil {
			for one, n := range u.IndexUnits {
				if string(one) == name {
					saved += n
				}
			}
		}
		return b.whole(tableWrites, saved)
	}
	return []Further{
		{"capacity provisioned, half used", provisioned(1.0 / 2), "load that can be foreseen"},
		{"capacity provisioned, a third used", provisioned(1.0 / 3), "load that can be foreseen"},
		{"a savings plan for the table", plannedPart * spent, "a year's promise"},
		{"ledger rows without their place in GSI3", index(stats.Name, "GSI3-TaskStatus"), "statistics read years ahead"},
		{"GSI2 is not written", index(commandFunction, "GSI2-RecurrenceLookup"), "the documents promise it"},
	}
}
