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
	failedAt  time.Time // when the last failure was written
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
	was := map[*message]string{} // the state of each message that is touched
	for _, c := range w.Changes {
		user, kind, rest := split(c.PK, c.SK)
		switch kind {
		case "WEBHOOK":
			j.changed(w.At, w.By, user, rest, c)
		case "LANE":
			j.laneChanged(w.At, w.By, user, rest, c)
		case "MSG":
			if m := j.message(user, rest); m != nil {
				note(was, m)
				m.row = c.New
				if w.By != Foreign {
					j.moved(m, w, c)
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
		if m.isPending() && before != "pending" {
			m.pendingAt, m.pending, m.failedAt = w.At, j.seen, time.Time{}
		}
		if w.By == Foreign || j.gone[m.key.user] {
			continue
		}
		if m.isPending() != (m.out != nil) {
			j.breach("outbox", m.key.hookKey, m.id, "state %q, and OUT is there: %v", m.state(), m.out != nil)
		}
	}
}

func note(was map[*message]string, m *message) {
	if _, ok := was[m]; !ok {
		was[m] = m.state()
	}
}

// moved judges a change of a MSG row.
func (j *Judge) moved(m *message, w Write, c Change) {
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
		j.dead(m, w)
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
	j.checkBody(m, w.At)
}

// done judges that a message was delivered: some attempt since it became pending has a 2xx.
func (j *Judge) done(m *message, w Write) {
	for _, a := range m.attempts {
		if a.isDone() && a.order > m.pending {
			j.checkKept(m)
			return
		}
	}
	j.breach("W1", m.key.hookKey, m.id, "done, and no attempt since %s was answered with 2xx", stamp(m.pendingAt))
}

// dead judges that a message may be given up.
func (j *Judge) dead(m *message, w Write) {
	j.checkKept(m)
	reason := text(m.row, "reason")
	if reason == "" {
		j.breach("states", m.key.hookKey, m.id, "dead without a reason")
	}
	tried := 0
	for _, a := range m.attempts {
		if !a.ended.IsZero() && !a.isDone() && a.order > m.pending {
			tried++
		}
	}
	if tried >= maxAttempts {
		return
	}
	h := j.hooks[m.key.hookKey]
	if h == nil {
		return
	}
	for _, s := range h.during(w.At.Add(-j.tolerance.Stale), w.At) {
		if !isActive(s.row) {
			return
		}
	}
	if reason == "full" {
		if n := j.pendingOf(m.key.hookKey); n < j.tolerance.Room {
			j.breach("full", m.key.hookKey, m.id, "given up as full while %d were pending", n)
		}
		return
	}
	j.breach("W1", m.key.hookKey, m.id, "dead (%s) after %d attempts at an active endpoint", reason, tried)
}

func (j *Judge) pendingOf(key hookKey) (n int) {
	for _, m := range j.messages {
		if m.key.hookKey == key && m.isPending() {
			n++
		}
	}
	return n
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
		m.failedAt = w.At
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
	earliest, latest := wait*9/10, wait*11/10
	var last *attempt
	for _, a := range m.attempts {
		if !a.ended.IsZero() && !a.isDone() {
			last = a
		}
	}
	if last == nil || m.counted(failed) {
		j.breach("attempts", key, m.id, "OUT counts failure %d, which no receiver saw", failed)
		return
	}
	earliest, latest = max(earliest, last.asked), max(latest, last.asked)
	d := next.Sub(w.At)
	slack := j.tolerance.Clock + time.Second
	if h := j.hooks[key]; h != nil {
		latest = max(latest, h.lane.openUntil.Sub(w.At))
	}
	if d < earliest-slack-w.At.Sub(last.ended) || d > latest+slack {
		j.breach("attempts", key, m.id, "after failure %d the next attempt is in %s, not %s to %s", failed, d, earliest,
			latest)
	}
}

// counted reports whether receivers saw fewer failures since the message became pending than its row counts.
func (m *message) counted(failed int) bool {
	seen := 0
	for _, a := range m.attempts {
		if !a.ended.IsZero() && !a.isDone() && a.order > m.pending {
			seen++
		}
	}
	return seen < failed
}
