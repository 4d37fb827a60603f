package local

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"nexus/pkg/queue"
	queuelocal "nexus/pkg/queue/local"
)

// walkers is how many messages of walks the platform works on at a time, of as many users. In AWS it is
// [size.WalksAtOnce]; here the engine serves users and walks alike.
const walkers = 2

// walkDriver gives the messages of walks to the walker.
type walkDriver struct {
	queue *queuelocal.Queue
	clock *clock
	poked chan struct{}
	ended atomic.Int64 // messages done since the start
	log   *slog.Logger
}

// wake makes a walker read the queue again.
func (d *walkDriver) wake() {
	select {
	case d.poked <- struct{}{}:
	default: // that many reads are already pending
	}
}

// run drives until the context ends.
func (d *walkDriver) run(ctx context.Context) {
	var all sync.WaitGroup
	for range walkers {
		all.Go(func() { d.drive(ctx) })
	}
	all.Wait()
}

// drive works on one message after another.
func (d *walkDriver) drive(ctx context.Context) {
	for ctx.Err() == nil {
		moved, ended := d.clock.Moved(), d.queue.Ended()
		if d.work(ctx) {
			continue
		}
		wait := time.Duration(-1) // for news alone
		if at, any := d.queue.Next(); any {
			wait = max(at.Sub(d.clock.Now()), 0)
		}
		waitFor(ctx, wait, moved, ended, d.poked)
	}
}

// work works on one message; false if none may begin.
func (d *walkDriver) work(ctx context.Context) bool {
	worked, err := d.queue.Work(ctx, d.clock.Now())
	switch {
	case err != nil && ctx.Err() == nil:
		d.log.Warn("walk failed", "error", err)
	case worked && err == nil:
		d.ended.Add(1)
	}
	return worked
}

// errWalksLeft says that a message waits for its next attempt.
var errWalksLeft = errors.New("a walk has failed and is repeated")

// drain works on the messages until none is left but dead letters, and waits for those that a walker has. A message
// that has failed is left to its next attempt: then the error says so.
func (d *walkDriver) drain(ctx context.Context) error {
	for {
		ended := d.queue.Ended()
		if d.work(ctx) {
			continue
		}
		var begun, waiting bool
		for _, e := range d.queue.All() {
			begun, waiting = begun || e.Begun, waiting || !e.Dead
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !waiting:
			return nil
		case !begun:
			return errWalksLeft
		}
		waitFor(ctx, -1, ended, nil, nil)
	}
}

// observedQueue wakes the walkers and tells the hub.
type observedQueue struct {
	queue.Queue
	hub  *hub
	done func()
}

func (q observedQueue) Put(ctx context.Context, m queue.Message) error {
	err := q.Queue.Put(ctx, m)
	q.done() // also after an error: the message may be there
	if err == nil {
		q.hub.broadcast("walk", func() []byte { return m.Body })
	}
	return err
}

// walkShown is a message of a walk as it is listed.
type walkShown struct {
	ID        string          `json:"id"`
	State     string          `json:"state"` // WAITING, BEGUN or DEAD
	Body      json.RawMessage `json:"body"`
	Attempts  int             `json:"attempts,omitempty"`
	LastError string          `json:"lastError,omitempty"`
}

// getWalks lists the messages of walks in their order, and then the dead letters.
func (p *Platform) getWalks(w http.ResponseWriter, r *http.Request) error {
	limit, _, err := listParams(r, maxList)
	if err != nil {
		return err
	}
	out := struct {
		Items []walkShown `json:"items"`
		More  int         `json:"more"` // messages that are not listed
	}{Items: []walkShown{}}
	all := p.walks.queue.All()
	for _, e := range all[:min(limit, len(all))] {
		state := "WAITING"
		switch {
		case e.Dead:
			state = "DEAD"
		case e.Begun:
			state = "BEGUN"
		}
		out.Items = append(out.Items, walkShown{e.ID, state, e.Body, e.Attempts, e.LastError})
	}
	out.More = len(all) - len(out.Items)
	return answer(w, out)
}

// postWalks puts all dead letters back into the queue.
func (p *Platform) postWalks(w http.ResponseWriter, r *http.Request) error {
	var body struct{}
	if err := readBody(r, &body); err != nil {
		return err
	}
	n, err := p.walks.queue.Redrive()
	p.walks.wake()
	if err != nil {
		return err
	}
	return answer(w, map[string]int{"redriven": n})
}
