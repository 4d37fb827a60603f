package cost

import (
	"maps"
	"slices"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/deploy/size"
	"nexus/pkg/product"
	"nexus/pkg/system"
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
	// index is the one whose entries are written; [table.Base] for the table itself.
	index table.Index
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
	When   When   `json:"when"`
	// Table is like for like with the source document's estimate: creates and updates with every index, ledger row and
	// transaction, its reads, a month's storage.
	Table Part `json:"table"`
	// Compared is Table by the headings of that estimate.
	Compared []Comparison `json:"compared"`
	// Places says where the units of Table go, Growth what the whole costs in later months, and Doors what it costs by
	// the setting door. Further holds what would lower it.
	Places  []Place   `json:"places"`
	Growth  []Growth  `json:"growth"`
	Doors   []Door    `json:"doors"`
	Further []Further `json:"further"`
	// LifeCycle, Devices, Pushes, Accounts and Limits are the other use of the table, and Rest every other service, for
	// everything.
	LifeCycle Part `json:"lifeCycle"`
	Devices   Part `json:"devices"`
	Pushes    Part `json:"pushes"`
	Accounts  Part `json:"accounts"`
	Limits    Part `json:"limits"`
	Searches  Part `json:"searches"`
	Webhooks  Part `json:"webhooks"`
	Rest      Part `json:"rest"`
	// Edge has what stands before the API, if anything does.
	Edge *Part `json:"edge,omitempty"`
	// Replicas has what replicas of the table in other regions cost, if there are any.
	Replicas *Part `json:"replicas,omitempty"`
	// ByActivity is the table cost of one of each, and of all of them.
	ByActivity []ActivityCost `json:"byActivity"`
}

// Parts returns the parts of the bill.
func (b Bill) Parts() []Part {
	parts := []Part{b.Table, b.LifeCycle, b.Devices, b.Pushes, b.Accounts, b.Limits, b.Searches, b.Webhooks, b.Rest}
	for _, part := range []*Part{b.Edge, b.Replicas} {
		if part != nil {
			parts = append(parts, *part)
		}
	}
	return parts
}

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

const gigabyte = 1 << 30

// When says which month of a deployment a bill is for, and how its table is kept.
type When struct {
	// Month counts from 1, and 0 is the first, too. What users do in a month stays the same; what is stored grows.
	Month int `json:"month"`
	// Infrequent says that the table is of the class for infrequent access: storage costs less, and units more.
	Infrequent bool `json:"infrequent"`
	// Edge says that CloudFront and AWS WAF stand before the API.
	Edge bool `json:"edge,omitempty"`
	// Replicas is the number of other regions that have a replica of the table.
	Replicas int `json:"replicas,omitempty"`
}

// biller makes lines.
type biller struct {
	month  *Month
	prices Prices
	when   When
	// direct says that apps reach command and query by function URLs.
	direct bool
}

// price returns a price, of the table's class.
func (b biller) price(name string) Price {
	if b.when.Infrequent {
		switch name {
		case tableWrites, tableReads, tableStorage:
			name += infrequent
		}
	}
	return b.prices.Prices[name]
}

func (b biller) line(what, price string, basis Basis, quantity float64) Line {
	p := b.price(price)
	return Line{
		What: what, Price: price, Basis: basis, Quantity: quantity, Unit: p.Unit, Cost: p.costOf(quantity),
		Whole: p.whole(quantity),
	}
}

// NewBill applies prices to a month.
func NewBill(m *Month, prices Prices, when When) Bill {
	b := biller{month: m, prices: prices, when: when}
	bill := b.bill()
	bill.Compared, bill.Places = compare(bill.Table), b.places()
	bill.Growth, bill.Further, bill.Doors = b.growth(), b.further(bill), b.doors()
	bill.ByActivity = b.activities()
	return bill
}

// bill returns the parts of the bill.
func (b biller) bill() Bill {
	bill := Bill{
		Prices:    b.prices,
		When:      b.when,
		Table:     Part{"the table, like for like", b.table(Creates, Updates, Reads), claimed},
		LifeCycle: Part{"the table, life cycle", b.table(LifeCycle), 0},
		Devices:   Part{"the table, devices", b.table(Devices), 0},
		Pushes:    Part{"the table, reminders on devices", b.table(Pushes), 0},
		Accounts:  Part{"the table, states of accounts", b.accounts(), 0},
		Limits:    Part{"the table, limits of users", b.limits(), 0},
		Searches:  Part{"searches", b.searches(), 0},
		Webhooks:  Part{"webhooks", b.webhooks(), 0},
		Rest:      Part{"everything else", b.rest(), 0},
		Edge:      b.edge(),
	}
	bill.Replicas = b.replicas(bill.Parts())
	return bill
}

