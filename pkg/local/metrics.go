package local

import (
	"cmp"
	"net/http"
	"sync"
	"time"

	"nexus/pkg/reminders"
	"nexus/pkg/table"
)

// meters count the consumption of each user of the table. The zero value is ready.
type meters struct {
	mu     sync.Mutex
	byUser map[string]*table.Meter
}

// observerOf returns the observer of a user's store.
func (m *meters) observerOf(user string) table.Observer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byUser == nil {
		m.byUser = map[string]*table.Meter{}
	}
	m.byUser[user] = cmp.Or(m.byUser[user], &table.Meter{})
	return m.byUser[user].Observe
}

// useShown is one user's consumption of the table: in total, and by operation.
type useShown struct {
	table.Totals
	Operations table.TotalsByOperation `json:"operations,omitempty"`
}

func (m *meters) all() map[string]useShown {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]useShown{}
	for user, meter := range m.byUser {
		used := meter.Read()
		out[user] = useShown{used.Sum(), used}
	}
	return out
}

// getMetrics answers with the metrics that the functions emit in AWS, since the start.
func (p *Platform) getMetrics(w http.ResponseWriter, _ *http.Request) error {
	out := struct {
		Since     time.Time                 `json:"since"` // by the machine's clock
		Consumers []consumerShown           `json:"consumers"`
		Reminders map[reminders.Outcome]int `json:"reminders"`
		Hints     hintsShown                `json:"hints"`
		Changes   int64                     `json:"changesAppended"` // entries of change logs
		Store     map[string]useShown       `json:"store"`           // by consumer; api, notify and verify
	}{
		Since: p.started.UTC().Truncate(time.Second), Reminders: p.reminded.all(), Hints: p.hints.shown(),
		Changes: p.appended.Load(), Store: p.meters.all(),
	}
	for _, r := range p.readers {
		out.Consumers = append(out.Consumers, r.consumersShown()...)
	}
	return answer(w, out)
}
