package hooklaws

import (
	"slices"
	"strings"
	"time"
)

// state is an endpoint as it was from an instant on. A nil row means that it was not there.
type state struct {
	from time.Time
	row  map[string]any
	by   Author
}

type hook struct {
	key     hookKey
	states  []state
	created time.Time // the second of its creation
	lane    map[string]any

	answers  []*attempt // those that have ended, in the order of their ends
	running  []*attempt
	opened   int       // openings of the breaker since it was closed
	closedAt time.Time // when the breaker was last closed
	seenDone time.Time // the last outcome that was written as done
}

// during returns the states that the endpoint had at some time in [from, to].
func (h *hook) during(from, to time.Time) []state {
	var is []state
	for i, s := range h.states {
		if s.from.After(to) {
			break
		}
		if i+1 < len(h.states) && h.states[i+1].from.Before(from) {
			continue
		}
		is = append(is, s)
	}
	if len(h.states) > 0 && h.states[0].from.After(from) {
		is = append([]state{{}}, is...)
	}
	return is
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
func (j *Judge) changed(at time.Time, by Author, user, id string, c Change) {
	key := hookKey{user, id}
	h := j.hooks[key]
	if h == nil {
		h = &hook{key: key}
		j.hooks[key] = h
	}
	if h.now() == nil && c.New != nil {
		h.created = instant(c.New["createdAt"])
	}
	h.states = append(h.states, state{at, c.New, by})
	if by == Foreign {
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
	if by == Service && isActive(c.Old) && !isActive(c.New) {
		j.disabled(h, at, c.New)
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

// disabled judges that the service has switched an endpoint off (W5).
func (j *Judge) disabled(h *hook, at time.Time, row map[string]any) {
	if text(row, "reason") == "" {
		j.breach("W5", h.key, "", "DISABLED without a reason")
	}
	gone := slices.ContainsFunc(h.answers, func(a *attempt) bool { return a.status == 410 })
	if since := h.failingSince(); !gone && (since.IsZero() || at.Sub(since) < failingFor-j.tolerance.Clock) {
		j.breach("W5", h.key, "", "DISABLED at %s, has failed since %s, and no answer was 410", stamp(at), stamp(since))
	}
}

// failingSince returns the end of the first failure after the last success, or zero after a success.
func (h *hook) failingSince() time.Time {
	var since time.Time
	for _, a := range h.answers {
		switch {
		case a.isDone():
			since = time.Time{}
		case since.IsZero():
			since = a.ended
		}
	}
	return since
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}

// breaker reads the state of a lane: until is zero unless it is open.
func breaker(lane map[string]any) (name string, until time.Time) {
	switch b := lane["breaker"].(type) {
	case string:
		return b, instant(lane["until"])
	case map[string]any:
		return text(b, "state"), instant(b["until"])
	}
	return "closed", time.Time{}
}

// laneChanged judges the breaker's moves.
func (j *Judge) laneChanged(at time.Time, by Author, user, id string, c Change) {
	h := j.hooks[hookKey{user, id}]
	if h == nil {
		return
	}
	h.lane = c.New
	was, before := breaker(c.Old)
	is, until := breaker(c.New)
	if by != Service {
		return
	}
	switch {
	case is == "open" && (was != "open" || !until.Equal(before)):
		h.opened++
		j.opens(h, at, until)
	case is == "closed" && was != "closed":
		h.opened, h.closedAt = 0, at
		if a := h.lastDone(); a == nil || a.ended.Add(longestOpen).Before(at) {
			j.breach("breaker", h.key, "", "it was closed, and no probe has succeeded")
		}
	}
}

func (h *hook) lastDone() *attempt {
	for _, a := range slices.Backward(h.answers) {
		if a.isDone() {
			return a
		}
	}
	return nil
}

func (j *Judge) opens(h *hook, at, until time.Time) {
	long := min(time.Minute<<min(h.opened-1, 10), longestOpen)
	if d := until.Sub(at); (d - long).Abs() > j.tolerance.Clock {
		j.breach("breaker", h.key, "", "opening %d lasts %s, not %s", h.opened, d, long)
	}
	failed := 0
	for _, a := range h.answers {
		if !a.isDone() && !a.ended.Before(h.closedAt) {
			failed++
		}
	}
	if failed < opensAfter {
		j.breach("breaker", h.key, "", "it opens after %d failures", failed)
	}
}
