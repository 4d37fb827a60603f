package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// request is a command of a user, who sends it again under its key if the answer was lost.
type request struct {
	command.Request
	calendar string // a text to import, instead of a command
	name     string
	tries    int
	first    time.Time // when it was sent first
}

const (
	// maxTries bounds how often a user sends a request again.
	maxTries = 4
	// patience is how long a user repeats it: receipts stay for a day.
	patience = 23 * time.Hour
)

// send begins the work on a request.
func (h *history) send(r *request) *worker {
	if r.tries++; r.tries == 1 {
		r.first = h.now
	}
	h.note("%s sends %s", r.User, r.name)
	verb, _, _ := strings.Cut(r.name, " ")
	w := &worker{kind: commanding, name: r.User + " " + r.name, order: orderOf(r.Request), dated: dated(r.Command)}
	var res command.Result
	var err error
	w.lost = func() { h.regret(r) }
	w.finished = func() {
		h.answered(w, err)
		if err == nil {
			h.happened["command "+verb]++
			h.checkSeries(h.oracle.users[r.User], w.order, res)
		}
		if isPassing(err) {
			h.regret(r)
		}
	}
	carryOut := h.command(w, r.Request)
	if k, isPlayed := h.overHTTP(r.Request); isPlayed && r.Command != nil {
		carryOut = h.knocking(w, k, r.Command)
	}
	return h.start(w, func(ctx context.Context) {
		if err = h.admit(ctx, r.User); err != nil {
			return
		}
		if r.calendar == "" {
			res, err = carryOut(ctx)
			return
		}
		var report []byte
		importer := calendar.NewImporter(h.direct.Commands, h.registry)
		report, _, err = importer.Import(ctx, r.User, []byte(r.calendar), r.IdempotencyKey)
		h.note("  report %s", report)
	}, r.User)
}

// oftenTwice returns in how many cases the request is sent a second time at once. A user who waits for a restored item
// asks again.
func (r *request) oftenTwice() int {
	if strings.HasPrefix(r.name, "restore") {
		return 2
	}
	return 12
}

// regret lets a request of unknown outcome be sent again later, unless its user gives up.
func (h *history) regret(r *request) {
	h.happened["unknown outcome"]++
	if r.tries < maxTries && r.IdempotencyKey != "" && !h.luck.one(4) {
		h.requests = append(h.requests, r)
	}
}

// isPassing reports whether a repetition may succeed: the answer 503.
func isPassing(err error) bool {
	return slices.ContainsFunc([]error{
		table.ErrUnavailable, table.ErrThrottled, table.ErrConflict, blob.ErrUnavailable, blob.ErrThrottled, context.Canceled,
		entity.ErrNewerForm,
	}, func(passing error) bool { return errors.Is(err, passing) })
}

// answered records how a command ended. A refusal is an answer; an error that no user may see is a violation.
func (h *history) answered(w *worker, err error) {
	var (
		notFound *command.NotFoundError
		stale    *command.StaleError
		state    *command.StateError
		invalid  *entity.ValidationError
		away     *awayError
	)
	switch {
	case errors.As(err, &away), errors.Is(err, errLimited):
	case err == nil, errors.As(err, &notFound), errors.As(err, &stale), errors.As(err, &state), errors.As(err, &invalid):
	case isPassing(err), isArchiveRefusal(err), errors.Is(err, command.ErrInProgress):
	default:
		h.violate("I10", "", w.name, "is answered %v", err)
	}
	h.note("%s: %v", w.name, err)
}

// newRequest makes up a user's next request.
func (h *history) newRequest() *request { return h.requestOf(h.users[h.luck.IntN(len(h.users))]) }

// requestOf makes up the next request of one user.
func (h *history) requestOf(user string) *request {
	a := author{history: h, userState: h.oracle.users[user]}
	var cmd command.Command
	var expected *int64
	var name, text string
	if h.luck.importing && h.luck.one(8) && h.wanted.ID == "" {
		text = a.calendarText()
		name = "import " + strings.ReplaceAll(text, "\r\n", " ")
	} else {
		cmd, expected, name = a.write()
	}
	r := &request{
		name: name, calendar: text, Request: command.Request{User: user, Command: cmd, ExpectedVersion: expected},
	}
	if h.asked++; !h.luck.one(3) {
		r.IdempotencyKey = fmt.Sprintf("key-%d-%d", h.step, h.asked)
	}
	return r
}
