package hooklaws

import (
	"net/netip"
	"net/url"
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
	if len(r.Body) > maxBody {
		j.breach("body", h.key, id, "the body has %d bytes", len(r.Body))
	}
	seconds, err := strconv.ParseInt(one(r.Header["webhook-timestamp"]), 10, 64)
	if sent := time.Unix(seconds, 0); err != nil || r.Begun.Sub(sent).Abs() > j.tolerance.Clock+time.Second {
		j.breach("timestamp", h.key, id, "webhook-timestamp %q of an attempt at %s",
			one(r.Header["webhook-timestamp"]), stamp(r.At))
	}
	j.unsigned = append(j.unsigned, unsigned{h, id, r})
	a := &attempt{message: m, hook: h, began: r.At, order: j.seen}
	j.checkBreaker(h, a)
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

// checkAddress judges where a request went: no address that could not be an endpoint's (W4, as far as a URL shows it).
func (j *Judge) checkAddress(r Request, id string) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "https" || u.User != nil {
		j.breach("W4", hookKey{}, id, "a request to %s", r.URL)
		return
	}
	_, err = netip.ParseAddr(u.Hostname())
	isBare := err == nil || u.Hostname() == "localhost"
	if port := u.Port(); isBare || port != "" && port != "443" && port != "8443" {
		j.breach("W4", hookKey{}, id, "a request to %s", r.URL)
	}
}

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
	failed := attemptsOf(m.out)
	if m.out != nil && m.outOrder <= r.OutRead && failed > 0 && failed < maxAttempts && !m.failedAt.IsZero() {
		if due := m.failedAt.Add(waits[failed] * 9 / 10); r.At.Before(due.Add(-slack)) {
			j.breach("attempts", h.key, m.id, "attempt %d at %s, not before %s", failed+1, stamp(r.At), stamp(due))
		}
	}
	for _, a := range m.attempts {
		if a.asked > 0 && a.order > m.pending && j.crashes[h.key.user].Before(a.ended) &&
			r.At.Before(a.ended.Add(a.asked-slack)) {
			j.breach("attempts", h.key, m.id, "the receiver asked for %s at %s, and was asked at %s",
				a.asked, stamp(a.ended), stamp(r.At))
		}
	}
	if !j.tolerance.AreSlow && j.crashes[h.key.user].Before(m.pendingAt) {
		j.checkRepeated(h, m)
	}
	// The lane of an endpoint that was deleted is gone with its lease.
	until := h.lane.leaseUntil
	if !j.tolerance.AreSlow && h.now() != nil && until.Before(r.Begun.Add(-slack-j.tolerance.Stale)) {
		j.breach("lease", h.key, m.id, "a request at %s, and the lease is until %s", stamp(r.At), stamp(until))
	}
	if !slices.ContainsFunc(recently, func(s state) bool { return !isFifo(s.row) }) {
		j.checkOrder(h, m, r)
	}
}

// checkRepeated judges a request in a time without crashes: each attempt before it has failed and is counted.
func (j *Judge) checkRepeated(h *hook, m *message) {
	made := 0
	for _, a := range m.attempts {
		if a.order > m.pending {
			made++
		}
	}
	if counted := attemptsOf(m.out); m.isPending() && made > counted {
		j.breach("attempts", h.key, m.id, "attempt %d, while its row counts %d", made+1, counted)
	}
	if made >= maxAttempts {
		j.breach("attempts", h.key, m.id, "attempt %d", made+1)
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
	for _, a := range h.running {
		if j.crashes[h.key.user].Before(a.began) {
			j.breach("W3", h.key, m.id, "a request while that of %s is under way", a.message.id)
		}
	}
}

// checkBreaker judges a request by the breaker that its lane's row shows.
func (j *Judge) checkBreaker(h *hook, a *attempt) {
	if j.tolerance.AreSlow || h.lane.activeSince != text(h.now(), "activeSince") {
		return // what the lane says is of another worker or address, or of a time before the endpoint was disabled
	}
	if a.began.Before(h.lane.openUntil.Add(-j.tolerance.Clock - time.Second)) {
		j.breach("breaker", h.key, a.message.id, "a request at %s, and nothing is let through until %s",
			stamp(a.began), stamp(h.lane.openUntil))
	}
	if a.isProbe = h.lane.isBroken; !a.isProbe {
		return
	}
	for _, other := range h.running {
		if other.isProbe && j.crashes[h.key.user].Before(other.began) {
			j.breach("breaker", h.key, a.message.id, "a second probe beside that of %s", other.message.id)
		}
	}
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
	a.hook.answers = append(a.hook.answers, a)
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
