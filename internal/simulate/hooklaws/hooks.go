package hooklaws

import (
	"slices"
	"strings"
	"time"
)

// state is an endpoint as it was from an instant on. A nil row means that it was not there.
type state struct {
	from  time.Time
	order int // of the observation
	row   map[string]any
}

type hook struct {
	key     hookKey
	states  []state
	created time.Time // the second of its creation
	order   int       // of the observation of its creation
	lane    lane
	running []*attempt
	waiting int // messages that are pending
	crowded int // the last observation with more of them than there may be
}

// since returns the states that the endpoint had at some moment from this one on.
func (h *hook) since(moment int) []state {
	for i, s := range slices.Backward(h.states) {
		if s.order <= moment {
			return h.states[i:]
		}
	}
	return h.states
}

func (h *hook) now() map[string]any {
	if len(h.states) == 0 {
		return nil
	}
	return h.states[len(h.states)-1].row
}

func isActive(row map[string]any) bool { return row != nil && text(row, "status") == "ACTIVE" }

func isFifo(row map[string]any) bool { return text(row, "ordering") == "fifo" }

func generation(row map[string]any) int { return number(row["generation"]) }

// changed takes a write of an endpoint's row.
func (j *Judge) changed(w Write, user, id string, c Change) {
	key := hookKey{user, id}
	h := j.hooks[key]
	if h == nil {
		h = &hook{key: key}
		j.hooks[key] = h
	}
	if h.now() == nil && c.New != nil {
		h.created, h.order = instant(c.New["createdAt"]), j.seen
	}
	h.states = append(h.states, state{w.At, j.seen, c.New})
	if w.By == Foreign {
		return
	}
	for name, v := range c.New {
		if s, ok := v.(string); ok && strings.Contains(s, "whsec_") {
			j.breach("secrets", key, "", "the row stores a secret in %s", name)
		}
	}
	if c.Old == nil && c.New != nil {
		if n := j.count(user); n > maxEndpoints {
			j.breach("limits", key, "", "the user has %d endpoints", n)
		}
	}
	if c.Old == nil || c.New == nil {
		return
	}
	if was, is := generation(c.Old), generation(c.New); was != is && is != was+1 {
		j.breach("secrets", key, "", "generation %d follows %d", is, was)
	} else if was != is && instant(c.New["rotatedAt"]).IsZero() {
		j.breach("secrets", key, "", "a rotation without rotatedAt")
	}
	if w.By == Service && isActive(c.Old) && !isActive(c.New) {
		j.disabled(h, w, c.New)
	}
}

func (j *Judge) count(user string) (n int) {
	for key, h := range j.hooks {
		if key.user == user && h.now() != nil {
			n++
		}
	}
	return n
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}
