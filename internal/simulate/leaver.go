package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/pepper"
	"nexus/pkg/port"
	"nexus/pkg/table"
)

// leaver is the user of a history whose account leaves, with what the log of all writes says of the account.
type leaver struct {
	user, name string // name is the account's, under the pepper
	pepper     pepper.Pepper

	state account.State
	// asked and eraseAt are the instants of the request, begun and erased those of the states, returned the last return.
	asked, eraseAt, begun, erased, returned time.Time

	words     []string  // that the user wrote, until ERASED
	isPassing bool      // the erasure has removed something
	isTold    bool      // the subscribers of the bus were
	isPast    bool      // what keeps things for a while keeps nothing of the user any more
	isBack    bool      // the id is a stranger's
	shells    []*worker // from a shell, standing still

	address string // of the calendar
	export  string // the id of an export
}

const (
	// leavingOneIn histories have a user who leaves.
	leavingOneIn = 4
	// leavingSalt is chosen so that in none of the histories that are kept for ever a user leaves: they are older.
	leavingSalt = 0x6c656176657303
)

// leaves reports whether a user leaves in the history of a seed. The release before asks for no account's state.
func leaves(seed uint64) bool {
	return newFormer == nil && rand.NewPCG(seed, leavingSalt).Uint64()%leavingOneIn == 0
}

// openAccounts chooses who leaves: the last user, whose id another one's begins with.
func (h *history) openAccounts() {
	if !leaves(h.spec.Seed) {
		return
	}
	made, err := pepper.New(h.luck.bits())
	if err != nil {
		panic("simulate: " + err.Error()) // the source never ends
	}
	user := h.users[len(h.users)-1]
	h.leaver = &leaver{user: user, name: made.Erasure(user), pepper: made}
	if err := h.store.Put(noContext, table.Put{Item: account.FormRow()}); err != nil {
		h.violate("port", "", "", "%v", err)
	}
}

// isAway reports whether the user's account is leaving or gone.
func (h *history) isAway(user string) bool {
	return h.leaver != nil && h.leaver.user == user && (h.leaver.state != account.Present || h.isGone(user))
}

// isGone reports whether the erasure of the user's account has begun.
func (h *history) isGone(user string) bool {
	return h.leaver != nil && h.leaver.user == user && !h.leaver.begun.IsZero()
}

// isPast reports whether the user was erased so long ago that nothing keeps the account any more, and no device sends.
func (h *history) isPast(user string) bool { return h.isGone(user) && h.leaver.isPast }

// life is the longest life of a worker: where accounts leave, what docs/correctness.md promises of functions.
func (h *history) life() time.Duration {
	if h.leaver != nil {
		return 2 * time.Minute
	}
	return maxLife
}

// leaveSome lets the account of the user who leaves come further: a request, its return, the erasure, and what comes
// back behind it.
func (h *history) leaveSome() {
	l := h.leaver
	if l == nil || h.violation != nil {
		return
	}
	switch {
	case !l.erased.IsZero():
		h.comeBack()
	case !l.begun.IsZero():
		h.eraseSome()
	case l.state == account.Leaving:
		switch n := h.luck.IntN(8); {
		case n == 0:
			h.takeBackLeaving()
		case n == 1:
			h.leave()
		case n == 2:
			h.begin(h.erasing(h.luck.one(2))) // which finds nothing due
		case n < 5:
			h.pass(l.eraseAt.Sub(h.now) + time.Second)
			h.eraseSome()
		}
	case h.luck.one(16):
		h.leave()
	}
}

// leave has the user request the erasure, or an operator, who does not wait for the notice. Before that a repair from a
// shell may have begun that stands still from then on.
func (h *history) leave() {
	l := h.leaver
	h.endAll()
	h.absorb(nil)
	if h.damaged[l.user] || h.toRepair[l.user] || h.strayed {
		return // nothing is repaired from now on
	}
	now := h.luck.one(2)
	if l.state == account.Present {
		h.prepare(now)
	}
	if now && l.state == account.Present && len(h.oracle.users[l.user].items) > 0 && !h.luck.one(4) {
		h.leaveUnderRepair()
		return
	}
	what := "leaves"
	if now {
		what = "is told to leave at once"
	}
	w := &worker{kind: commanding, name: l.user + " " + what}
	var eraseAt time.Time
	var err error
	w.finished = func() {
		h.note("%s: %s, %v", w.name, item.FormatInstant(eraseAt), err)
		h.answeredOfAccount(w, err)
		if err == nil && !now && !eraseAt.Equal(l.eraseAt) {
			h.violate("E2", l.user, l.name, "is to be erased at %s, and was answered %s", item.FormatInstant(l.eraseAt),
				item.FormatInstant(eraseAt))
		}
	}
	h.begin(h.start(w, func(ctx context.Context) {
		if now {
			err = h.system.Accounts.LeaveNow(ctx, l.user)
			return
		}
		eraseAt, err = h.system.Accounts.Leave(ctx, l.user)
	}, l.user))
}

