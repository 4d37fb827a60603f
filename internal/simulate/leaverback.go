package simulate

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/reminders"
)

// maxBack bounds the records of an erased user that are delivered again at once.
const maxBack = 8

// comeBack plays what could bring an erased user back: records of any age again, calls of schedules, walks, shells, a
// repair of everything, requests of clients, and a restored table.
func (h *history) comeBack() {
	l := h.leaver
	if h.endPeriods(); l.isPast {
		return
	}
	switch h.luck.IntN(12) {
	case 0, 1, 2:
		h.deliverOfLeaver()
	case 3:
		h.callForLeaver()
	case 4:
		for _, m := range h.walks.former {
			if userOfPayload(m.Body) == l.user {
				h.begin(h.walks.beside(m))
				return
			}
		}
	case 5:
		h.endAll()
		h.settling = true
		h.repairAll()
		h.settling = false
	case 6, 7:
		h.askAsLeaver()
	case 8:
		h.restoreTable()
	case 9:
		h.pass(time.Duration(1+h.luck.IntN(9)) * 24 * time.Hour)
	default:
		if len(l.shells) > 0 {
			w := l.shells[0]
			h.wake(w)
			h.begin(w)
		}
	}
}

// deliverOfLeaver delivers records of the erased user again, as a redrive, a replay and a late batch do.
func (h *history) deliverOfLeaver() {
	r := h.readers[h.luck.IntN(len(h.readers))]
	var batch []*record
	for _, rec := range h.scramble(h.stream.log) {
		if rec.user == h.leaver.user && r.filter.Match(rec.arrives) && h.luck.one(2) && len(batch) < maxBack {
			batch = append(batch, rec)
		}
	}
	if len(batch) > 0 {
		h.happened["record of an erased user again"] += len(batch)
		h.begin(h.handleBeside(r, batch))
	}
}

// callForLeaver makes a call of a schedule that the erased user had.
func (h *history) callForLeaver() {
	for _, old := range h.schedules.former {
		_, err := reminders.ReadPayload(h.registry, old.Payload)
		if err == nil && userOfPayload(old.Payload) == h.leaver.user {
			h.happened["call for an erased user"]++
			h.begin(h.schedules.deliver(old.Payload))
			return
		}
	}
}

// askAsLeaver has a client of the user ask for something: it is refused.
func (h *history) askAsLeaver() {
	h.readAsLeaver()
	if len(h.oracle.users[h.leaver.user].items) > 0 {
		r := h.requestOf(h.leaver.user)
		// Functions remember an account for a minute, so the request may be carried out beside another one of this step.
		r.Command = titled(r.Command, describe("c%d.%d", h.step, h.asked))
		h.begin(h.send(r))
	}
}

// awayError is the answer 403 about an account that leaves or is gone.
type awayError struct{ state account.State }

func (e *awayError) Error() string { return "403: the account is " + string(e.state) }

// admit asks for the state of the user's account, as the API does before a write.
func (h *history) admit(ctx context.Context, user string) error {
	l := h.leaver
	if l == nil {
		return nil
	}
	state, _, err := h.system.Fence.State(ctx, user)
	if err != nil {
		return err
	}
	if state == account.Present {
		return nil
	}
	h.refused(user, state.IsGone())
	return &awayError{state}
}

// refused checks a refusal: it is of a user who leaves, or who came back a moment ago (E2).
func (h *history) refused(user string, isGone bool) {
	l := h.leaver
	h.happened["request of an account that leaves"]++
	isRight := l != nil && user == l.user && (!isGone || !l.begun.IsZero())
	if isRight && l.state == account.Present && !l.isBack {
		isRight = !l.returned.IsZero() && h.now.Sub(l.returned) <= settled
	}
	if !isRight || l.isBack {
		h.violate("E2", "", user, "is refused, and the account is in use")
	}
}

// isTurnedAway reports whether the answer to a batch says that the account leaves or is gone, or that its state could
// not be read. The device keeps its outbox ([sync.md]).
func (h *history) isTurnedAway(user string, err error) bool {
	var problem *api.Problem
	if h.leaver == nil || !errors.As(err, &problem) {
		return false
	}
	isGone := strings.HasSuffix(problem.Type, "account-erased")
	if isGone || strings.HasSuffix(problem.Type, "account-leaving") {
		h.happened["batch of an account that leaves"]++
		h.refused(user, isGone)
		return true
	}
	return problem.Status == http.StatusServiceUnavailable
}
