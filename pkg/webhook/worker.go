package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/mask"
	"nexus/pkg/table"
)

// Client is the port: it makes one request. It follows no redirect, and bounds the time of a request and the size of
// its answer. [outbound.Client] is one.
type Client interface {
	Do(*http.Request) (*http.Response, error)
}

// Config holds the dependencies of a [Worker]. All are required but those with a remark.
type Config struct {
	Outbox
	Client Client
	Master Master
	// Stamp is the time in the header Webhook-Timestamp, by which receivers judge a message's age; nil: Now.
	Stamp func() time.Time
	// NewID returns a new id for a lease.
	NewID func() string
	// Draw returns a random number from 0 to 1: by it the waits of messages differ.
	Draw func() float64
	Log  *slog.Logger
	// AtOnce is the number of messages that are sent side by side; 0 means 1.
	AtOnce int
	// Most is the number of messages to an endpoint that may be pending; 0 means [MaxPending].
	Most int
	// Wait waits for less than Lead within a call; nil for a scheduler that calls in time.
	Wait func(ctx context.Context, d time.Duration) error
	// IsGone reports whether a user's account is being erased or was; optional.
	IsGone func(ctx context.Context, user string) (bool, error)
	// Observe receives every outcome, for metrics; optional. It must be safe for concurrent use and return at once.
	Observe func(Outcome)
}

// AtOnce is the number of messages that are sent to an endpoint side by side, where requests take time.
const AtOnce = 25

// Outcome is a counted result of an attempt, or of a message that is sent no more.
type Outcome string

// The outcomes.
const (
	Sent     Outcome = "sent"     // the endpoint has it
	Again    Outcome = "again"    // another attempt follows
	Failed   Outcome = "failed"   // the last attempt failed
	Dropped  Outcome = "dropped"  // its endpoint is gone or disabled, or it was one too many
	Disabled Outcome = "disabled" // an endpoint was disabled
)

// Worker sends messages. It is safe for concurrent use.
type Worker struct{ Config }

// NewWorker returns a worker. It panics on an incomplete configuration, a mistake in the program.
func NewWorker(c Config) *Worker {
	if c.Store == nil || c.Scheduler == nil || c.Now == nil || c.Client == nil || c.Master.IsZero() || c.NewID == nil ||
		c.Draw == nil || c.Log == nil {
		panic("webhook: incomplete configuration")
	}
	if c.Observe == nil {
		c.Observe = func(Outcome) {}
	}
	return &Worker{c}
}

const (
	// leastTime is the time that a call must have left to begin anything: more than a request and its outcome take.
	leastTime = 20 * time.Second
	// slice is how long the worker waits without looking for new messages.
	slice = 5 * time.Second
)

// Work sends what is due in the lane that the payload names. The rows decide, not the call: it may come twice or late.
// An error is either a [*CallError], which no repetition can resolve, or a reason to repeat the call.
func (w *Worker) Work(ctx context.Context, payload []byte) error {
	c, err := parseCall(payload)
	if err != nil {
		return err
	}
	of := c.call
	ctx = mask.With(ctx, of.UserID)
	if w.IsGone != nil {
		if isGone, err := w.IsGone(ctx, of.UserID); isGone || err != nil {
			return err
		}
	}
	if c.IsEarly {
		return w.callSoon(ctx, of)
	}
	for again := true; again && err == nil; {
		if !w.hasTime(ctx, 0) {
			return w.goOn(ctx, of)
		}
		again, err = w.turn(ctx, of)
	}
	return err
}

// hasTime reports whether the call has the time for an attempt after the wait.
func (w *Worker) hasTime(ctx context.Context, wait time.Duration) bool {
	end, ok := ctx.Deadline()
	return !ok || end.Sub(w.Now()) >= wait+leastTime
}

