package cost

import (
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// rowOverhead is the number of bytes that DynamoDB bills for each row of the table and of an index in addition to its
// content.
const rowOverhead = 100

// Growth is the bill of a later month.
type Growth struct {
	Month int     `json:"month"`
	GB    float64 `json:"gb"` // of the table and its indexes, at the month's end
	// Storage is that of the table and of cold copies, and Recovery that to a point in time, before deducting what is
	// free of charge. Whole and Cost are the whole bill.
	Storage  float64 `json:"storage"`
	Recovery float64 `json:"recovery"`
	// Insights is the part of both that the rows of completions are, which stay.
	Insights float64 `json:"insights"`
	Whole    float64 `json:"whole"`
	Cost     float64 `json:"cost"`
	// InfrequentWhole and InfrequentCost are the whole bill with the table class for infrequent access.
	InfrequentWhole float64 `json:"infrequentWhole"`
	InfrequentCost  float64 `json:"infrequentCost"`
}

// grownMonths are the months in the columns of the growth.
func grownMonths() []int { return []int{1, 12, 24} }

// growth returns the bills of later months. In each of them users do what they do in the first.
func (b biller) growth() []Growth {
	var out []Growth
	for _, month := range grownMonths() {
		later := biller{month: b.month, prices: b.prices, when: b.when}
		later.when.Month, later.when.Infrequent = month, false
		g := Growth{Month: month, GB: later.storedGB(true) + later.storedGB(false), Insights: later.insights()}
		bill := later.bill()
		for _, part := range bill.Parts() {
			for _, l := range part.Lines {
				switch l.Price {
				case tableStorage, objectStorage:
					g.Storage += l.Whole
				case tableRecovery:
					g.Recovery += l.Whole
				}
			}
		}
		g.Cost, g.Whole = bill.Cost()
		later.when.Infrequent = true
		g.InfrequentCost, g.InfrequentWhole = later.bill().Cost()
		out = append(out, g)
	}
	return out
}

// insights returns what storage of the rows of completions costs, and their recovery: no month removes any.
func (b biller) insights() (whole float64) {
	for _, s := range b.month.Insights {
		gb := b.gigabytes(s) * float64(max(b.when.Month, 1))
		if whole += b.price(tableStorage).whole(gb); s.Index == table.Base {
			whole += b.price(tableRecovery).whole(gb)
		}
	}
	return whole
}

// gigabytes returns the size of rows, for all users.
func (b biller) gigabytes(of memory.Stored) float64 {
	return (float64(of.Bytes) + float64(of.Rows)*rowOverhead) * b.month.Times / gigabyte
}

// storedGB returns the size of the table, or of its indexes, at the end of the bill's month, which exceeds the average
// over the month. Each month before has left what TTL has not removed since.
func (b biller) storedGB(ofTable bool) (gb float64) {
	for age := range max(b.when.Month, 1) {
		left := b.month.Stored[min(age, len(b.month.Stored)-1)]
		for _, s := range left {
			if (s.Index == table.Base) == ofTable {
				gb += b.gigabytes(s)
			}
		}
	}
	return gb
}
