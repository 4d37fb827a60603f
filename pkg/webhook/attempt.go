package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/outbound"
	"nexus/pkg/table"
	"nexus/pkg/text"
)

// steps are the waits before the second and each later attempt; after the last one the message is dead.
var steps = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

const (
	// spread is the part of a wait by which it may be shorter or longer.
	spread = 0.1
	// RequestTime is how long a request may take, answer included.
	RequestTime = 15 * time.Second
	// mostRetryAfter bounds what an endpoint may ask for.
	mostRetryAfter = time.Hour
	// maxLogged is the number of attempts that are kept with a message, and maxAnswer the bytes of an answer's text.
	maxLogged = 10
	maxAnswer = 256
)

// Members of an attempt in a row.
const (
	logAt     = "at"
	logStatus = "status" // 0 for no answer
	logMillis = "ms"
	logText   = "text"
)

// answer holds the answer to a request.
type answer struct {
	status     int // 0 for none
	retryAfter time.Duration
	text       string
	took       time.Duration
}

func (a answer) isGood() bool { return a.status >= 200 && a.status < 300 }

// asksToWait reports whether the answer says that the endpoint is too busy.
func (a answer) asksToWait() bool {
	switch a.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// round makes one attempt of each message, side by side, and counts what came of them.
func (w *Worker) round(ctx context.Context, l *lane, hook item.Item, due []pending, wasHalf bool) error {
	contents, err := w.contents(ctx, l.UserID, due)
	if err != nil {
		return err
	}
	answers, errs := make([]*answer, len(due)), make([]error, len(due))
	sideBySide(w.AtOnce, len(due), func(i int) { // one message keeps none from another
		p := due[i]
		answers[i], errs[i] = w.attempt(ctx, l.call, hook, p, contents[outbox.MessageKey(l.UserID, p.id)])
	})
	return errors.Join(errors.Join(errs...), w.count(ctx, l, hook, answers, wasHalf))
}

// sideBySide does a number of things, at most so many at a time. One at a time it does them in the caller's goroutine.
func sideBySide(atOnce, n int, do func(i int)) {
	if atOnce <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var all errgroup.Group
	all.SetLimit(atOnce)
	for i := range n {
		all.Go(func() error {
			do(i)
			return nil
		})
	}
	_ = all.Wait() // it has no error
}

// count counts the answers of a round for the breaker, and disables an endpoint that is gone or has failed for long.
func (w *Worker) count(ctx context.Context, l *lane, hook item.Item, answers []*answer, wasHalf bool) error {
	now := w.Now()
	isGone := false
	for _, a := range answers {
		if a == nil {
			continue
		}
		isGone = isGone || a.status == http.StatusGone
		if a.isGood() {
			l.succeeded()
		} else {
			l.failed(now, wasHalf, a.retryAfter)
		}
	}
	switch {
	case isGone:
		return w.disable(ctx, l, hook, "gone")
	case l.hasFailed(now):
		return w.disable(ctx, l, hook, "failing")
	}
	return w.keep(ctx, l)
}

// contents returns the rows MSG# of messages, by their keys.
func (w *Worker) contents(ctx context.Context, user string, of []pending) (map[item.Key]item.Item, error) {
	keys := make([]item.Key, len(of))
	for i, p := range of {
		keys[i] = outbox.MessageKey(user, p.id)
	}
	rows, err := w.Store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the messages: %w", err)
	}
	byKey := map[item.Key]item.Item{}
	for _, row := range rows {
		byKey[row.Key()] = row
	}
	return byKey, nil
}

// attempt sends a message once and writes the outcome. It returns nil for a message that was not sent.
func (w *Worker) attempt(
	ctx context.Context, of call, hook item.Item, p pending, content item.Item,
) (*answer, error) {
	if content.Str(attrState) != StatePending {
		return nil, w.clear(ctx, of.UserID, p, content)
	}
	at := w.Now()
	a, err := w.send(ctx, of.UserID, hook, p.id.Message, at, content.Str(attrBody))
	if err != nil {
		return nil, err // the call's time has ended, and the next one goes on
	}
	p.row = p.row.Clone()
	p.row[attrLog] = logged(p.row[attrLog], at, a)
	switch {
	case a.isGood():
		return &a, w.end(ctx, of, p, StateDone, "", Sent)
	case int(p.attempts) >= len(steps):
		return &a, w.end(ctx, of, p, StateDead, reasonFailed, Failed)
	}
	return &a, w.postpone(ctx, of, p, a)
}

