// Package mask keeps user ids out of logs. One handler at the root of a program's log puts a pseudonym in the place of
// each.
//
// It promises this for the text and the attributes of every line, errors, panics and groups included:
//   - The user in a key or in an object's name, as pkg/register has them, is replaced: USER#ann/TASK#1, archive/ann/.
//   - So is the id of each user whom the invocation serves, where it stands as a word. The context has these users
//     ([With]).
//   - [User] and [Chosen] show nothing of their value without the handler.
//
// An id in another form, such as base64, it does not find: nothing logs one. It must never be asked to hide what users
// write; their texts do not belong into errors.
package mask

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"nexus/pkg/pepper"
)

// The names of the attributes.
const (
	attrUser = "user"
	// without the handler
	hiddenUser   = "(user)"
	hiddenChosen = "(chosen)"
)

// userID is the value of [User].
type userID string

// LogValue implements [slog.LogValuer], for a handler that is not this package's.
func (userID) LogValue() slog.Value { return slog.StringValue(hiddenUser) }

// chosen is the value of [Chosen].
type chosen string

// LogValue implements [slog.LogValuer], for a handler that is not this package's.
func (chosen) LogValue() slog.Value { return slog.StringValue(hiddenChosen) }

// User returns the attribute "user", which the handler shows as the user's pseudonym; empty for no user.
func User(id string) slog.Attr {
	if id == "" {
		return slog.String(attrUser, "")
	}
	return slog.Any(attrUser, userID(id))
}

// Chosen returns an attribute whose value a client chose to name something. The handler shows a hash of it: the text
// may be anything.
func Chosen(key, text string) slog.Attr { return slog.Any(key, chosen(text)) }

// users are those whom one invocation serves. Callers add them as they learn of them, and lines of the callers above
// also have to know them.
type users struct {
	mu  sync.RWMutex
	ids map[string]struct{}
}

func (u *users) add(ids []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range ids {
		if id != "" {
			u.ids[id] = struct{}{}
		}
	}
}

// has reports whether the invocation serves the user. A nil u serves no user.
func (u *users) has(id string) bool {
	if u == nil {
		return false
	}
	u.mu.RLock()
	defer u.mu.RUnlock()
	_, ok := u.ids[id]
	return ok
}

type usersKey struct{}

// With returns a context whose lines name none of the users. If the context is one of an invocation already, it is
// returned itself, and the users are hidden from all lines of that invocation.
func With(ctx context.Context, ids ...string) context.Context {
	if u, ok := ctx.Value(usersKey{}).(*users); ok {
		u.add(ids)
		return ctx
	}
	u := &users{ids: map[string]struct{}{}}
	u.add(ids)
	return context.WithValue(ctx, usersKey{}, u)
}

// handler is the root handler.
type handler struct {
	next   slog.Handler
	pepper pepper.Pepper
	clear  bool
}

// New returns the root handler over the one that writes the lines. With the zero Pepper each user is "(user)".
func New(next slog.Handler, p pepper.Pepper) slog.Handler { return &handler{next: next, pepper: p} }

// Clear returns a handler that shows all values as they are. It is for an operator's shell, whose output names users
// anyway.
func Clear(next slog.Handler) slog.Handler { return &handler{next: next, clear: true} }

// Enabled implements [slog.Handler].
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	l := h.line(ctx)
	out := slog.NewRecord(r.Time, r.Level, l.text(r.Message, nil), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(l.attr(a))
		return true
	})
	return h.next.Handle(ctx, out)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	l, out := h.line(context.Background()), *h
	attrs = slices.Clone(attrs)
	for i := range attrs {
		attrs[i] = l.attr(attrs[i])
	}
	out.next = h.next.WithAttrs(attrs)
	return &out
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	out := *h
	out.next = h.next.WithGroup(name)
	return &out
}

func (h *handler) line(ctx context.Context) line {
	served, _ := ctx.Value(usersKey{}).(*users)
	return line{h, served}
}