// goOn has another call go on: at once, and by a schedule if that one gets lost.
func (w *Worker) goOn(ctx context.Context, of call) error {
	if err := w.schedule(ctx, of, own, w.Now()); err != nil {
		return err
	}
	return w.invoke(ctx, of.payload())
}

// turn holds the lane once. It reports whether something came in the meantime that no call is set for.
func (w *Worker) turn(ctx context.Context, of call) (again bool, err error) {
	hook, err := w.hook(ctx, of)
	if err != nil {
		return false, err
	}
	if reason := whyNot(hook); reason != "" {
		return false, w.bury(ctx, of, hook, reason)
	}
	if next, err := w.next(ctx, of, isFifo(hook)); err != nil || next.IsZero() {
		return false, err // an earlier call has sent all
	}
	l, err := w.take(ctx, of)
	if err != nil {
		return false, err
	}
	if l == nil { // another one works; it may die
		return false, w.callSoon(ctx, of)
	}
	at, err := w.drain(ctx, l)
	if errors.Is(err, errLeaseLost) {
		return false, w.callSoon(ctx, of)
	}
	if err != nil {
		return false, err
	}
	if !at.IsZero() {
		if err := w.schedule(ctx, of, own, at); err != nil {
			return false, err
		}
	}
	if err := w.release(ctx, l); err != nil && !errors.Is(err, errLeaseLost) {
		return false, err
	}
	// What came since the last look found the lane taken.
	next, err := w.next(ctx, of, isFifo(hook))
	if err != nil || next.IsZero() {
		return false, err
	}
	if next.Before(l.openUntil) {
		next = l.openUntil
	}
	return at.IsZero() || next.Before(at), nil
}

// hook returns an endpoint; nil if there is none.
func (o *Outbox) hook(ctx context.Context, of call) (item.Item, error) {
	return table.Find(ctx, o.Store, keyOfHook(of))
}

func keyOfHook(of call) item.Key {
	return entity.ItemKey(of.UserID, entity.Ref{Type: webhookType.Name, ID: of.Hook})
}

// whyNot returns why nothing is sent to an endpoint; empty if it is active.
func whyNot(hook item.Item) string {
	switch {
	case hook == nil:
		return reasonDeleted
	case hook.Str(entity.AttrStatus) != outbox.StatusActive:
		return reasonDisabled
	}
	return ""
}

// pending is a row OUT#: a message that is to be sent.
type pending struct {
	id       outbox.ID
	row      item.Item
	attempts int64
	nextAt   time.Time
}

func readPending(row item.Item) (pending, error) {
	id, err := outbox.Parse(row.Key().SK)
	if err != nil {
		return pending{}, err
	}
	p := pending{id: id, row: row, attempts: row.Int(attrAttempts)}
	next, ok := row.Time(attrNextAt)
	if !ok {
		return pending{}, fmt.Errorf("%s: there is no next attempt", row.Key())
	}
	p.nextAt = next
	return p, nil
}

// asRead is the condition that the row is as it was read: it exists, no attempt was counted since, and its message has
// not ended and become pending again.
func (p pending) asRead() table.Condition {
	again := table.Missing(attrAgain)
	if id, ok := p.row[attrAgain]; ok {
		again = table.Equal(attrAgain, id)
	}
	return table.Exists(table.Equal(attrAttempts, item.Int(p.attempts)), again)
}

// waiting holds the messages that a lane has to send.
type waiting struct {
	due    []pending
	next   time.Time // when the first of the others is due; zero for none
	oldest time.Time // the time of the oldest event; zero for none
}

// page is the number of rows that are read at a time.
const page = 100

