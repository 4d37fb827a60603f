package table

import (
	"maps"
	"sync"
)

// Consumption is the capacity that one call to the store consumed. One call is one round trip, retries inside the SDK
// included.
type Consumption struct {
	Op         string // the port's operation: Get, BatchGet, Query, Count, Put, Update, Delete, Transact, Load, Walk
	Rows       int    // rows read, or actions written
	ReadUnits  float64
	WriteUnits float64
	// IndexWriteUnits is the part of WriteUnits that went to each secondary index.
	IndexWriteUnits map[Index]float64
}

// Observer is told of every call an adapter made. It must be safe for concurrent use and return at once.
type Observer func(Consumption)

// Totals sums the capacity that calls of one operation consumed, as reported by the service. Refused calls report none.
type Totals struct {
	Calls      int     `json:"calls"`
	Rows       int     `json:"rows,omitempty"`
	ReadUnits  float64 `json:"readUnits,omitempty"`
	WriteUnits float64 `json:"writeUnits,omitempty"`
	// IndexWriteUnits is the part of WriteUnits that went to secondary indexes.
	IndexWriteUnits float64 `json:"indexWriteUnits,omitempty"`
}

// TotalsByOperation are totals by operation, as [Consumption] names it.
type TotalsByOperation map[string]Totals

// Sum returns all of them together.
func (u TotalsByOperation) Sum() Totals {
	var sum Totals
	for _, one := range u {
		sum = sum.Plus(one)
	}
	return sum
}

// Plus returns both together.
func (u Totals) Plus(other Totals) Totals {
	u.Calls += other.Calls
	u.Rows += other.Rows
	u.ReadUnits += other.ReadUnits
	u.WriteUnits += other.WriteUnits
	u.IndexWriteUnits += other.IndexWriteUnits
	return u
}

// Meter adds up what its owner consumes. The zero Meter shows nothing yet. It is safe for concurrent use.
type Meter struct {
	mu   sync.Mutex
	used TotalsByOperation
}

// Observe is the [Observer] of the owner's store.
func (m *Meter) Observe(u Consumption) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == nil {
		m.used = TotalsByOperation{}
	}
	use := m.used[u.Op]
	use.Calls++
	use.Rows += u.Rows
	use.ReadUnits += u.ReadUnits
	use.WriteUnits += u.WriteUnits
	for _, units := range u.IndexWriteUnits {
		use.IndexWriteUnits += units
	}
	m.used[u.Op] = use
}

// Read returns what was consumed since the meter was made or last taken.
func (m *Meter) Read() TotalsByOperation {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.used)
}

// Drain returns the same and begins again at nothing.
func (m *Meter) Drain() TotalsByOperation {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := m.used
	m.used = nil
	return used
}