// prepare leaves what an erasure finds in few histories: records that cannot be read, rows of pruned revisions, and a
// repair from a shell if nothing delays the erasure.
func (h *history) prepare(now bool) {
	l := h.leaver
	h.parkUnreadable()
	h.furnish()
	if s := h.oracle.users[l.user]; h.keeper != nil && h.luck.one(2) {
		h.commitHead(s)
		h.commitHead(s)
		h.run(h.prune(s), -1)
	}
}

// leaveUnderRepair erases the user at once while a repair from a shell stands still, which has found damage. Nothing
// fails until the erasure has begun, for nothing repairs the damage from then on.
func (h *history) leaveUnderRepair() {
	l := h.leaver
	former := h.settling
	h.settling = true
	defer func() { h.settling = former }()
	h.damageForShell(h.oracle.users[l.user])
	h.standStill(h.repair(l.user))
	w := &worker{kind: commanding, name: l.user + " is told to leave at once, and a shell repairs"}
	var err error
	w.finished = func() { h.answeredOfAccount(w, err) }
	h.run(h.start(w, func(ctx context.Context) { err = h.system.Accounts.LeaveNow(ctx, l.user) }, l.user), -1)
	for w = h.erasing(true); !w.ended && l.begun.IsZero() && h.violation == nil; {
		h.run(w, 1)
	}
}

// damageForShell loses much of what is derived from the user's items, so that a repair has much to write.
func (h *history) damageForShell(s *userState) {
	lose := func(key item.Key) {
		if err := h.store.Delete(noContext, table.Delete{Key: key}); err != nil {
			h.violate("I10", s.user, "damage", "%v", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.links)) {
		lose(s.links[name].Key())
	}
	for _, name := range slices.Sorted(maps.Keys(s.timers)) {
		lose(s.timers[name].Key())
	}
	rows := h.losable(s.ledgers[links.Name])
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		lose(rows[id].Key())
	}
	for _, one := range h.schedules.Entries() {
		if userOfPayload(one.Payload) == s.user {
			if err := h.schedules.Delete(noContext, one.Name); err != nil {
				h.violate("I10", s.user, "damage", "%v", err)
			}
		}
	}
	h.damageSum(s)
	h.damageDone(s.user, nil)
}

// parkUnreadable delivers two of the last records without their keys: the parked ones are in no user's folder.
func (h *history) parkUnreadable() {
	for range 2 {
		rec := h.stream.log[h.luck.IntN(len(h.stream.log))]
		if rec.isOfRepository {
			continue // a node that its user forgets has no word anywhere
		}
		junk := json.RawMessage(bytes.Replace(rec.payload(), []byte(`"Keys"`), []byte(`"keys"`), 1))
		r := h.readers[h.luck.IntN(len(h.readers))]
		h.happened["record without a key parked"]++
		w := h.handleRaw(r.loop, "a record without a key", []json.RawMessage{junk}, nil, func(string) {})
		w.junk, w.lost = junk, func() {}
		h.run(w, -1)
	}
}

// takeBackLeaving has the user take the request back.
func (h *history) takeBackLeaving() {
	l := h.leaver
	for len(l.shells) > 0 { // an operator ends it, and repairs again
		h.wake(l.shells[0])
		h.kill(h.workers[len(h.workers)-1])
	}
	w := &worker{kind: commanding, name: l.user + " comes back"}
	var err error
	w.finished = func() {
		h.note("%s: %v", w.name, err)
		h.answeredOfAccount(w, err)
	}
	h.begin(h.start(w, func(ctx context.Context) { err = h.system.Accounts.Return(ctx, l.user) }, l.user))
}

// answeredOfAccount checks the answer to a request about the account itself.
func (h *history) answeredOfAccount(w *worker, err error) {
	isRefusal := errors.Is(err, account.ErrErased) && h.isGone(h.leaver.user) || errors.Is(err, account.ErrPresent)
	if err != nil && !isRefusal && !isPassing(err) && !port.IsOutage(err) {
		h.violate("E2", "", w.name, "is answered %v", err)
	}
}

// maxErasing bounds the calls of the job until an account is erased when nothing fails.
const maxErasing = 6

// endLeaving ends what is under way, when nothing fails: the request is taken back, or the account is erased.
func (h *history) endLeaving() {
	l := h.leaver
	if l == nil {
		return
	}
	h.settling, h.storm = true, 0
	defer func() { h.settling = false }()
	h.endAll()
	if l.state == account.Leaving && h.luck.one(4) {
		h.takeBackLeaving()
		h.endAll()
	}
	if l.state == account.Present && l.begun.IsZero() {
		if h.luck.one(4) {
			return // a user who stays, or has come back
		}
		h.rest()
		h.settling = true
		h.leave()
		h.endAll()
	}
	for n := 0; l.erased.IsZero() && h.violation == nil; n++ {
		if n == maxErasing {
			h.violate("E1", "", l.name, "is not erased after %d calls", n)
		}
		h.now = maxTime(h.now, l.eraseAt).Add(30 * time.Minute)
		h.run(h.erasing(false), -1)
		h.endAll()
	}
	for len(l.shells) > 0 && !l.isPast && h.violation == nil { // no process lives until the id is a stranger's
		h.wake(l.shells[0])
		h.endAll()
	}
}
