package account

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"nexus/pkg/item"
)

// Erasure has the members of the line "account erased", in the log and on the output of nexus erase.
type Erasure struct {
	Account string `json:"account"` // its name h, as in ERASE#<h>
	Removed int64  `json:"removed"` // in all passes: the sum of the members of Survey
	Passes  int    `json:"passes"`  // the last of which found nothing
	Survey
	// RequestedAt and BegunAt are zero where an account that is ERASED was erased once more.
	RequestedAt time.Time `json:"requestedAt,omitzero"`
	BegunAt     time.Time `json:"begunAt,omitzero"`
}

// String returns the line as the output of nexus erase has it.
func (e Erasure) String() string {
	line := "account erased"
	for _, one := range e.attrs() {
		if one.Value.Kind() == slog.KindTime {
			one.Value = slog.StringValue(item.FormatInstant(one.Value.Time()))
		}
		line += " " + one.String()
	}
	return line
}

// attrs returns the members of the line: the last ones only if there is any of them.
func (e Erasure) attrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("account", e.Account), slog.Int64("removed", e.Removed), slog.Int("passes", e.Passes),
		slog.Int("schedules", e.Schedules), slog.Int("repositories", e.Repositories), slog.Int("objects", e.Objects),
		slog.Int("parked", e.Parked), slog.Int("rows", e.Rows),
	}
	if e.Events+e.Expired > 0 {
		attrs = append(attrs, slog.Int("events", e.Events), slog.Int("expired", e.Expired))
	}
	for _, one := range []slog.Attr{slog.Time("requestedAt", e.RequestedAt), slog.Time("begunAt", e.BegunAt)} {
		if !one.Value.Time().IsZero() {
			attrs = append(attrs, one)
		}
	}
	return attrs
}

// outcome returns what the worker has done so far.
func (w *worker) outcome() Erasure {
	return Erasure{w.name, w.removed, w.pass, w.counts, w.asked, w.begunAt}
}

// log writes the line.
func (e Erasure) log(ctx context.Context, to *slog.Logger) {
	to.LogAttrs(ctx, slog.LevelInfo, "account erased", e.attrs()...)
}

// ErrNothing says that there is nothing to erase of a user, whose account is not leaving either.
var ErrNothing = errors.New("there is nothing of this user")

// CheckKnown returns [ErrNothing] for a user of whom there is nothing: a mistyped id, most likely.
func (e *Eraser) CheckKnown(ctx context.Context, user string) error {
	is, err := findRow(ctx, e.Store, e.Pepper.Erasure(user), e.Now())
	if err != nil || is.state != Present {
		return err
	}
	found, err := e.Survey(ctx, user)
	if err == nil && found == (Survey{}) {
		err = ErrNothing
	}
	return err
}
