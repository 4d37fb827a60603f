package hooklaws

import (
	"strings"
	"time"
)

type message struct {
	key       messageKey
	id        string
	occurred  time.Time
	version   int
	row, out  map[string]any
	body      string
	typ       string
	put       time.Time // when the row came
	pendingAt time.Time // when it last became pending
	pending   int       // and the number of that observation
	outAt     time.Time // when its outbox row last changed
	outOrder  int       // and the number of that observation
	attempts  []*attempt
}

func (m *message) state() string { return text(m.row, "state") }

func (m *message) isPending() bool { return m.row != nil && m.state() == "pending" }

func (m *message) isEnded() bool { return m.row != nil && (m.state() == "done" || m.state() == "dead") }

// message returns the message of a sort key without its kind, and makes it if it is new. Nil if the key is none.
func (j *Judge) message(user, rest string) *message {
	parts := strings.Split(rest, "#")
	if len(parts) != 4 {
		return nil
	}
	key := messageKey{hookKey{user, parts[0]}, strings.Join(parts[1:], "#")}
	if m := j.messages[key]; m != nil {
		return m
	}
	m := &message{key: key, id: parts[3], occurred: instant(parts[1])}
	for _, digit := range parts[2] {
		m.version = 10*m.version + int(digit-'0')
	}
	j.checkKey(m, parts)
	j.messages[key] = m
	return m
}

func (j *Judge) checkKey(m *message, parts []string) {
	if m.occurred.IsZero() || len(parts[1]) != len("2006-01-02T15:04:05Z") {
		j.breach("keys", m.key.hookKey, m.id, "occurredAt is %s", parts[1])
	}
	if len(parts[2]) != 12 || strings.Trim(parts[2], "0123456789") != "" {
		j.breach("keys", m.key.hookKey, m.id, "the version is %s, not 12 digits", parts[2])
	}
	digits, ok := strings.CutPrefix(m.id, "msg_")
	if !ok || len(digits) != 26 || strings.Trim(strings.ToUpper(digits), "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		j.breach("keys", m.key.hookKey, m.id, "the id is not msg_ and 26 digits of base32")
	}
	if other := j.byID[m.id]; other != nil && other.key != m.key {
		j.breach("keys", m.key.hookKey, m.id, "two messages have this id: %s and %s", other.key.rest, m.key.rest)
	}
	j.byID[m.id] = m
}

// write takes a write of the table, then judges each message that it touched as a whole.
func (j *Judge) write(w Write) {
	was := map[*message]before{} // of each message that is touched
	for _, c := range w.Changes {
		user, kind, rest := split(c.PK, c.SK)
		switch kind {
		case "WEBHOOK":
			j.changed(w, user, rest, c)
		case "LANE":
			j.laneChanged(w, user, rest, c)
		case "MSG":
			if m := j.message(user, rest); m != nil {
				note(was, m)
				m.row = c.New
				if w.By != Foreign {
					j.moved(m, w, c, was[m].failed)
				}
			}
		case "OUT":
			if m := j.message(user, rest); m != nil {
				note(was, m)
				m.out = c.New
				if w.By != Foreign {
					j.waiting(m, w, c)
				}
				m.outAt, m.outOrder = w.At, j.seen
			}
		}
	}
	for m, before := range was {
		j.countWaiting(m, before.state == "pending")
		if m.isPending() && before.state != "pending" {
			m.pendingAt, m.pending = w.At, j.seen
		}
		if w.By == Foreign || j.gone[m.key.user] {
			continue
		}
		if m.isPending() != (m.out != nil) {
			j.breach("outbox", m.key.hookKey, m.id, "state %q, and OUT is there: %v", m.state(), m.out != nil)
		}
	}
}

// before holds a message's state before a write.
type before struct {
	state  string
	failed int // attempts, by its OUT row
}

func note(was map[*message]before, m *message) {
	if _, ok := was[m]; !ok {
		was[m] = before{m.state(), attemptsOf(m.out)}
	}
}

// countWaiting counts what is pending of an endpoint.
func (j *Judge) countWaiting(m *message, was bool) {
	h := j.hooks[m.key.hookKey]
	if h == nil {
		return
	}
	if h.waiting > j.tolerance.Room {
		h.crowded = j.seen
	}
	switch is := m.isPending(); {
	case is && !was:
		h.waiting++
	case was && !is:
		h.waiting--
	}
	if h.waiting > j.tolerance.Room {
		h.crowded = j.seen
	}
}

