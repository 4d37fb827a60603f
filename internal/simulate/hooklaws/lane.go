package hooklaws

import (
	"slices"
	"time"
)

// lane has the content of a lane's row. What it says of failures belongs to the endpoint's activeSince.
type lane struct {
	isThere     bool
	owner       string
	leaseUntil  time.Time
	activeSince string

	failed    int       // attempts in a row
	since     time.Time // when the first attempt after the last success failed
	opened    int       // how often in a row the breaker opened
	openUntil time.Time
}

func laneOf(row map[string]any) lane {
	return lane{
		isThere: row != nil, owner: text(row, "leaseOwner"), leaseUntil: instant(row["leaseUntil"]),
		activeSince: text(row, "activeSince"), failed: number(row["failures"]), since: instant(row["failingSince"]),
		opened: number(row["opened"]), openUntil: instant(row["openUntil"]),
	}
}

// worker holds the lane as one call of the worker knows it: as it read it when it took it, and has written it since.
type worker struct {
	lane      lane
	taken     int        // the observation at which it took the lane
	uncounted []*attempt // those that have ended and do not stand in the lane's row, in the order of their ends
}

type workerKey struct {
	hookKey
	number int
}

// with returns the lane with the outcomes of attempts: five failures in a row open the breaker, a probe decides.
func (l lane) with(attempts []*attempt) lane {
	for _, a := range attempts {
		if a.isDone() {
			l.failed, l.since, l.opened, l.openUntil = 0, time.Time{}, 0, time.Time{}
			continue
		}
		if l.failed++; l.since.IsZero() {
			l.since = a.ended
		}
		if a.isProbe || l.failed >= opensAfter && l.opened == 0 {
			l.open(a.ended.Add(min(time.Minute<<min(l.opened, 10), longestOpen)))
			l.opened++
		}
		if a.asked > 0 {
			l.open(a.ended.Add(a.asked))
		}
	}
	return l
}

func (l *lane) open(until time.Time) {
	if until.After(l.openUntil) {
		l.openUntil = until
	}
}

// laneChanged takes a write of a lane's row. The worker takes the lane by it, or writes what it knows.
func (j *Judge) laneChanged(w Write, user, id string, c Change) {
	h := j.hooks[hookKey{user, id}]
	if h == nil {
		return
	}
	is := laneOf(c.New)
	key := workerKey{h.key, w.Worker}
	by := j.workers[key]
	switch {
	case w.By != Service:
	case c.New == nil:
		if h.now() != nil {
			j.breach("lane", h.key, "", "it was removed, and its endpoint is there")
		}
	case is.owner != h.lane.owner:
		if until := h.lane.leaseUntil; until.After(w.At.Add(j.tolerance.Clock + time.Second)) {
			j.breach("lease", h.key, "", "it was taken at %s, and another worker has it until %s", stamp(w.At), stamp(until))
		}
		h.lane.owner, h.lane.leaseUntil, h.lane.isThere = is.owner, is.leaseUntil, true
		j.workers[key] = &worker{lane: h.lane, taken: j.seen}
		return
	case by == nil || by.lane.owner != is.owner:
		j.breach("lease", h.key, "", "a worker wrote it that has not taken it")
	default:
		is = j.counted(h, by, w, is)
		by.lane, by.uncounted = is, nil
	}
	h.lane = is
}

// counted judges what a worker writes of the attempts that it has made since it last wrote: the breaker, and that an
// endpoint that has to be disabled is (W5). It returns the lane as it is then.
func (j *Judge) counted(h *hook, by *worker, w Write, is lane) lane {
	want := by.lane
	want.leaseUntil, want.activeSince = is.leaseUntil, is.activeSince
	if is.activeSince != by.lane.activeSince {
		want.failed, want.since, want.opened, want.openUntil = 0, time.Time{}, 0, time.Time{}
	}
	want = want.with(by.uncounted)
	slack := j.tolerance.Clock + time.Second
	latest := want.openUntil.Add(slack)
	if n := len(by.uncounted); n > 0 {
		latest = latest.Add(w.At.Sub(by.uncounted[0].ended))
	}
	switch {
	case is.opened != want.opened:
		j.breach("breaker", h.key, "", "it has opened %d times in a row, not %d, after %d failures", is.opened, want.opened,
			want.failed)
	case is.openUntil.IsZero() != want.openUntil.IsZero(), is.openUntil.Before(want.openUntil.Add(-slack)),
		is.openUntil.After(latest):
		j.breach("breaker", h.key, "", "nothing is let through until %s, not %s", stamp(is.openUntil), stamp(want.openUntil))
	}
	want.openUntil = is.openUntil
	if len(by.uncounted) == 0 {
		return want
	}
	last := by.uncounted[len(by.uncounted)-1]
	isOver := !want.since.IsZero() && last.ended.Sub(want.since) > failingFor+slack
	for _, a := range by.uncounted {
		if (a.status == 410 || a == last && isOver) && h.stays(a) {
			j.breach("W5", h.key, a.message.id, "it answered %d at %s, has failed since %s, and is ACTIVE", a.status,
				stamp(a.ended), stamp(want.since))
		}
	}
	return want
}

// stays reports whether the endpoint was active at the address of an attempt all the time since its worker read it.
func (h *hook) stays(a *attempt) bool {
	return !slices.ContainsFunc(h.since(a.hookRead), func(s state) bool {
		return !isActive(s.row) || text(s.row, "url") != a.url
	})
}

// disabled judges that a worker has switched an endpoint off (W5).
func (j *Judge) disabled(h *hook, w Write, row map[string]any) {
	by := j.workers[workerKey{h.key, w.Worker}]
	if by == nil {
		j.breach("W5", h.key, "", "DISABLED by a worker that never took the lane")
		return
	}
	switch reason := text(row, "reason"); reason {
	case "gone":
		if !slices.ContainsFunc(by.uncounted, func(a *attempt) bool { return a.status == 410 && a.url == text(row, "url") }) {
			j.breach("W5", h.key, "", "DISABLED as gone, and no answer to its worker was 410")
		}
	case "failing":
		since := by.lane.with(by.uncounted).since
		if since.IsZero() || w.At.Sub(since) < failingFor-j.tolerance.Clock {
			j.breach("W5", h.key, "", "DISABLED at %s as failing, and has failed since %s", stamp(w.At), stamp(since))
		}
	default:
		j.breach("W5", h.key, "", "DISABLED without a reason of the system's: %q", reason)
	}
}
