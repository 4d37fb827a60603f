package cost

import (
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// replicas returns what it costs that other regions have replicas of the table; nil for a deployment without. Each has
// the whole content, and every write of the bill's other parts once more. The price of a write is the same (Amazon
// DynamoDB Developer Guide, "Understanding Amazon DynamoDB billing for global tables"). What TTL removes in one region
// is written in the others. Nothing is taken for free there.
func (b biller) replicas(others []Part) *Part {
	n := float64(b.when.Replicas)
	if n == 0 {
		return nil
	}
	units := map[table.Index]float64{}
	for _, part := range others {
		for _, l := range part.Lines {
			if l.Price == tableWrites {
				units[l.index] += l.Quantity
			}
		}
	}
	lines := []Line{b.line("writes again, table", tableWrites, Counted, units[table.Base]*n)}
	for _, index := range table.ProductSchema().Indexes {
		lines = append(lines, b.line("writes again, "+string(index.Name), tableWrites, Counted, units[index.Name]*n))
	}
	removed := 0.0
	for _, rows := range b.month.Removed {
		removed += float64(rows) * b.month.Times
	}
	lines = append(lines,
		b.line("removals by TTL, with index entries", tableWrites, Counted, removed*n),
		b.line("storage", tableStorage, Counted, (b.storedGB(true)+b.storedGB(false))*n),
		b.line("recovery to a point in time", tableRecovery, Counted, b.storedGB(true)*n),
		b.line("transfer between regions", regionTransfer, Modelled, units[table.Base]*n*unitBytes/gigabyte),
	)
	for i := range lines {
		lines[i].Cost = lines[i].Whole
	}
	return &Part{"the replicas", lines, 0}
}

// unitBytes is the most that a write unit writes.
const unitBytes = 1 << 10

// entries returns where a row is: in the table, and in the indexes whose keys it has.
func entries(row item.Item) []table.Index {
	out := []table.Index{table.Base}
	for _, index := range table.ProductSchema().Indexes {
		if row[index.PK] != nil && row[index.SK] != nil {
			out = append(out, index.Name)
		}
	}
	return out
}
