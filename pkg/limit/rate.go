package limit

import (
	"math"
	"strconv"
	"time"
)

// Policy is a rate as an answer tells it.
type Policy struct {
	Name   string
	Quota  int           // of the full bucket
	Window time.Duration // in which an empty bucket fills
}

// String returns the item of the field RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-11, section 3).
func (p Policy) String() string {
	return `"` + p.Name + `";q=` + strconv.Itoa(p.Quota) + ";w=" + strconv.Itoa(seconds(p.Window))
}

// State is a bucket after a use.
type State struct {
	Policy    Policy
	Remaining int           // points; 0 of a bucket that owes
	Full      time.Duration // until the bucket is full again
}

// String returns the item of the field RateLimit (the same draft, section 4).
func (s State) String() string {
	return `"` + s.Policy.Name + `";r=` + strconv.Itoa(s.Remaining) + ";t=" + strconv.Itoa(seconds(s.Full))
}

// seconds returns whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// rate is a bucket of which one number is stored: when it would be full again, in milliseconds since 1970.
type rate struct{ Policy }

// cost returns the time in which the points come back, in milliseconds, rounded up.
func (r rate) cost(points int) int64 {
	return (int64(points)*r.Window.Milliseconds() + int64(r.Quota) - 1) / int64(r.Quota)
}

// begin returns the stored number as it counts now. No clock that was wrong once leaves a bucket that owes more than
// one bucket.
func (r rate) begin(full, now int64) int64 {
	return min(max(full, now), now+2*r.Window.Milliseconds())
}

// take returns the number after a use, and whether the bucket has room for it.
func (r rate) take(full, now int64, points int) (after int64, ok bool) {
	after = r.begin(full, now) + r.cost(points)
	return after, after-now <= r.Window.Milliseconds()
}

// owe returns the number after a use that was already had. The bucket owes at most one bucket.
func (r rate) owe(full, now int64, points int) int64 {
	return min(r.begin(full, now)+r.cost(points), now+2*r.Window.Milliseconds())
}

// state returns the bucket with the number.
func (r rate) state(full, now int64) State {
	full = r.begin(full, now)
	room := max(0, r.Window.Milliseconds()-(full-now))
	return State{
		Policy: r.Policy, Remaining: int(room * int64(r.Quota) / r.Window.Milliseconds()),
		Full: time.Duration(full-now) * time.Millisecond,
	}
}
