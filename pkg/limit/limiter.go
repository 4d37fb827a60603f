package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// oneIn is the number of requests of which one asks the row, and counts for all.
	oneIn = 10
	// tries is how often a use is tried against other instances' uses.
	tries = 2
	// maxKept bounds how long an instance keeps what it knows of a user.
	maxKept = time.Minute
	// maxUsers bounds the users of whom an instance keeps something.
	maxUsers = 4096
	// lifetime is how long a row of a rate stays after its last use.
	lifetime = 24 * time.Hour

	attrFullAt = "fullAt" // milliseconds since 1970
	attrTTL    = "ttl"
)

// Config holds the dependencies of a [Limiter]. Without a Store there are no limits.
type Config struct {
	Store table.Store
	Now   func() time.Time
	// Draw returns a random number from 0 to 1, without 1, that no client can foresee.
	Draw    func() float64
	Numbers Numbers
}

// Keys builds the keys of a user's rows.
type Keys struct {
	// Rate returns the key of the row of a policy.
	Rate func(user, policy string) item.Key
	// Meta returns the key of the row with the statistics.
	Meta func(user string) item.Key
	// Count returns the key of the row with the [Counts].
	Count func(user string) item.Key
}

// Limiter judges requests. A nil Limiter has no limits. It is safe for concurrent use.
type Limiter struct {
	Config
	keys Keys

	mu    sync.Mutex
	known map[place]memory
}

// Attributes returns the attributes of a row of a rate, beside its key.
func Attributes() []string { return []string{attrFullAt, attrTTL} }

// place names what an instance keeps: a user's refusal under a policy, or quotas.
type place struct{ user, of string }

type memory struct {
	until   time.Time
	refused *RateError
	usage   usage
	unasked int // uses of quotas since the last one that asked
}

// New returns the limiter; nil without a Store. It panics if another part is missing: a mistake in the program.
func New(c Config, keys Keys) *Limiter {
	if c.Store == nil {
		return nil
	}
	if c.Now == nil || c.Draw == nil || c.Numbers == nil || keys.Rate == nil || keys.Meta == nil {
		panic("limit: a part of the Config is missing")
	}
	return &Limiter{Config: c, keys: keys, known: map[place]memory{}}
}

// RateError refuses a request (429).
type RateError struct {
	State State
	// RetryAfter is how long the instance keeps the refusal: whole seconds, at least one.
	RetryAfter time.Duration
}

func (e *RateError) Error() string {
	return fmt.Sprintf("rate %q is used up; again in %s", e.State.Policy.Name, e.RetryAfter)
}

// SizeError refuses a request that needs more points than the full bucket holds (413): no wait makes room for it.
type SizeError struct {
	Policy Policy
	Points int // that the request needs
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("rate %q: %d points are needed, and the full bucket holds %d", e.Policy.Name, e.Points,
		e.Policy.Quota)
}

// Fits returns a [*SizeError] if the full bucket holds fewer points. It makes no call.
func (l *Limiter) Fits(policy string, points int) error {
	if p := l.Numbers.rate(policy).Policy; points > p.Quota {
		return &SizeError{p, points}
	}
	return nil
}

// Sampled reports whether the next request of one point is to ask the row.
func (l *Limiter) Sampled() bool { return l.Draw()*oneIn < 1 }

// Refused returns the refusal that the instance still keeps of the user; nil if there is none. It makes no call.
func (l *Limiter) Refused(user, policy string) error {
	now := l.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.known[place{user, policy}]
	left := m.until.Sub(now)
	if m.refused == nil || left <= 0 || left > maxKept {
		return nil
	}
	again := *m.refused
	again.RetryAfter = time.Duration(max(1, seconds(left))) * time.Second
	again.State.Full = max(0, again.State.Full-(m.refused.RetryAfter-again.RetryAfter))
	return &again
}

