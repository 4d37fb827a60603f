package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"nexus/pkg/item"
)

// Erasure has the members of the line "account erased", in the log and on the output of nexus erase.
type Erasure struct {
	Account string `json:"account"` // its name h, as in ERASE#<h>
	Removed int64  `json:"removed"` // rows, objects and schedules, in all passes
	Passes  int    `json:"passes"`  // the last of which found nothing
	// RequestedAt and BegunAt are zero where an account that is ERASED was erased once more.
	RequestedAt time.Time `json:"requestedAt,omitzero"`
	BegunAt     time.Time `json:"begunAt,omitzero"`
}

// String returns the line as the output of nexus erase has it.
func (e Erasure) String() string {
	line := fmt.Sprintf("account erased account=%s removed=%d passes=%d", e.Account, e.Removed, e.Passes)
	for _, one := range e.instants() {
		line += " " + one.name + "=" + item.FormatInstant(one.at)
	}
	return line
}

type namedInstant struct {
	name string
	at   time.Time
}

// instants returns those that are known.
func (e Erasure) instants() []namedInstant {
	all := []namedInstant{{"requestedAt", e.RequestedAt}, {"begunAt", e.BegunAt}}
	return slices.DeleteFunc(all, func(one namedInstant) bool { return one.at.IsZero() })
}

// outcome returns what the worker has done so far.
func (w *worker) outcome() Erasure {
	return Erasure{w.name, w.removed, w.pass, w.asked, w.begunAt}
}

// log writes the line.
func (e Erasure) log(ctx context.Context, to *slog.Logger) {
	attrs := []slog.Attr{
		slog.String("account", e.Account), slog.Int64("removed", e.Removed), slog.Int("passes", e.Passes),
	}
	for _, one := range e.instants() {
		attrs = append(attrs, slog.Time(one.name, one.at))
	}
	to.LogAttrs(ctx, slog.LevelInfo, "account erased", attrs...)
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
