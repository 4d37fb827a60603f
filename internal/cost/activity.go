package cost

// ActivityCost is the cost of an activity.
type ActivityCost struct {
	Activity
	Times      float64 `json:"times"`
	ReadUnits  float64 `json:"readUnits"`  // of one
	WriteUnits float64 `json:"writeUnits"` // of one
	Table      float64 `json:"table"`      // of all, at the table
	// Cost is the cost of all, including their use of other services, before deducting what is free of charge.
	Cost float64 `json:"cost"`
}

func (b biller) activities() []ActivityCost {
	var out []ActivityCost
	for _, t := range b.month.Taken {
		u, n, times := t.Units(), float64(t.Times), b.month.Times
		a := ActivityCost{Activity: t.Activity, Times: n * times, ReadUnits: u.ReadUnits / n, WriteUnits: u.WriteUnits() / n}
		a.Table = (b.whole(tableReads, u.ReadUnits) + b.whole(tableWrites, u.WriteUnits())) * times
		a.Cost = a.Table + b.elsewhere(t)*times +
			b.whole(tableWrites, u.WriteUnits())*float64(b.when.Replicas)*times
		out = append(out, a)
	}
	return out
}

func (b biller) whole(price string, quantity float64) float64 {
	return b.price(price).whole(quantity)
}

// elsewhere returns an activity's cost at the other services, for its replayed repetitions.
func (b biller) elsewhere(t *Taken) float64 {
	s := b.servicesOf([]*Taken{t})
	var invocations float64
	for _, n := range s.invocations {
		invocations += n
	}
	cost := b.whole(functionRequests, invocations) + b.whole(functionTime, s.gbSeconds) +
		b.whole(apiRequests, s.requests) + b.whole(scheduleCalls, s.calls) + b.whole(busEvents, s.events) +
		b.whole(objectPuts, s.objects) + b.whole(logs, s.logged/gigabyte) + b.whole(b.way(), s.sent/gigabyte) +
		b.whole(hintOperations, published*s.hints) + b.whole(dataOut, s.pushed(b.month.Model)/gigabyte)
	if b.when.Edge {
		cost += b.whole(edgeRequests, s.requests) + b.whole(webRequests, s.requests)
	}
	return cost
}