// Take uses points of the user's bucket, or returns a [*RateError].
func (l *Limiter) Take(ctx context.Context, user, policy string, points int) (State, error) {
	r := l.Numbers.rate(policy)
	state, err := l.use(ctx, user, r, func(full, now int64) (int64, bool) { return r.take(full, now, points) })
	var refused *RateError
	if errors.As(err, &refused) {
		l.keep(place{user, policy}, memory{until: l.Now().Add(refused.RetryAfter), refused: refused})
	}
	return state, err
}

// Owe counts points that were already had.
func (l *Limiter) Owe(ctx context.Context, user, policy string, points int) (State, error) {
	r := l.Numbers.rate(policy)
	return l.use(ctx, user, r, func(full, now int64) (int64, bool) { return r.owe(full, now, points), true })
}

// use moves the row's number on, under the condition that it is as read. A try that another instance's use overtook
// goes on with the row that came back. After the last try that row is judged alone: there is room, or there is not.
func (l *Limiter) use(
	ctx context.Context, user string, r rate, after func(full, now int64) (int64, bool),
) (State, error) {
	key := l.keys.Rate(user, r.Name)
	rows, err := l.Store.Peek(ctx, []item.Key{key})
	if err != nil {
		return State{}, fmt.Errorf("read the rate %s: %w", r.Name, err)
	}
	var row item.Item
	if len(rows) > 0 {
		row = rows[0]
	}
	for try := 0; ; try++ {
		now := l.Now()
		full := row.Int(attrFullAt)
		next, ok := after(full, now.UnixMilli())
		if !ok {
			return State{}, refuse(r.state(full, now.UnixMilli()))
		}
		if try == tries {
			return r.state(full, now.UnixMilli()), nil
		}
		update := table.Update{
			Key: key, Set: item.Item{attrFullAt: item.Int(next), attrTTL: item.Int(now.Add(lifetime).Unix())},
			If: table.NotExists(),
		}
		if row != nil {
			update.If = table.OrNoRow(table.Equal(attrFullAt, item.Int(full)))
		}
		_, err := l.Store.Update(ctx, update)
		var failed *table.ConditionError
		switch {
		case err == nil:
			return r.state(next, now.UnixMilli()), nil
		case !errors.As(err, &failed):
			return State{}, fmt.Errorf("use the rate %s: %w", r.Name, err)
		}
		f, _ := failed.At(0)
		row = f.Old
	}
}

// ZonePause returns the time between two changes of [Zone], in whole seconds; 0 where the number is above 60. The
// settings themselves say when the zone changed last, in whole seconds, and nothing of the changes before.
func (l *Limiter) ZonePause() time.Duration {
	r := l.Numbers.rate(Zone)
	if pause := time.Duration(r.cost(1)) * time.Millisecond; pause >= time.Second {
		return time.Duration(seconds(pause)) * time.Second
	}
	return 0
}

// ZoneRefusal returns the refusal of a change of [Zone] that may come after the time. It tells the bucket that is
// enforced: it holds one change.
func (l *Limiter) ZoneRefusal(again time.Duration) error {
	return refuse(State{Policy: Policy{Zone, 1, l.ZonePause()}, Full: again})
}

// refuse returns the refusal by a bucket, which holds until the bucket is full, at most [maxKept]. It tells no points:
// until then none can be used.
func refuse(s State) *RateError {
	s.Remaining = 0
	wait := min(s.Full, maxKept)
	return &RateError{State: s, RetryAfter: time.Duration(max(1, seconds(wait))) * time.Second}
}

func (l *Limiter) keep(at place, m memory) {
	now := l.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(at, m, now)
}

// put records something of a user. If too much is kept, it drops what is past, and else any.
func (l *Limiter) put(at place, m memory, now time.Time) {
	if _, has := l.known[at]; !has && len(l.known) >= maxUsers {
		l.forget(now)
	}
	l.known[at] = m
}

func (l *Limiter) forget(now time.Time) {
	for at, m := range l.known {
		if !m.until.After(now) {
			delete(l.known, at)
		}
	}
	for at := range l.known {
		if len(l.known) < maxUsers {
			return
		}
		delete(l.known, at)
	}
}