// table returns the lines of the table's use by some groups; the first of them includes the storage.
func (b biller) table(groups ...Group) []Line {
	units := b.unitsOf(groups...)
	delete(units, fence) // see accounts
	delete(units, system.PartLimits)
	var lines []Line
	for _, who := range slices.Sorted(maps.Keys(units)) {
		u := units[who]
		if u.TableUnits > 0 {
			lines = append(lines, b.line(who+" writes, table", tableWrites, Counted, u.TableUnits))
		}
		for _, index := range slices.Sorted(maps.Keys(u.IndexUnits)) {
			line := b.line(who+" writes, "+string(index), tableWrites, Counted, u.IndexUnits[index])
			line.index = index
			lines = append(lines, line)
		}
		if u.ReadUnits > 0 {
			lines = append(lines, b.line(who+" reads", tableReads, Counted, u.ReadUnits))
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

// canaryRuns is the number of runs of the canary, whatever the number of users.
func (m *Month) canaryRuns() float64 {
	return float64(m.Load.Days) * day.Seconds() / size.CanaryEvery.Seconds()
}

// limits returns what it costs that the API protects users from each other: one request in ten asks.
func (b biller) limits() []Line {
	var used Units
	for _, t := range b.month.Taken {
		if u := t.Table[system.PartLimits]; u != nil {
			used.add(*u)
		}
	}
	return []Line{
		b.line("limits writes, table", tableWrites, Counted, used.WriteUnits()*b.month.Times),
		b.line("limits reads", tableReads, Counted, used.ReadUnits*b.month.Times),
	}
}

// rest returns the lines of all other services.
func (b biller) rest() []Line {
	m, s := b.month, b.servicesOf(b.month.Taken)
	gathered := float64(m.Load.Days) * day.Minutes() * float64(m.Model.Processes*m.Model.MetricBytes)
	logged := (s.logged*m.Times + gathered) / gigabyte
	sessions := float64(m.Load.Users * m.Load.Days * m.Load.Sessions)
	calls := m.accountCalls()
	s.invocations[string(env.Account)], s.invocations[string(env.Canary)] = calls/m.Times, m.canaryRuns()/m.Times
	s.gbSeconds += (calls*float64(size.For(env.Account).MemoryMB)/1024*
		(m.Model.OwnMilliseconds+looks*m.Model.ReadMilliseconds+m.Model.ObjectMilliseconds)/1000 +
		m.canaryRuns()*float64(size.For(env.Canary).MemoryMB)/1024*m.Model.CanarySeconds) / m.Times
	requests := b.line("requests to the HTTP API", apiRequests, Counted, s.requests*m.Times)
	if b.direct { // an app that opens asks the HTTP API for the addresses, and is open for less than they are good
		requests = b.line(requests.What, apiRequests, Modelled, sessions)
		s.invocations[queryFunction] += sessions / m.Times
		s.gbSeconds += sessions * float64(size.For(env.Query).MemoryMB) / 1024 * m.Model.OwnMilliseconds / 1000 / m.Times
	}
	var lines []Line
	for _, name := range slices.Sorted(maps.Keys(s.invocations)) { // the load changes no zone, so walk is not called
		basis := Counted
		if b.gathered(name) > 1 || name == string(env.Canary) {
			basis = Modelled
		}
		lines = append(lines, b.line("invocations of "+name, functionRequests, basis, s.invocations[name]*m.Times))
	}
	b.share(lines, functionRequests)
	return append(lines,
		b.line("their time", functionTime, Modelled, s.gbSeconds*m.Times),
		b.line("records of the stream", streamReads, Counted, s.records*m.Times),
		requests,
		b.line("calls by the scheduler", scheduleCalls, Counted, s.calls*m.Times),
		b.line("events on the bus", busEvents, Counted, s.events*m.Times),
		b.line("polls of the walk queue", queueRequests, Modelled, m.polls()),
		b.line("lists of accounts that leave", objectPuts, Counted, calls),
		b.line("cold copies, put", objectPuts, Counted, s.objects*m.Times),
		b.line("cold copies, storage", objectStorage, Counted, s.objectBytes*m.Times/gigabyte*float64(max(b.when.Month, 1))),
		b.line("logs", logs, Modelled, logged),
		b.line("logs, kept a month", logStorage, Modelled, logged),
		b.line("metrics", metrics, Counted, float64(len(metric.Names()))),
		b.line("alarms, by the metrics they watch", alarms, Counted, b.watched()),
		b.line("dashboard", dashboards, Counted, 1),
		b.line("canary, requests", apiRequests, Modelled, m.canaryRuns()*m.Model.CanaryRequests),
		b.line("canary, what its requests change", tableWrites, Modelled, m.canaryRuns()*m.Model.CanaryUnits),
		b.line("recovery to a point in time", tableRecovery, Counted, b.storedGB(true)),
		b.line("answers to clients", b.way(), Modelled, s.sent*m.Times/gigabyte),
		b.line("messages to push services", dataOut, Modelled, s.pushed(m.Model)*m.Times/gigabyte),
		b.line("live hints, published and delivered", hintOperations, Modelled, published*s.hints*m.Times),
		b.line("live hints, apps that connect", hintOperations, Modelled, sessions*m.Model.ConnectionOperations),
		b.line("live hints, time connected", hintMinutes, Modelled, sessions*float64(m.Load.SessionMinutes)),
	)
}

// published is the number of operations of a hint: one comes in, and one goes out to the app that is open.
const published = 2

// watched returns how many metrics the alarms watch, those of ceilings among them, which prod has: an alarm on a sum is
// charged for each metric in it.
func (b biller) watched() float64 {
	all := alarm.All(readers.Table(product.Registry()))
	if b.direct {
		all = alarm.Direct(all)
	}
	n := 0
	for _, a := range slices.Concat(all, alarm.Ceilings(1, 1)) {
		n += len(a.Of)
	}
	return float64(n)
}

// share divides the free quantity of one price among its lines, by their quantities.
func (b biller) share(lines []Line, price string) {
	p := b.price(price)
	var all float64
	for _, l := range lines {
		all += l.Quantity
	}
	for i := range lines {
		lines[i].Cost = p.costOf(all) * lines[i].Quantity / all
	}
}
