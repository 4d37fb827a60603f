package local

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"nexus/pkg/port"
	"nexus/pkg/push"
	pushlocal "nexus/pkg/push/local"
)

// maxLost bounds how many hints one request loses.
const maxLost = 1_000_000

// hints are the live hints of the platform: the service that apps subscribe to, the loss of hints on demand, and their
// numbers. It implements [push.Pusher].
type hints struct {
	service *pushlocal.Service
	hub     *hub

	mu            sync.Mutex
	lose          int // so many of the next
	sent, dropped int
}

// newHints returns the live hints of the platform. The bearer token of a request authorizes here, too.
func (p *Platform) newHints() *hints {
	authenticate := p.authenticate()
	return &hints{hub: p.hub, service: pushlocal.New(pushlocal.Config{
		Authorize: func(authorization string) (string, bool) {
			if !strings.Contains(authorization, " ") {
				authorization = "Bearer " + authorization
			}
			return authenticate(&http.Request{Header: http.Header{"Authorization": {authorization}}})
		},
		Origins: p.options.Origins, Wait: port.Sleep,
	})}
}

// hintTold is a hint as GET /dev/stream shows it.
type hintTold struct {
	User string `json:"user"`
	Next string `json:"next"`
	Lost bool   `json:"lost,omitempty"`
}

// Hint implements the port.
func (h *hints) Hint(ctx context.Context, user, token string) error {
	if h.takeLoss() {
		h.hub.broadcast("hint", func() []byte { return line(hintTold{user, token, true}) })
		return fmt.Errorf("%w: lost on demand", push.ErrUnavailable)
	}
	err := h.service.Hint(ctx, user, token)
	if err == nil {
		h.hub.broadcast("hint", func() []byte { return line(hintTold{user, token, false}) })
	}
	return err
}

func (h *hints) takeLoss() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lose == 0 {
		return false
	}
	h.lose--
	return true
}

// observe counts the hints of a batch.
func (h *hints) observe(sent, dropped int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent, h.dropped = h.sent+sent, h.dropped+dropped
}

// hintsShown are the numbers of hints since the start.
type hintsShown struct {
	Sent    int `json:"sent"`
	Dropped int `json:"dropped"`
}

func (h *hints) shown() hintsShown {
	h.mu.Lock()
	defer h.mu.Unlock()
	return hintsShown{h.sent, h.dropped}
}

// postHints loses the next hints.
func (p *Platform) postHints(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Drop *int `json:"drop"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	if body.Drop == nil || *body.Drop < 0 || *body.Drop > maxLost {
		return refusal(http.StatusUnprocessableEntity, "drop has to be 0 to %d: so many of the next hints are lost", maxLost)
	}
	p.hints.mu.Lock()
	defer p.hints.mu.Unlock()
	p.hints.lose = *body.Drop
	return answer(w, struct {
		Drop int `json:"drop"`
	}{p.hints.lose})
}