// moved judges a change of a MSG row.
func (j *Judge) moved(m *message, w Write, c Change, failed int) {
	key := m.key.hookKey
	if c.New == nil {
		if end := instant(c.Old["ttl"]); end.IsZero() || w.At.Before(end.Add(-j.tolerance.Clock)) {
			j.breach("fence", key, m.id, "the row of a %s message was removed before its ttl %s",
				text(c.Old, "state"), stamp(end))
		}
		return
	}
	if c.Old == nil {
		m.body, m.typ, m.put = text(c.New, "body"), text(c.New, "type"), w.At
		j.born(m, w)
	} else if m.body != text(c.New, "body") || m.typ != text(c.New, "type") {
		j.breach("W2", key, m.id, "body or type of the message have changed")
	}
	was, is := text(c.Old, "state"), text(c.New, "state")
	ttl := instant(c.New["ttl"])
	switch {
	case is == "pending" && !ttl.IsZero():
		j.breach("ttl", key, m.id, "a pending message has a ttl")
	case is != "pending" && was != is && !j.isNow(ttl.Add(-keptFor), w.At):
		j.breach("ttl", key, m.id, "ended at %s, ttl %s is not 30 days later", stamp(w.At), stamp(ttl))
	}
	switch was + ">" + is {
	case ">pending", ">dead", "pending>pending", "done>done", "dead>dead":
	case "pending>done":
		j.done(m, w)
	case "pending>dead":
		j.dead(m, w, failed)
	case "done>pending", "dead>pending":
		if w.By != User {
			j.breach("redeliver", key, m.id, "the service made a %s message pending again", was)
		}
	default:
		j.breach("states", key, m.id, "%q became %q", was, is)
	}
}

// isNow reports whether a worker that writes now may have taken this time for the present.
func (j *Judge) isNow(t, now time.Time) bool {
	return t.After(now.Add(-j.tolerance.Stale-j.tolerance.Clock)) && t.Before(now.Add(j.tolerance.Clock+time.Second))
}

// born judges a message that was not there before: a late one is dead at once, all others wait.
func (j *Judge) born(m *message, w Write) {
	age := w.At.Sub(m.occurred)
	switch late := m.state() == "dead" && text(m.row, "reason") == "late"; {
	case m.state() != "pending" && !late:
		j.breach("states", m.key.hookKey, m.id, "it begins as %q, reason %q", m.state(), text(m.row, "reason"))
	case late && age < lateAfter-j.tolerance.Clock:
		j.breach("late", m.key.hookKey, m.id, "late, and %s old", age)
	case !late && age > lateAfter+j.tolerance.Clock+time.Second:
		j.breach("late", m.key.hookKey, m.id, "it is to be sent, and %s old", age)
	}
	j.checkBody(m, w)
}

// outcome returns the attempt whose outcome a worker writes: its own last one, of a message that it has read since that
// became pending. Nil for none.
func (j *Judge) outcome(m *message, w Write) *attempt {
	a := m.unwritten(j.workers[workerKey{m.key.hookKey, w.Worker}])
	if a == nil || a.outRead < m.pending {
		return nil
	}
	a.isWritten = true
	return a
}

// done judges that a message was delivered: the worker that says so was answered with 2xx.
func (j *Judge) done(m *message, w Write) {
	if a := j.outcome(m, w); a == nil || !a.isDone() {
		j.breach("W1", m.key.hookKey, m.id, "done, and no attempt of its worker since %s was answered with 2xx",
			stamp(m.pendingAt))
	}
	j.checkKept(m)
}

