package simulate

import (
	"context"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/verify"
)

// repair begins a repair of one user's derived rows, beside all other work.
func (h *history) repair(user string) *worker {
	w := &worker{kind: repairing, name: "repair of " + user}
	w.lost = func() { // its caller begins it again
		if !h.isGone(user) {
			h.toRepair[user] = true
		}
	}
	if items := h.oracle.users[user].items; len(items) > 0 && h.luck.misfortune(h) && h.luck.one(8) {
		ids := slices.Sorted(maps.Keys(items))
		w.cursed = &curse{harm: refusal, picky: true, item: ids[h.luck.IntN(len(ids))]}
	}
	var err error
	var sum verify.Summary
	refused := int64(0)
	hurts := h.hurts[user]
	w.finished = func() {
		h.happened["repair"]++
		switch {
		case err != nil, sum.Remaining+sum.Unsettled > refused:
			w.lost() // it reports that something is left
		case sum.Remaining+sum.Unsettled == 0 && hurts == h.hurts[user] && h.damaged[user]:
			h.happened["damage mended beside others"]++ // by its own report: from now on everything is checked
			delete(h.damaged, user)
			h.oracle.users[user].moved = true
		}
	}
	return h.start(w, func(ctx context.Context) {
		sum, err = h.system.Verifier.Run(ctx, verify.Options{User: user, Repair: true}, func(d verify.Difference) error {
			h.note("  repair: %s %s is %s, should be %s", d.Kind, d.Key, d.Is, d.ShouldBe)
			if d.Remains && h.isRefusal(user, d) {
				refused++
			}
			return nil
		})
		h.note("%s: %+v, %v", w.name, sum, err)
	}, h.users...) // an operator may read all users' data
}

// checkVerified checks that the operators' check finds nothing if all invariants hold.
func (h *history) checkVerified() {
	h.settling = true
	defer func() { h.settling = false }()
	for _, user := range h.users {
		w := &worker{kind: repairing, name: "verification of " + user}
		h.run(h.start(w, func(ctx context.Context) {
			_, err := h.system.Verifier.Run(ctx, verify.Options{User: user}, func(d verify.Difference) error {
				isHold := d.Kind == verify.Statistics && h.oracle.users[user].isHeld()
				if d.Kind == verify.Count || d.Kind == verify.Outbox && h.phones.isLeft(d.Key) {
					return nil // it is that of the last repair, and what it counts has changed since
				}
				if d.Kind == verify.Exception || isHold || h.isRefusal(user, d) || h.isLeftByFormer(user, d) {
					return nil // the invisible rest of a split that its user gave up; or of a repair that crashed
				}
				h.violate("I2", user, d.Key, "verify finds a %s that is %s and should be %s", d.Kind, d.Is, d.ShouldBe)
				return nil
			})
			if err != nil {
				h.violate("I10", user, "verify", "%v", err)
			}
		}, h.users...), -1)
	}
}

// isRefusal reports whether a difference concerns a contribution that no row of the product's own sum can hold.
func (h *history) isRefusal(user string, d verify.Difference) bool {
	for id, it := range h.oracle.users[user].items {
		if isRefused(it) && d.Key == entity.LedgerKey(user, ownName, id).String() {
			return true
		}
	}
	return false
}

// leasedUntil returns the end of the last lease of a repair on a user's sums; false if none is in force.
func (h *history) leasedUntil() (until time.Time, held bool) {
	for _, user := range h.users {
		s := h.oracle.users[user]
		for _, hold := range []item.Item{s.meta.Map(product.AttrStatsHold), s.own.Map(ownHold)} {
			if at, ok := hold.Time("until"); ok && at.After(h.now) && at.After(until) {
				until, held = at, true
			}
		}
	}
	return until, held
}

// isHeld reports whether a repair has, or had when it died, a lease on one of the user's sums.
func (s *userState) isHeld() bool { return s.meta.Has(product.AttrStatsHold) || s.own.Has(ownHold) }