// send makes one request. Its error says that the call has ended.
func (w *Worker) send(
	ctx context.Context, user string, hook item.Item, id string, at time.Time, body string,
) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.Str(outbox.AttrURL), strings.NewReader(body))
	if err != nil {
		return answer{text: "the address is none"}, nil
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Nexus-Webhooks/1")
	request.Header.Set("Webhook-Id", id)
	stamp := at
	if w.Stamp != nil {
		stamp = w.Stamp()
	}
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(stamp.Unix(), 10))
	request.Header.Set("Webhook-Signature", w.Master.sign(user, hook, id, stamp, body))
	response, err := w.Client.Do(request)
	switch {
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	case errors.Is(err, outbound.ErrRefused):
		return answer{text: "the address may not be called", took: w.Now().Sub(at)}, nil
	case err != nil:
		return answer{text: whyNone(err), took: w.Now().Sub(at)}, nil
	}
	defer response.Body.Close()
	start, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, outbound.MaxAnswer)) // so that the connection serves the next
	a := answer{
		status: response.StatusCode, took: w.Now().Sub(at),
		text: text.Clip(strings.ToValidUTF8(string(start), "\uFFFD"), maxAnswer),
	}
	if a.asksToWait() {
		a.retryAfter = min(mostRetryAfter, outbound.RetryAfter(response, w.Now()))
	}
	return a, nil
}

// whyNone tells a user why a request has no answer. The error itself may name addresses of this network.
func whyNone(err error) string {
	var network net.Error
	switch {
	case errors.As(err, &network) && network.Timeout():
		return "there was no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	}
	return "there was no answer"
}

// logged returns the attempts of a row with one more.
func logged(before item.Value, at time.Time, a answer) item.List {
	list, _ := before.(item.List)
	one := item.Item{logStatus: item.Int(int64(a.status)), logMillis: item.Int(a.took.Milliseconds())}
	one.SetTime(logAt, at)
	if a.text != "" {
		one[logText] = item.String(a.text)
	}
	list = append(list[:len(list):len(list)], item.Map(one))
	return list[max(0, len(list)-maxLogged):]
}

// postpone writes when the next attempt is due.
func (w *Worker) postpone(ctx context.Context, of call, p pending, a answer) error {
	wait := steps[p.attempts]
	wait = max(wait+time.Duration(spread*(2*w.Draw()-1)*float64(wait)), a.retryAfter)
	set := item.Item{attrAttempts: item.Int(p.attempts + 1), attrLog: p.row[attrLog]}
	set.SetTime(attrNextAt, w.Now().Add(wait).UTC().Truncate(time.Second).Add(time.Second))
	_, err := w.Store.Update(ctx, table.Update{Key: p.row.Key(), Set: set, If: p.asRead()})
	if failed := (*table.ConditionError)(nil); errors.As(err, &failed) {
		return nil // another worker has counted an attempt, or ended it
	}
	if err != nil {
		return fmt.Errorf("write the outcome of %s: %w", p.id.Message, err)
	}
	w.observe(ctx, of, p, Again, a.status)
	return nil
}

// end ends a message: its row gets the end and the attempts, and its row OUT# goes, both as they were read.
func (w *Worker) end(
	ctx context.Context, of call, p pending, state, reason string, outcome Outcome, conditions ...table.Action,
) error {
	set := item.Item{
		attrState: item.String(state), entity.AttrTTL: item.Int(w.Now().Add(Retention).Unix()),
	}
	update := table.Update{
		Key: outbox.MessageKey(of.UserID, p.id), Set: set, Remove: []string{attrReason},
		If: table.Exists(table.Equal(attrState, item.String(StatePending))),
	}
	if reason != "" {
		set[attrReason], update.Remove = item.String(reason), nil
	}
	if log, ok := p.row[attrLog].(item.List); ok {
		set[attrLog] = log
	}
	err := w.Store.Transact(ctx, append(conditions, update, table.Delete{Key: p.row.Key(), If: p.asRead()})...)
	if failed := (*table.ConditionError)(nil); errors.As(err, &failed) {
		return nil // another worker has counted an attempt or ended it, or a condition does not hold
	}
	if err != nil {
		return fmt.Errorf("end the message %s: %w", p.id.Message, err)
	}
	w.observe(ctx, of, p, outcome, 0)
	return nil
}

// clear removes the row OUT# of a message that is not to be sent: it is not there, or is done or dead. It does nothing
// if the message has changed since.
func (o *Outbox) clear(ctx context.Context, user string, p pending, content item.Item) error {
	unchanged := table.NotExists()
	if content != nil {
		unchanged = table.Exists(table.Equal(attrState, content[attrState]))
	}
	err := o.Store.Transact(ctx,
		table.Check{Key: outbox.MessageKey(user, p.id), If: unchanged},
		table.Delete{Key: p.row.Key(), If: p.asRead()},
	)
	if failed := (*table.ConditionError)(nil); err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("remove %s: %w", p.row.Key(), err)
	}
	return nil
}

func (w *Worker) observe(ctx context.Context, of call, p pending, outcome Outcome, status int) {
	level := slog.LevelInfo
	if outcome == Failed {
		level = slog.LevelWarn
	}
	w.Log.LogAttrs(ctx, level, "webhook "+string(outcome), slog.String("webhookId", of.Hook),
		slog.String("messageId", p.id.Message), slog.Int("status", status))
	w.Observe(outcome)
}
