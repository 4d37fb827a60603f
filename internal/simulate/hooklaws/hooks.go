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
	renewed int       // and of the last one by which it became active, or got another address
	lane    laneState

	answers  []*attempt // those that have ended, in the order of their ends
	running  []*attempt
	closedAt time.Time // when the breaker was last closed
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
func (j *Judge) changed(at time.Time, by Author, user, id string, c Change) {
	key := hookKey{user, id}
	h := j.hooks[key]
	if h == nil {
		h = &hook{key: key}
		j.hooks[key] = h
	}
	if h.now() == nil && c.New != nil {
		h.created, h.order = instant(c.New["createdAt"]), j.seen
	}
	if was := h.now(); c.New != nil && text(was, "activeSince") != text(c.New, "activeSince") {
		// Two addresses within a second count as one, as the lane counts them.
		h.renewed = j.seen
	}
	h.states = append(h.states, state{at, j.seen, c.New})
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
	gone := slices.ContainsFunc(h.answers, func(a *attempt) bool { return a.status == 410 && a.order > h.renewed })
	since := h.failingSince()
	hasFailed := !since.IsZero() && at.Sub(since) >= failingFor-j.tolerance.Clock
	if !j.tolerance.AreSlow && !gone && !hasFailed {
		j.breach("W5", h.key, "", "DISABLED at %s, has failed since %s, and no answer was 410", stamp(at), stamp(since))
	}
}

// failingSince returns the end of the first failure after the last success, or zero after a success. Another address
// begins with none, and so does an endpoint that its user has made active again.
func (h *hook) failingSince() time.Time {
	var since time.Time
	for _, a := range h.answers {
		switch {
		case a.order < h.renewed:
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

// laneState has the content of a lane's row. Its attributes are those of docs/webhooks.md, "Attempts".
type laneState struct {
	openUntil  time.Time
	isBroken   bool // the breaker has opened, and no probe has succeeded since
	leaseUntil time.Time
	// activeSince is the endpoint's to which all but the lease belongs.
	activeSince string
}

func laneOf(row map[string]any) laneState {
	return laneState{
		instant(row["openUntil"]), number(row["opened"]) > 0, instant(row["leaseUntil"]), text(row, "activeSince"),
	}
}

// laneChanged judges the breaker's moves.
func (j *Judge) laneChanged(at time.Time, by Author, user, id string, c Change) {
	h := j.hooks[hookKey{user, id}]
	if h == nil {
		return
	}
	h.lane = laneOf(c.New)
	if by != Service {
		return
	}
	was, is := laneOf(c.Old), h.lane
	switch opened, before := number(c.New["opened"]), number(c.Old["opened"]); {
	case opened == before+1:
		j.opens(h, at, opened)
	case opened != before && opened != 0:
		j.breach("breaker", h.key, "", "opening %d follows %d", opened, before)
	case is.openUntil.After(was.openUntil):
		j.postponed(h, at)
	case was.isBroken && !is.isBroken:
		h.closedAt = at
		if !h.hasSucceeded(at) && was.activeSince == is.activeSince {
			j.breach("breaker", h.key, "", "it was closed, and no probe has succeeded")
		}
	}
}

// hasSucceeded reports whether an attempt of the last hour, the life of no worker, was answered with 2xx.
func (h *hook) hasSucceeded(at time.Time) bool {
	return slices.ContainsFunc(h.answers, func(a *attempt) bool {
		return a.isDone() && a.ended.Add(longestOpen).After(at)
	})
}

// opens judges that the breaker opens: after five failures, for twice as long each time.
func (j *Judge) opens(h *hook, at time.Time, opened int) {
	long := min(time.Minute<<min(opened-1, 10), longestOpen)
	slack := j.tolerance.Clock + time.Second
	if d := h.lane.openUntil.Sub(at); d < long-j.tolerance.Stale || d > max(long, h.lastAsked(at))+slack {
		j.breach("breaker", h.key, "", "opening %d lasts %s, not %s", opened, d, long)
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

// postponed judges that a lane waits although its breaker has not opened: only Retry-After asks for that.
func (j *Judge) postponed(h *hook, at time.Time) {
	if d, asked := h.lane.openUntil.Sub(at), h.lastAsked(at); d > asked+j.tolerance.Clock+time.Second {
		j.breach("breaker", h.key, "", "it waits for %s, and its receiver asked for %s", d, asked)
	}
}

// lastAsked returns the longest wait that receivers have asked for within the last hour.
func (h *hook) lastAsked(at time.Time) (asked time.Duration) {
	for _, a := range h.answers {
		if a.ended.Add(longestOpen).After(at) {
			asked = max(asked, a.asked)
		}
	}
	return asked
}
