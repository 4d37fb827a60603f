package cost

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"nexus/pkg/system"
	"nexus/pkg/table"
)

// Group is a part of the bill.
type Group string

const (
	// Creates, Updates and Reads are the groups of the source document's estimate.
	Creates Group = "creates"
	Updates Group = "updates"
	Reads   Group = "reads"
	// LifeCycle groups later changes of items: reminded of, completed, archived, expired, cancelled, deleted.
	LifeCycle Group = "life cycle"
	// Devices groups what keeps devices in step beside the changes themselves.
	Devices Group = "devices"
	// Pushes groups what brings reminders to devices.
	Pushes Group = "reminders on devices"
)

// Activity is one thing that users or the clock do. Everything that follows from it, through all consumers, belongs to
// it.
type Activity struct {
	Name  string `json:"name"`
	Group Group  `json:"group"`
}

// Units is one user's use of the table.
type Units struct {
	Calls        int     `json:"calls"`
	Transactions int     `json:"transactions,omitempty"` // calls that are charged as such
	ReadUnits    float64 `json:"readUnits,omitempty"`
	// TableUnits are write units of the table itself, doubled in transactions; IndexUnits those of each index.
	TableUnits float64                 `json:"tableUnits,omitempty"`
	IndexUnits map[table.Index]float64 `json:"indexUnits,omitempty"`
}

// WriteUnits sums those of the table and of all indexes.
func (u Units) WriteUnits() float64 {
	sum := u.TableUnits
	for _, units := range u.IndexUnits {
		sum += units
	}
	return sum
}

// times returns the units of so many users as the replayed ones are a part of.
func (u Units) times(n float64) Units {
	out := Units{ReadUnits: u.ReadUnits * n, TableUnits: u.TableUnits * n, IndexUnits: map[table.Index]float64{}}
	for index, units := range u.IndexUnits {
		out.IndexUnits[index] = units * n
	}
	return out
}

func (u *Units) add(more Units) {
	u.Calls += more.Calls
	u.Transactions += more.Transactions
	u.ReadUnits += more.ReadUnits
	u.TableUnits += more.TableUnits
	for index, units := range more.IndexUnits {
		if u.IndexUnits == nil {
			u.IndexUnits = map[table.Index]float64{}
		}
		u.IndexUnits[index] += units
	}
}

// Work is the work of a function.
type Work struct {
	Invocations  int     `json:"invocations"`
	Milliseconds float64 `json:"milliseconds"` // modelled
	LogBytes     int64   `json:"logBytes"`
}

// Taken is the use of services by an activity, over all its repetitions.
type Taken struct {
	Activity
	Times         int               `json:"times"`
	Table         map[string]*Units `json:"table"` // by who used it: command, query, notify, and the consumers
	Functions     map[string]*Work  `json:"functions"`
	Requests      int               `json:"requests,omitempty"`
	ResponseBytes int64             `json:"responseBytes,omitempty"`
	Events        int               `json:"events,omitempty"`
	ScheduleCalls int               `json:"scheduleCalls,omitempty"` // invocations by the scheduler
	Objects       int               `json:"objects,omitempty"`       // put
	ObjectBytes   int64             `json:"objectBytes,omitempty"`
	Hints         int               `json:"hints,omitempty"`  // published
	Pushes        int               `json:"pushes,omitempty"` // messages to push services
}

// Units sums the table's use for the activity. That of limits is left out, which one request in ten asks for.
func (t *Taken) Units() Units {
	var sum Units
	for _, who := range slices.Sorted(maps.Keys(t.Table)) {
		if who != system.PartLimits {
			sum.add(*t.Table[who])
		}
	}
	return sum
}

// tally holds the counts. It is for one goroutine, except for the parallel parts of an invocation: calls, and log
// lines.
type tally struct {
	model   Model
	mu      sync.Mutex // guards the counts of such calls
	taken   map[Activity]*Taken
	current *Taken
	running *invocation
}

// invocation is a running invocation of a function.
type invocation struct {
	work *Work
	ms   float64
}

func newTally(m Model) *tally {
	return &tally{model: m, taken: map[Activity]*Taken{}}
}

// begin assigns the following counts to the activity.
func (t *tally) begin(a Activity) {
	if t.taken[a] == nil {
		t.taken[a] = &Taken{Activity: a, Table: map[string]*Units{}, Functions: map[string]*Work{}}
	}
	t.current = t.taken[a]
	t.current.Times++
}

// invoke counts an invocation of a function.
func (t *tally) invoke(function string, call func() error) error {
	work := t.current.Functions[function]
	if work == nil {
		work = &Work{}
		t.current.Functions[function] = work
	}
	t.running = &invocation{work: work, ms: t.model.OwnMilliseconds}
	err := call()
	work.Invocations++
	work.Milliseconds += math.Ceil(t.running.ms) // billed by the millisecond
	t.running = nil
	return err
}

// Write counts the log lines of the running function.
func (t *tally) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running != nil {
		t.running.work.LogBytes += int64(len(line))
	}
	return len(line), nil
}

// waits adds the time that a call of a service takes to the running invocation.
func (t *tally) waits(ms float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(ms)
}

func (t *tally) add(ms float64) {
	if t.running != nil {
		t.running.ms += ms
	}
}

// uses returns the observer of one user's store.
func (t *tally) uses(who string) table.Observer {
	return func(u table.Consumption) {
		t.mu.Lock()
		defer t.mu.Unlock()
		units := t.current.Table[who]
		if units == nil {
			units = &Units{}
			t.current.Table[who] = units
		}
		more := Units{Calls: 1, ReadUnits: u.ReadUnits, TableUnits: u.WriteUnits, IndexUnits: u.IndexWriteUnits}
		for _, part := range u.IndexWriteUnits {
			more.TableUnits -= part
		}
		ms := t.model.ReadMilliseconds
		switch {
		case u.Op == "Transact" && u.Rows != 1: // one action is sent as a single write
			more.Transactions = 1
			ms = t.model.TransactionMilliseconds
		case u.WriteUnits > 0:
			ms = t.model.WriteMilliseconds
		}
		units.add(more)
		t.add(ms)
	}
}

// all returns the use of all activities, by group and name.
func (t *tally) all() []*Taken {
	order := []Group{Creates, Updates, Reads, LifeCycle, Devices, Pushes}
	return slices.SortedFunc(maps.Values(t.taken), func(a, b *Taken) int {
		if a.Group != b.Group {
			return slices.Index(order, a.Group) - slices.Index(order, b.Group)
		}
		return strings.Compare(a.Name, b.Name)
	})
}
