package local

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/bus"
	"nexus/pkg/entity"
	"nexus/pkg/port"
	"nexus/pkg/snapshot"
	"nexus/pkg/system"
	"nexus/pkg/verify"
)

// erasePause is the pause between two looks for erasures that are due.
const erasePause = time.Minute

// erasing returns the ports of the erasure. Here one process does everything: it remembers no state, so that an erasure
// has to wait for what has begun alone. There is no cache at an edge, and no neighbour on a shard.
func (p *Platform) erasing() *system.Erasing {
	return &system.Erasing{
		Archive: p.blobs, Parking: p.blobs, Snapshots: p.blobs, Bus: shownBus{p.hub}, Wait: port.Sleep,
		WaitForOthers: p.others.wait,
		Forget:        p.forget,
	}
}

// forget removes what only this platform keeps of a user: events, and what it knows of rows that expire and of what has
// happened lately.
func (p *Platform) forget(_ context.Context, user string, counts bool) (found account.Survey, err error) {
	count := p.pushes.forget
	if counts {
		count = p.bus.Count
	} else {
		p.forgetSeen(user)
	}
	if found.Events, err = count(user); err != nil || p.backend.forget == nil {
		return found, err
	}
	areOf := isOf(user)
	if !counts {
		p.rows.forget(areOf)
	}
	found.Expired, err = p.backend.forget(areOf, counts)
	return found, err
}

// shownBus shows events and keeps none: the event of an erasure names its user.
type shownBus struct{ hub *hub }

func (b shownBus) Publish(_ context.Context, events ...bus.Event) error {
	if err := bus.Check(events); err != nil {
		return err
	}
	for _, e := range events {
		b.hub.broadcast("event", func() []byte { return line(shownEvent(e)) })
	}
	return nil
}

// tendAccounts erases the accounts whose time has come, and prunes histories, until the context ends.
func (p *Platform) tendAccounts(ctx context.Context) {
	select {
	case <-p.walked: // a table that has just been opened is read first
	case <-ctx.Done():
		return
	}
	for ctx.Err() == nil {
		moved := p.clock.Moved()
		if err := p.erase(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("an erasure is not finished; it goes on later", "error", err)
		}
		if err := p.prune(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("a history is not pruned yet", "error", err)
		}
		if err := p.endObjects(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("an object whose time has come is not removed yet", "error", err)
		}
		waitFor(ctx, erasePause, moved, nil, nil)
	}
}

// endObjects removes the objects whose time has come, as the rules of the bucket do in AWS.
func (p *Platform) endObjects(ctx context.Context) error {
	_, errNotes := p.system.Eraser.EndNotes(ctx)
	_, errFiles := p.system.Exporter.EndFiles(ctx)
	_, errSnapshots := snapshot.EndOld(ctx, p.blobs, p.clock.Now())
	return errors.Join(errNotes, errFiles, errSnapshots, p.endFailures(ctx))
}

// retention is up to when histories were pruned.
type retention struct {
	mu    sync.Mutex
	until time.Time
}

// prune prunes the histories whose turn has come since the last call.
func (p *Platform) prune(ctx context.Context) error {
	p.retention.mu.Lock()
	defer p.retention.mu.Unlock()
	now := p.clock.Now()
	if p.retention.until.IsZero() {
		p.retention.until = now
	}
	if _, err := p.system.Retention.Run(ctx, p.retention.until, now); err != nil {
		return err
	}
	p.retention.until = now
	return nil
}

// erase carries out the erasures that are due, one at a time.
func (p *Platform) erase(ctx context.Context) error {
	p.erasures.Lock()
	defer p.erasures.Unlock()
	return p.eraseDue(ctx, func(ctx context.Context) error {
		_, err := p.system.Eraser.Run(ctx)
		return errors.Join(err, p.maskErased(ctx))
	})
}

// eraseDue is [Platform.erase] for a caller that holds the lock. A table that is not known to have the present form is
// repaired first.
func (p *Platform) eraseDue(ctx context.Context, erase func(context.Context) error) error {
	due, err := p.system.Eraser.IsAnyDue(ctx)
	if err != nil || !due {
		return err
	}
	if p.system.Eraser.CheckForm(ctx) != nil {
		if err := p.repair(ctx); err != nil {
			return err
		}
	}
	return erase(ctx)
}

// repair repairs the whole table, so that it has the present form.
func (p *Platform) repair(ctx context.Context) error {
	_, err := p.system.Verifier.Run(ctx, verify.Options{Repair: true}, func(verify.Difference) error { return nil })
	return err
}

// Erased is the answer to POST /dev/erase.
type Erased struct {
	State   account.State `json:"state"`
	EraseAt *time.Time    `json:"eraseAt,omitempty"`
	// Erasure says what an erasure with now has done.
	Erasure *account.Erasure `json:"erasure,omitempty"`
}

// postErase requests the erasure of an account or, with now, erases it and answers when nothing is left. With dryRun it
// counts what there is. With again it erases again whom an older copy of the data has brought back.
func (p *Platform) postErase(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		User   string `json:"user"`
		Now    bool   `json:"now"`
		DryRun bool   `json:"dryRun"`
		Again  bool   `json:"again"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	if body.Again {
		if body.User != "" || body.Now || body.DryRun {
			return refusal(http.StatusUnprocessableEntity, "again: stands alone")
		}
		goOn(w)
		return p.postAgain(w, r)
	}
	if err := entity.CheckUserID(body.User); err != nil {
		return refusal(http.StatusUnprocessableEntity, "user: %v", err)
	}
	if body.Now && body.DryRun {
		return refusal(http.StatusUnprocessableEntity, "dryRun: stands without now")
	}
	goOn(w)
	if body.DryRun {
		found, err := p.system.Eraser.Survey(r.Context(), body.User)
		if err != nil {
			return err
		}
		return answer(w, found)
	}
	done, err := p.leave(r.Context(), body.User, body.Now)
	if err != nil {
		return err
	}
	state, eraseAt, err := p.system.Accounts.State(r.Context(), body.User)
	if err != nil {
		return err
	}
	out := Erased{State: state}
	if !eraseAt.IsZero() {
		out.EraseAt = &eraseAt
	}
	if done.Account != "" {
		out.Erasure = &done
	}
	return answer(w, out)
}

func (p *Platform) leave(ctx context.Context, user string, now bool) (done account.Erasure, err error) {
	if err := p.system.Eraser.CheckKnown(ctx, user); err != nil {
		if errors.Is(err, account.ErrNothing) {
			err = refusal(http.StatusNotFound, "user: %v", err)
		}
		return done, err
	}
	if !now {
		_, err := p.system.Accounts.Leave(ctx, user)
		if errors.Is(err, account.ErrErased) {
			err = refusal(http.StatusConflict, "user: %v", err)
		}
		return done, err
	}
	p.erasures.Lock() // or the erasure that looks for what is due would take this one, and tell its log alone
	defer p.erasures.Unlock()
	// One that is being erased goes on, and one that was stays so.
	if err := p.system.Accounts.LeaveNow(ctx, user); err != nil && !errors.Is(err, account.ErrErased) {
		return done, err
	}
	err = p.eraseDue(ctx, func(ctx context.Context) error {
		if done, err = p.system.Eraser.Erase(ctx, user); err != nil {
			return err
		}
		return p.maskErased(ctx)
	})
	return done, err
}
