package hooklaws

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// attempt is one request of a message. Its status is 0 as long as it has none.
type attempt struct {
	message *message
	hook    *hook
	began   time.Time
	ended   time.Time
	status  int
	asked   time.Duration // what Retry-After asked for, at most an hour
	isProbe bool
	order   int // of the observation of its request
	worker  *worker
	url     string
	// hookRead and outRead are those of its request.
	hookRead, outRead int
	isWritten         bool // its outcome stands in the message's rows
}

func (a *attempt) isDone() bool { return a.status >= 200 && a.status < 300 }

// request judges one that has arrived, by all that the table says at this moment.
func (j *Judge) request(r Request) {
	id := one(r.Header["webhook-id"])
	m := j.byID[id]
	j.checkAddress(r, id)
	if m == nil {
		j.breach("fence", hookKey{}, id, "a request to %s, and no message ever had this id", r.URL)
		return
	}
	h := j.hooks[m.key.hookKey]
	if h == nil {
		j.breach("fence", m.key.hookKey, id, "a request, and no endpoint was ever there")
		return
	}
	recently := h.since(r.HookRead)
	j.checkTarget(h, m, r, recently)
	j.checkMoment(h, m, r, recently)
	if r.Method != "POST" {
		j.breach("W2", h.key, id, "the method is %s", r.Method)
	}
	if m.row != nil && string(r.Body) != m.body {
		j.breach("W2", h.key, id, "the body is not the message's: %q, not %q", cut(r.Body), cut([]byte(m.body)))
	}
	seconds, err := strconv.ParseInt(one(r.Header["webhook-timestamp"]), 10, 64)
	if sent := time.Unix(seconds, 0); err != nil || r.Begun.Sub(sent).Abs() > j.tolerance.Clock+time.Second {
		j.breach("timestamp", h.key, id, "webhook-timestamp %q of an attempt at %s",
			one(r.Header["webhook-timestamp"]), stamp(r.At))
	}
	j.unsigned = append(j.unsigned, unsigned{h, id, r})
	a := &attempt{
		message: m, hook: h, began: r.Begun, order: j.seen, url: r.URL, hookRead: r.HookRead, outRead: r.OutRead,
		worker: j.workers[workerKey{h.key, r.Worker}],
	}
	if a.worker == nil {
		j.breach("lease", h.key, id, "a request by a worker that never took the lane")
		return
	}
	j.checkSender(a, r, recently)
	m.attempts = append(m.attempts, a)
	h.running = append(h.running, a)
	j.open[r.ID] = a
}

func one(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

func cut(b []byte) []byte { return b[:min(len(b), 120)] }

// checkTarget judges that the request went to its endpoint, as its user has lately set it.
func (j *Judge) checkTarget(h *hook, m *message, r Request, recently []state) {
	if !slices.ContainsFunc(recently, func(s state) bool { return text(s.row, "url") == r.URL }) {
		j.breach("target", h.key, m.id, "a request to %s, the endpoint's url is %q", r.URL, text(h.now(), "url"))
	}
	if !slices.ContainsFunc(recently, func(s state) bool { return isActive(s.row) }) {
		j.breach("W5", h.key, m.id, "a request to an endpoint that is %s", statusOf(h.now()))
	}
}

func statusOf(row map[string]any) string {
	if row == nil {
		return "not there"
	}
	return text(row, "status")
}

// checkMoment judges whether this message may be sent now.
func (j *Judge) checkMoment(h *hook, m *message, r Request, recently []state) {
	slack := j.tolerance.Clock + time.Second
	switch {
	case m.row == nil:
		j.breach("fence", h.key, m.id, "a request, and the row of its message is not there")
	case m.isEnded() && m.outOrder <= r.OutRead:
		j.breach("W1", h.key, m.id, "a request of a message that is %s since %s", m.state(), stamp(m.outAt))
	case m.out != nil && m.outOrder <= r.OutRead && r.At.Before(instant(m.out["nextAt"]).Add(-slack)):
		j.breach("attempts", h.key, m.id, "a request at %s, before nextAt %v", stamp(r.At), m.out["nextAt"])
	}
	if !slices.ContainsFunc(recently, func(s state) bool { return !isFifo(s.row) }) {
		j.checkOrder(h, m, r)
	}
}

// checkOrder judges a request of an endpoint in fifo order (W3).
func (j *Judge) checkOrder(h *hook, m *message, r Request) {
	item := m.item()
	for _, other := range j.messages {
		if other.key.hookKey != h.key || !other.isPending() || other.item() != item || other.version == 0 {
			continue
		}
		if other.key.rest < m.key.rest && other.pending <= r.OutRead {
			j.breach("W3", h.key, m.id, "version %d of %s is sent while version %d is pending", m.version, item, other.version)
		}
	}
}

// checkSender judges a request by what its worker knows of the lane. A late worker, whose lease has ended, may still
// send: it knows nothing of what others have done since.
func (j *Judge) checkSender(a *attempt, r Request, recently []state) {
	m, key, w, slack := a.message, a.hook.key, a.worker, j.tolerance.Clock+time.Second
	if until := w.lane.leaseUntil; until.Before(r.At.Add(-slack - j.tolerance.Stale)) {
		j.breach("lease", key, m.id, "a request at %s, and its worker's lease was until %s", stamp(r.At), stamp(until))
	}
	isOrdered := !slices.ContainsFunc(recently, func(s state) bool { return !isFifo(s.row) })
	for _, other := range a.hook.running {
		if other.worker == w && isOrdered {
			j.breach("W3", key, m.id, "a request while that of %s is under way", other.message.id)
		}
	}
	if before := m.unwritten(w); before != nil && m.outOrder <= before.outRead { // else its outcome was refused
		j.breach("attempts", key, m.id, "a request while the outcome of the one before is not written")
	}
	if !slices.ContainsFunc(recently, func(s state) bool { return text(s.row, "activeSince") == w.lane.activeSince }) {
		return // the lane says what became of another address, or of a time before the endpoint was disabled
	}
	if until := w.lane.openUntil; r.Begun.Before(until.Add(-slack)) {
		j.breach("breaker", key, m.id, "a request at %s, and nothing is let through until %s", stamp(r.Begun), stamp(until))
	}
	if a.isProbe = w.lane.opened > 0; !a.isProbe {
		return
	}
	for _, other := range a.hook.running {
		if other.worker == w && other.isProbe {
			j.breach("breaker", key, m.id, "a second probe beside that of %s", other.message.id)
		}
	}
}

// unwritten returns the last attempt of a message by a worker, if it has ended and its outcome is not written; nil for
// none.
func (m *message) unwritten(w *worker) *attempt {
	for _, a := range slices.Backward(m.attempts) {
		if a.worker == w && !a.ended.IsZero() && !a.isWritten {
			return a
		}
	}
	return nil
}

// answer takes the end of a request.
func (j *Judge) answer(o Answer) {
	a := j.open[o.ID]
	if a == nil {
		return
	}
	delete(j.open, o.ID)
	a.ended, a.status = o.At, o.Status
	if slices.Contains([]int{429, 502, 503, 504}, o.Status) {
		a.asked = min(retryAfter(o.RetryAfter, o.At), maxAsked)
	}
	a.hook.running = slices.DeleteFunc(a.hook.running, func(other *attempt) bool { return other == a })
	a.worker.uncounted = append(a.worker.uncounted, a)
}

// retryAfter reads the header by RFC 9110: seconds or a date. 0 if it says neither.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := time.Parse(time.RFC1123, value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
