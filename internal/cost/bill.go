package cost

import (
	"maps"
	"slices"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/deploy/size"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Basis says how a quantity was determined.
type Basis string

const (
	// Counted says that the replay counted it.
	Counted Basis = "counted"
	// Modelled says that it is derived from counts and assumptions.
	Modelled Basis = "modelled"
)

// Line is one line of a bill.
type Line struct {
	What     string  `json:"what"`
	Price    string  `json:"price"` // its name in the price list
	Basis    Basis   `json:"basis"`
	Quantity float64 `json:"quantity"`
	Unit     string  `json:"unit"`
	Cost     float64 `json:"cost"`
	// Whole is the cost without the monthly free quantity.
	Whole float64 `json:"whole"`
}

// Part is a part of a bill.
type Part struct {
	Name  string `json:"name"`
	Lines []Line `json:"lines"`
	// Claimed is the source document's figure for the same; 0 without one.
	Claimed float64 `json:"claimed,omitempty"`
}

// Cost sums the lines; whole is the sum if nothing were free of charge.
func (p Part) Cost() (cost, whole float64) {
	for _, l := range p.Lines {
		cost += l.Cost
		whole += l.Whole
	}
	return cost, whole
}

// Bill is a month's.
type Bill struct {
	Prices Prices `json:"prices"`
	// Table is like for like with the source document's estimate: creates and updates with every index, ledger row and
	// transaction, its reads, a month's storage.
	Table Part `json:"table"`
	// Compared is Table by the headings of that estimate.
	Compared []Comparison `json:"compared"`
	// LifeCycle, Devices and Accounts are the other use of the table, and Rest every other service, for everything.
	LifeCycle Part `json:"lifeCycle"`
	Devices   Part `json:"devices"`
	Accounts  Part `json:"accounts"`
	Rest      Part `json:"rest"`
	// ByActivity is the table cost of one of each, and of all of them.
	ByActivity []ActivityCost `json:"byActivity"`
}

// Parts returns the parts of the bill.
func (b Bill) Parts() []Part { return []Part{b.Table, b.LifeCycle, b.Devices, b.Accounts, b.Rest} }

// Cost sums the whole bill; whole is the sum if nothing were free of charge.
func (b Bill) Cost() (cost, whole float64) {
	for _, p := range b.Parts() {
		c, w := p.Cost()
		cost, whole = cost+c, whole+w
	}
	return cost, whole
}

// claimed is the total of the source document's estimate.
const claimed = 39.42

// rowOverhead is the number of bytes that DynamoDB bills for each row of the table and of an index in addition to its
// content.
const rowOverhead = 100

const gigabyte = 1 << 30

// biller makes lines.
type biller struct {
	month  *Month
	prices Prices
}

func (b biller) line(what, price string, basis Basis, quantity float64) Line {
	p := b.prices.Prices[price]
	return Line{what, price, basis, quantity, p.Unit, p.costOf(quantity), p.whole(quantity)}
}

// NewBill applies prices to a month.
func NewBill(m *Month, prices Prices) Bill {
	b := biller{m, prices}
	table := Part{"the table, like for like", b.table(Creates, Updates, Reads), claimed}
	return Bill{
		Prices:    prices,
		Table:     table,
		Compared:  compare(table),
		LifeCycle: Part{"the table, life cycle", b.table(LifeCycle), 0},
		Devices:   Part{"the table, devices", b.table(Devices), 0},
		Accounts:  Part{"the table, states of accounts", b.accounts(), 0},
		Rest:      Part{"everything else", b.rest(), 0},

		ByActivity: b.activities(),
	}
}

// table returns the lines of the table's use by some groups; the first of them includes the storage.
func (b biller) table(groups ...Group) []Line {
	units := map[string]*Units{}
	for _, t := range b.month.Taken {
		if !slices.Contains(groups, t.Group) {
			continue
		}
		for who, used := range t.Table {
			if who == fence {
				continue // see accounts
			}
			if units[who] == nil {
				units[who] = &Units{}
			}
			units[who].add(*used)
		}
	}
	var lines []Line
	for _, who := range slices.Sorted(maps.Keys(units)) {
		u, times := units[who], b.month.Times
		if u.TableUnits > 0 {
			lines = append(lines, b.line(who+" writes, table", tableWrites, Counted, u.TableUnits*times))
		}
		for _, index := range slices.Sorted(maps.Keys(u.IndexUnits)) {
			lines = append(lines, b.line(who+" writes, "+string(index), tableWrites, Counted, u.IndexUnits[index]*times))
		}
		if u.ReadUnits > 0 {
			lines = append(lines, b.line(who+" reads", tableReads, Counted, u.ReadUnits*times))
		}
	}
	if slices.Contains(groups, Creates) {
		lines = append(lines, b.line("storage", tableStorage, Counted, b.storedGB(true)+b.storedGB(false)))
	}
	return lines
}

// accounts returns what it costs that accounts can leave: everything asks for the state of its user's account, and a
// function looks every five minutes for what is due.
func (b biller) accounts() []Line {
	asked := 0.0
	for _, t := range b.month.Taken {
		if used := t.Table[fence]; used != nil {
			asked += used.ReadUnits
		}
	}
	return []Line{
		b.line("fence reads", tableReads, Counted, asked*b.month.Times),
		b.line("account reads", tableReads, Modelled, looks*b.month.accountCalls()/2),
	}
}

// looks is the number of queries, of half a unit each, of a call of account that finds nothing: for what is overdue and
// due, for exports, and two for histories.
const looks = 5

// accountCalls is the number of calls of account, whatever the number of users.
func (m *Month) accountCalls() float64 {
	return float64(m.Load.Days) * day.Seconds() / size.AccountEvery.Seconds()
}

// polls is the number of requests with which the mapping of walk asks the queue when it is empty: five at a time, each
// of 20 seconds.
func (m *Month) polls() float64 { return float64(m.Load.Days) * day.Seconds() / 20 * 5 }

// storedGB returns the size of the table, or of its indexes, at the month's end, which exceeds the average over the
// month.
func (b biller) storedGB(ofTable bool) float64 {
	var bytes float64
	for _, s := range b.month.Stored {
		if (s.Index == table.Base) == ofTable {
			bytes += float64(s.Bytes) + float64(s.Rows)*rowOverhead
		}
	}
	return bytes * b.month.Times / gigabyte
}

// rest returns the lines of all other services.
func (b biller) rest() []Line {
	m, s := b.month, b.servicesOf(b.month.Taken)
	gathered := float64(m.Load.Days) * day.Minutes() * float64(m.Model.Processes*m.Model.MetricBytes)
	logged := (s.logged*m.Times + gathered) / gigabyte
	sessions := float64(m.Load.Users * m.Load.Days * m.Load.Sessions)
	calls := m.accountCalls()
	s.invocations[string(env.Account)] = calls / m.Times
	s.gbSeconds += calls / m.Times * float64(size.For(env.Account).MemoryMB) / 1024 *
		(m.Model.OwnMilliseconds + looks*m.Model.ReadMilliseconds + m.Model.ObjectMilliseconds) / 1000
	var lines []Line
	for _, f := range env.Functions() {
		if s.invocations[string(f)] == 0 {
			continue // the load changes no zone, so walk is not called
		}
		basis := Counted
		if b.gathered(string(f)) > 1 {
			basis = Modelled
		}
		lines = append(lines, b.line("invocations of "+string(f), functionRequests, basis, s.invocations[string(f)]*m.Times))
	}
	b.share(lines, functionRequests)
	return append(lines,
		b.line("their time", functionTime, Modelled, s.gbSeconds*m.Times),
		b.line("records of the stream", streamReads, Counted, s.records*m.Times),
		b.line("requests to the HTTP API", apiRequests, Counted, s.requests*m.Times),
		b.line("calls by the scheduler", scheduleCalls, Counted, s.calls*m.Times),
		b.line("events on the bus", busEvents, Counted, s.events*m.Times),
		b.line("polls of the walk queue", queueRequests, Modelled, m.polls()),
		b.line("lists of accounts that leave", objectPuts, Counted, calls),
		b.line("cold copies, put", objectPuts, Counted, s.objects*m.Times),
		b.line("cold copies, storage", objectStorage, Counted, s.objectBytes*m.Times/gigabyte),
		b.line("logs", logs, Modelled, logged),
		b.line("logs, kept a month", logStorage, Modelled, logged),
		b.line("metrics", metrics, Modelled, float64(len(m.Metrics)+m.Model.SpareMetrics)),
		b.line("alarms, by the metrics they watch", alarms, Counted, watched()),
		b.line("recovery to a point in time", tableRecovery, Counted, b.storedGB(true)),
		b.line("answers to clients", dataOut, Modelled, s.sent*m.Times/gigabyte),
		b.line("live hints, published and delivered", hintOperations, Modelled, published*s.hints*m.Times),
		b.line("live hints, apps that connect", hintOperations, Modelled, sessions*m.Model.ConnectionOperations),
		b.line("live hints, time connected", hintMinutes, Modelled, sessions*float64(m.Load.SessionMinutes)),
	)
}

// published is the number of operations of a hint: one comes in, and one goes out to the app that is open.
const published = 2

// watched returns how many metrics the alarms watch: an alarm on a sum is charged for each metric in it.
func watched() float64 {
	n := 0
	for _, a := range alarm.All(readers.Table(product.Registry())) {
		n += len(a.Of)
	}
	return float64(n)
}

// share divides the free quantity of one price among its lines, by their quantities.
func (b biller) share(lines []Line, price string) {
	p := b.prices.Prices[price]
	var all float64
	for _, l := range lines {
		all += l.Quantity
	}
	for i := range lines {
		lines[i].Cost = p.costOf(all) * lines[i].Quantity / all
	}
}