// dead judges that a message may be given up. failed is the number of attempts that its OUT row counted.
func (j *Judge) dead(m *message, w Write, failed int) {
	j.checkKept(m)
	h, key := j.hooks[m.key.hookKey], m.key.hookKey
	if h == nil {
		return
	}
	switch reason := text(m.row, "reason"); reason {
	case "failed":
		if a := j.outcome(m, w); a == nil || a.isDone() || failed != maxAttempts-1 {
			j.breach("W1", key, m.id, "dead (failed) when %d attempts were counted", failed)
		}
	case "disabled":
		if h.now() == nil || isActive(h.now()) {
			j.breach("W1", key, m.id, "dead (disabled), and the endpoint is %s", statusOf(h.now()))
		}
	case "deleted":
		if h.now() != nil {
			j.breach("W1", key, m.id, "dead (deleted), and the endpoint is %s", statusOf(h.now()))
		}
	case "full":
		j.full(h, m, w)
	default:
		j.breach("states", key, m.id, "dead (%s), which is no reason", reason)
	}
}

// full judges that a message is one too many: more were pending since its worker took the lane, and none that is older
// and that the worker saw is pending.
func (j *Judge) full(h *hook, m *message, w Write) {
	by := j.workers[workerKey{h.key, w.Worker}]
	if h.waiting <= j.tolerance.Room && (by == nil || h.crowded < by.taken) {
		j.breach("full", h.key, m.id, "given up as full while %d were pending", h.waiting)
	}
	for _, other := range j.messages {
		if other.key.hookKey == h.key && other.isPending() && other.key.rest < m.key.rest &&
			max(other.pending, other.outOrder) <= w.OutRead {
			j.breach("full", h.key, m.id, "given up as full, and %s, which is older, is pending", other.id)
		}
	}
}

// checkKept compares the attempts that an ended message keeps with those that its receiver saw.
func (j *Judge) checkKept(m *message) {
	kept, _ := m.row["log"].([]any)
	if len(kept) > maxAttempts {
		j.breach("attempts", m.key.hookKey, m.id, "it keeps %d attempts", len(kept))
	}
	if m.state() == "done" && len(kept) == 0 {
		j.breach("attempts", m.key.hookKey, m.id, "done, and it keeps no attempt")
	}
	next := 0
	for i, k := range kept {
		one, _ := k.(map[string]any)
		for _, v := range one {
			if s, ok := v.(string); ok && len(s) > maxKept {
				j.breach("attempts", m.key.hookKey, m.id, "attempt %d keeps %d bytes of its answer", i+1, len(s))
			}
		}
		status := number(one["status"])
		for next < len(m.attempts) && m.attempts[next].status != status {
			next++
		}
		if next++; next > len(m.attempts) {
			j.breach("attempts", m.key.hookKey, m.id, "attempt %d with status %d was never answered so", i+1, status)
			return
		}
	}
}

// waiting judges a change of an OUT row: how many attempts it counts, and when the next one may be made.
func (j *Judge) waiting(m *message, w Write, c Change) {
	key := m.key.hookKey
	if c.New == nil {
		return
	}
	if _, ok := c.New["body"]; ok {
		j.breach("outbox", key, m.id, "OUT has a body")
	}
	was, is := attemptsOf(c.Old), attemptsOf(c.New)
	switch {
	case c.Old == nil && is != 0:
		j.breach("attempts", key, m.id, "a new OUT counts %d attempts", is)
	case c.Old != nil && is != was && is != was+1:
		j.breach("attempts", key, m.id, "OUT counts %d attempts after %d", is, was)
	case is >= maxAttempts:
		j.breach("attempts", key, m.id, "%d attempts failed, and it is still in the outbox", is)
	case c.Old != nil && is == was+1:
		j.checkWait(m, w, is)
	}
}

func attemptsOf(out map[string]any) int { return number(out["attempts"]) }

// checkWait judges nextAt after the failure with this number.
func (j *Judge) checkWait(m *message, w Write, failed int) {
	key, wait := m.key.hookKey, waits[failed]
	next := instant(m.out["nextAt"])
	if next.IsZero() {
		j.breach("attempts", key, m.id, "OUT without nextAt")
		return
	}
	last := j.outcome(m, w)
	if last == nil || last.isDone() {
		j.breach("attempts", key, m.id, "OUT counts failure %d, which its worker did not see", failed)
		return
	}
	earliest, latest := max(wait*9/10, last.asked), max(wait*11/10, last.asked)
	d, slack := next.Sub(w.At), j.tolerance.Clock+time.Second
	if d < earliest-slack-w.At.Sub(last.ended) || d > latest+slack {
		j.breach("attempts", key, m.id, "after failure %d the next attempt is in %s, not %s to %s", failed, d, earliest,
			latest)
	}
}
