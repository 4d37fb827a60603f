package table

import (
	"context"
	"maps"
	"sync"
)

// Consumption is the capacity that one call to the store consumed. One call is one round trip, retries inside the SDK
// included.
type Consumption struct {
	Op         string // the port's operation: Get, BatchGet, Peek, Query, Count, Put, Update, Delete, Transact, Load, Walk
	Rows       int    // rows read, or actions written
	ReadUnits  float64
	WriteUnits float64
	// IndexWriteUnits is the part of WriteUnits that went to each secondary index.
	IndexWriteUnits map[Index]float64
}

// Observer receives every call of an adapter. It must be safe for concurrent use and return at once.
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

// TotalsByOperation maps an operation, as [Consumption] names it, to its totals.
type TotalsByOperation map[string]Totals

// Sum adds up the totals of all operations.
func (u TotalsByOperation) Sum() Totals {
	var sum Totals
	for _, one := range u {
		sum = sum.Plus(one)
	}
	return sum
}

// Plus adds two totals.
func (u Totals) Plus(other Totals) Totals {
	u.Calls += other.Calls
	u.Rows += other.Rows
	u.ReadUnits += other.ReadUnits
	u.WriteUnits += other.WriteUnits
	u.IndexWriteUnits += other.IndexWriteUnits
	return u
}

// Meter adds up its owner's consumption. It is safe for concurrent use.
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

// Read returns the consumption since the meter was made or last drained.
func (m *Meter) Read() TotalsByOperation {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.used)
}

// Drain returns the same and resets the meter.
func (m *Meter) Drain() TotalsByOperation {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := m.used
	m.used = nil
	return used
}

// Tally adds up the units that one request consumes, of reads and writes alike. It is safe for concurrent use.
type Tally struct {
	mu    sync.Mutex
	units float64
}

// Units returns the sum so far.
func (t *Tally) Units() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.units
}

type tallyKey struct{}

// WithTally returns a context whose calls every adapter adds to the tally.
func WithTally(ctx context.Context, t *Tally) context.Context {
	return context.WithValue(ctx, tallyKey{}, t)
}

// IsHeard reports whether [Observer.Report] has anybody to give a consumption to: computing it may take time.
func (o Observer) IsHeard(ctx context.Context) bool { return o != nil || ctx.Value(tallyKey{}) != nil }

// Report gives the consumption of one call to the tally of the call's context, if it has one, and to the observer,
// unless it is nil. Adapters call it.
func (o Observer) Report(ctx context.Context, u Consumption) {
	if t, ok := ctx.Value(tallyKey{}).(*Tally); ok {
		t.mu.Lock()
		t.units += u.ReadUnits + u.WriteUnits
		t.mu.Unlock()
	}
	if o != nil {
		o(u)
	}
}
