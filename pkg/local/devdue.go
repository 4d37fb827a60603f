package local

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	schedulelocal "nexus/pkg/schedule/local"
)

// dueShown is one thing that waits for its time.
type dueShown struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // schedule, timer, expiry or walk
	User string    `json:"user,omitempty"`
	Item string    `json:"item,omitempty"`
	Name string    `json:"name"` // of the schedule, the row or the walk
}

// getDue lists what waits for its time, the next first.
func (p *Platform) getDue(w http.ResponseWriter, r *http.Request) error {
	limit, _, err := listParams(r, maxList)
	if err != nil {
		return err
	}
	var due []dueShown
	for _, e := range p.scheduler.All() {
		if e.State != schedulelocal.Completed {
			var said struct {
				UserID string `json:"userId"`
				ItemID string `json:"itemId"`
			}
			_ = json.Unmarshal(e.Payload, &said) // what can be read of it is shown
			due = append(due, dueShown{e.At, "schedule", said.UserID, said.ItemID, e.Name})
		}
	}
	due = append(due, p.rows.due()...)
	for _, e := range p.walks.queue.All() {
		if !e.Dead {
			due = append(due, dueShown{At: p.clock.Now().Truncate(time.Second), Kind: "walk", Name: e.String()})
		}
	}
	slices.SortFunc(due, func(a, b dueShown) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	out := struct {
		listed[dueShown]
		More int `json:"more"` // that are not listed
	}{More: max(0, len(due)-limit)}
	out.Items = append([]dueShown{}, due[:min(limit, len(due))]...)
	return answer(w, out)
}

// due lists the rows whose expiry has consequences.
func (e *expiries) due() (out []dueShown) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, row := range e.rows {
		if !e.hasConsequences(key) {
			continue
		}
		one := dueShown{At: time.Unix(row.at, 0).UTC(), Kind: "expiry", Name: key.SK}
		one.User, _ = entity.ParseUserPK(key.PK)
		one.Item = itemOf(key, e.types)
		if timer, err := entity.ParseTimer(key.SK); err == nil {
			one.Kind, one.Item = "timer", timer.TaskID
		}
		out = append(out, one)
	}
	return out
}

// itemOf returns the id of the item whose row it is; empty for another row.
func itemOf(key item.Key, types []*entity.Type) string {
	sk, err := entity.ParseSortKey(key.SK, types...)
	if err != nil || sk.IsRow() {
		return ""
	}
	return sk.Ref().ID
}
