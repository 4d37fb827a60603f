package memory

import (
	"nexus/pkg/table"
)

const (
	readUnitBytes  = 4 << 10
	writeUnitBytes = 1 << 10
)

// readUnits returns the cost of reading so many bytes in one piece; a missing row costs as much as the smallest.
func readUnits(bytes int, consistent bool) float64 {
	units := float64(max(1, (bytes+readUnitBytes-1)/readUnitBytes))
	if !consistent {
		units /= 2
	}
	return units
}

func writeUnits(bytes int) float64 {
	return float64(max(1, (bytes+writeUnitBytes-1)/writeUnitBytes))
}

func size(r *row) int {
	if r == nil {
		return 0
	}
	return r.size
}

// charge adds the consumption of one action. On the table it is the larger image, whether or not anything changed,
// times the factor of its kind. On each index it is one write if the entry appears, disappears or changes, and two if
// its key moves.
func (s *Store) charge(u *table.Consumption, c edit, factor float64) {
	u.WriteUnits += factor * writeUnits(max(size(c.old), size(c.new)))
	if c.old == c.new {
		return
	}
	for _, index := range s.schema.Indexes {
		units := indexUnits(index, c)
		if units == 0 {
			continue
		}
		u.WriteUnits += units
		if u.IndexWriteUnits == nil {
			u.IndexWriteUnits = map[table.Index]float64{}
		}
		u.IndexWriteUnits[index.Name] += units
	}
}

func indexUnits(index table.IndexSchema, c edit) float64 {
	oldPlace, wasIn := indexed(index, c.old)
	newPlace, isIn := indexed(index, c.new)
	before, after := float64(0), float64(0)
	if wasIn {
		before = writeUnits(projectedSize(index, c.old))
	}
	if isIn {
		after = writeUnits(projectedSize(index, c.new))
	}
	switch {
	case wasIn && isIn && oldPlace != newPlace:
		return before + after
	case wasIn && isIn && index.KeysOnly:
		return 0
	default:
		return max(before, after)
	}
}

// projectedSize returns the size of the row as the index stores it.
func projectedSize(index table.IndexSchema, r *row) int {
	if !index.KeysOnly {
		return r.size
	}
	bytes := 0
	for _, name := range keyAttributes(index) {
		bytes += len(name) + len(r.item.Str(name))
	}
	return bytes
}