// waiting returns what a lane has to send, at most so many that are due. With the ordering fifo only the first one
// counts. A row that cannot be read is passed over: a verification names it.
func (w *Worker) waiting(ctx context.Context, of call, isFifo bool, most int) (found waiting, err error) {
	q := table.Query{Partition: entity.UserPK(of.UserID), Range: table.Range{Prefix: outbox.OutPrefix(of.Hook)}}
	if q.Limit = page; isFifo {
		q.Limit = 1
	}
	now := w.Now()
	for row, err := range table.Rows(ctx, w.Store, q, 0) {
		if err != nil {
			return waiting{}, fmt.Errorf("read what is to be sent: %w", err)
		}
		p, err := readPending(row)
		if err != nil {
			w.Log.LogAttrs(ctx, slog.LevelError, "a row of the outbox cannot be read", slog.Any("error", err))
			continue
		}
		if found.oldest.IsZero() {
			found.oldest = p.id.At
		}
		if !p.nextAt.After(now) {
			found.due = append(found.due, p)
		} else if found.next.IsZero() || p.nextAt.Before(found.next) {
			found.next = p.nextAt
		}
		if isFifo || len(found.due) == most {
			break
		}
	}
	return found, nil
}

// next returns when something is due in a lane, without regard to its breaker; zero if nothing waits.
func (w *Worker) next(ctx context.Context, of call, isFifo bool) (time.Time, error) {
	found, err := w.waiting(ctx, of, isFifo, 1)
	if len(found.due) > 0 {
		return found.due[0].nextAt, err
	}
	return found.next, err
}

func isFifo(hook item.Item) bool { return hook.Str(outbox.AttrOrdering) == outbox.OrderingFifo }

// drain sends what is due, until something is due only later or the call's time is over. It returns when something is
// due next; zero if nothing waits.
func (w *Worker) drain(ctx context.Context, l *lane) (time.Time, error) {
	for {
		if !w.hasTime(ctx, 0) {
			return w.Now(), nil
		}
		if err := w.keep(ctx, l); err != nil {
			return time.Time{}, err
		}
		hook, err := w.hook(ctx, l.call)
		if err != nil {
			return time.Time{}, err
		}
		if reason := whyNot(hook); reason != "" {
			return time.Time{}, w.bury(ctx, l.call, hook, reason)
		}
		l.begin(hook)
		next, isOver, err := w.step(ctx, l, hook)
		if isOver || err != nil {
			return next, err
		}
	}
}

// step sends what is due now, at most as many as go side by side. It is over if nothing is due within this call.
func (w *Worker) step(ctx context.Context, l *lane, hook item.Item) (next time.Time, isOver bool, err error) {
	now := w.Now()
	if l.isOpen(now) {
		if _, err := w.thin(ctx, l); err != nil {
			return time.Time{}, false, err
		}
		return l.openUntil, true, w.keep(ctx, l)
	}
	isOrdered, wasHalf := isFifo(hook), l.isHalf(now)
	most := max(1, w.AtOnce)
	if isOrdered || wasHalf {
		most = 1
	}
	found, err := w.waiting(ctx, l.call, isOrdered, most)
	if err != nil {
		return time.Time{}, false, err
	}
	if !found.oldest.IsZero() && now.Sub(found.oldest) >= oldAfter {
		if isThinned, err := w.thin(ctx, l); isThinned || err != nil {
			return time.Time{}, false, err
		}
	}
	switch {
	case len(found.due) > 0:
		return time.Time{}, false, w.round(ctx, l, hook, found.due, wasHalf)
	case found.next.IsZero():
		return time.Time{}, true, w.keep(ctx, l)
	}
	isLater, err := w.wait(ctx, found.next.Sub(now))
	if isLater && err == nil {
		err = w.keep(ctx, l)
	}
	return found.next, isLater, err
}

// wait waits for a part of what is left until the next attempt, or reports that a schedule is to call for it.
func (w *Worker) wait(ctx context.Context, wait time.Duration) (isLater bool, err error) {
	if w.Wait == nil || wait >= w.Lead || !w.hasTime(ctx, wait) {
		return true, nil
	}
	return false, w.Wait(ctx, min(wait, slice))
}

// Ports returns the ports at which endpoints may be called.
func Ports() []uint16 { return []uint16{443, 8443} }
