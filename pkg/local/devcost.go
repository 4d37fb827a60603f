package local

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// Prices price a unit of what the local platform counts, as a deployment pays it.
type Prices struct {
	Source, AsOf, Currency                   string
	ReadUnit, WriteUnit, ScheduleCall, Event float64
}

// costLine prices the use of one part by one operation since the start.
type costLine struct {
	Part       string  `json:"part"`
	Operation  string  `json:"operation"`
	Calls      int     `json:"calls"`
	ReadUnits  float64 `json:"readUnits"`
	WriteUnits float64 `json:"writeUnits"`
	Price      float64 `json:"price"`
}

// getCost prices what was used of the table, the scheduler and the bus since the start.
func (p *Platform) getCost(w http.ResponseWriter, _ *http.Request) error {
	prices := p.options.Prices
	out := struct {
		Since    time.Time  `json:"since"`
		Seconds  float64    `json:"seconds"`
		Source   string     `json:"source"`
		AsOf     string     `json:"asOf"`
		Currency string     `json:"currency"`
		Writes   int64      `json:"writes"` // over HTTP
		Lines    []costLine `json:"lines"`
	}{
		p.started.UTC().Truncate(time.Second), time.Since(p.started).Seconds(), prices.Source, prices.AsOf, prices.Currency,
		p.seen.writes.Load(), []costLine{},
	}
	for part, used := range p.meters.all() {
		for operation, t := range used.Operations {
			out.Lines = append(out.Lines, costLine{
				part, operation, t.Calls, t.ReadUnits, t.WriteUnits, t.ReadUnits*prices.ReadUnit + t.WriteUnits*prices.WriteUnit,
			})
		}
	}
	if calls := int(p.schedules.calls.Load()); calls > 0 {
		out.Lines = append(out.Lines, costLine{
			Part: "scheduler", Operation: "call", Calls: calls, Price: float64(calls) * prices.ScheduleCall,
		})
	}
	if events := int(p.seen.events.Load()); events > 0 {
		out.Lines = append(out.Lines, costLine{
			Part: "bus", Operation: "publish", Calls: events, Price: float64(events) * prices.Event,
		})
	}
	slices.SortFunc(out.Lines, func(a, b costLine) int {
		return cmp.Or(cmp.Compare(b.Price, a.Price), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Operation, b.Operation))
	})
	return answer(w, out)
}
