package simulate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/insights"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/schedule/memory"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/verify"
)

// damage does what no code here does: it changes or removes a user's derived rows. From then on nothing is checked
// about the user until a repair is complete; consumers, commands and reminders continue.
func (h *history) damage(user string) {
	if h.isAway(user) {
		return
	}
	s := h.oracle.users[user]
	var err error
	switch h.luck.IntN(18) {
	default:
		if err = h.distort(s); errors.Is(err, errNothing) {
			return
		}
	case 0, 16, 17:
		h.damageSum(s)
		return
	case 1, 2:
		err = h.loseRow(h.losable(s.ledgers[pick(h.luck, stats.Name, links.Name, insights.Name)]))
	case 3:
		err = h.loseRow(s.links)
	case 4:
		all := slices.DeleteFunc(h.schedules.Entries(), func(one memory.Entry) bool {
			return hookOfPayload(one.Payload) != ""
		})
		if len(all) == 0 {
			return
		}
		one := all[h.luck.IntN(len(all))]
		if userOfPayload(one.Payload) != user {
			return
		}
		err = h.schedules.Delete(noContext, one.Name)
	case 5:
		err = h.loseRow(s.timers)
	}
	h.damageDone(user, err)
}

// damageSum writes wrong statistics.
func (h *history) damageSum(s *userState) {
	if !s.meta.Has(product.AttrStats) || h.isAway(s.user) {
		return
	}
	wrong := s.meta.Map(product.AttrStats).Clone()
	wrong[pick(h.luck, totals...)] = item.Int(int64(h.luck.IntN(pick(h.luck, 9, 9, 1_000_000))))
	if h.luck.one(3) { // and the facts that only removed items had
		wrong[pick(h.luck, product.StatLastEventCreated, product.StatLastTaskCompleted)] = item.String("2000-01-01T00:00:00Z")
		s.unsure = true
	}
	_, err := h.store.Update(noContext, table.Update{
		Key: s.meta.Key(), Set: item.Item{product.AttrStats: item.Map(wrong)},
	})
	h.damageDone(s.user, err)
}

// damageEnd puts a wrong end on one item, and runs a repair while its user continues to change the item.
func (h *history) damageEnd(user string) {
	if h.isAway(user) {
		return
	}
	h.endAll()
	s := h.oracle.users[user]
	err := pick(h.luck, h.strayEnd, h.strayEnd, h.strayCold)(s)
	if !errors.Is(err, errNothing) {
		h.damageDone(user, err)
	}
}

func (h *history) damageDone(user string, err error) {
	if err != nil {
		h.violate("I10", user, "damage", "%v", err)
	}
	h.note("what %s has is damaged from outside", user)
	h.hurt(user)
	h.absorb(nil)
	if len(h.workers) == 0 && h.struck.ID != "" && h.luck.one(2) {
		h.repairBeside(contendedItem{user, h.struck})
	}
	h.struck = entity.Ref{}
}

// maxMending bounds the turns of a repair while its user changes the repaired rows.
const maxMending = 120

// repairBeside runs a repair while the user continues to change the damaged item.
func (h *history) repairBeside(b contendedItem) {
	h.happened["repair beside its item"]++
	w := h.repair(b.user)
	if h.luck.misfortune(h) && h.luck.one(2) {
		w.trip = &trip{writes: true, left: h.luck.IntN(3), kind: pick(h.luck, failBefore, failAfter)}
	}
	if h.luck.one(2) {
		h.unsettle(w, b, nil, renaming, linking, laterWriting)
		h.run(w, -1)
		return
	}
	for turn := 0; turn < maxMending && !w.ended && h.violation == nil; turn++ {
		h.run(w, pick(h.luck, 1, 1, 2, 3))
		if h.luck.one(5) {
			h.run(h.send(h.requestAbout(b)), -1)
		}
	}
}

// hurt records that a user's data are wrong until a repair that begins later is complete.
func (h *history) hurt(user string) {
	h.damaged[user], h.toRepair[user] = true, true
	h.hurts[user]++
}

func (h *history) loseRow(rows map[string]item.Item) error {
	if len(rows) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(rows))
	row := rows[names[h.luck.IntN(len(names))]]
	h.strikeAt(row.Key())
	return h.store.Delete(noContext, table.Delete{Key: row.Key()})
}

// losable returns the ledger rows without young tombstones. Only such a row records that its item is gone, so no
// repair can find its loss (docs/verify.md).
func (h *history) losable(ledgers map[string]item.Item) map[string]item.Item {
	out := maps.Clone(ledgers)
	maps.DeleteFunc(out, func(_ string, row item.Item) bool {
		return row.Has(entity.AttrTTL) && row.Int(entity.AttrTTL) > h.now.Add(tombstoneLife-agedAfter).Unix()
	})
	return out
}

// strikeAt records the item of a damaged row.
func (h *history) strikeAt(key item.Key) {
	id := ownerOf(key)
	if masterID, _, err := entity.ParseInstanceID(id); err == nil {
		id = masterID
	}
	if typ := h.registry.ByID(id); typ != nil {
		h.struck = entity.Ref{Type: typ.Name, ID: id}
	}
}

// maxRepairs bounds the repairs of one user, one after the other, when nothing else is at work.
const maxRepairs = 4

// unattended is the age from which a repair completes a delivery.
const unattended = 11 * time.Minute

// repairDamage repairs damage and the rest of a crashed repair, and reports whether there was any.
func (h *history) repairDamage() (mended bool) {
	if len(h.toRepair) > 0 {
		h.now = h.now.Add(unattended)
	}
	if h.strayed {
		mended, h.strayed = true, false
		h.repairAll()
	}
	for _, user := range h.users {
		if !h.toRepair[user] {
			continue
		}
		remaining := int64(1)
		for n := 0; n < maxRepairs && remaining > 0; n++ {
			w := &worker{kind: repairing, name: "repair of " + user}
			refused := int64(0)
			h.run(h.start(w, func(ctx context.Context) {
				sum, err := h.system.Verifier.Run(ctx, verify.Options{User: user, Repair: true}, func(d verify.Difference) error {
					h.note("  repair: %s %s is %s, should be %s", d.Kind, d.Key, d.Is, d.ShouldBe)
					if d.Remains && h.isRefusal(user, d) {
						refused++
					}
					return nil
				})
				if remaining = sum.Remaining + sum.Unsettled - refused; err != nil {
					h.violate("I10", user, "repair", "%v", err)
				}
			}, h.users...), -1)
		}
		if remaining > 0 {
			h.violate("I10", user, "repair", "%d differences remain after %d repairs", remaining, maxRepairs)
		}
		if h.damaged[user] {
			h.happened["damage mended"]++
		}
		delete(h.damaged, user)
		delete(h.toRepair, user)
		h.oracle.users[user].moved = true
		mended = true
	}
	return mended
}

// repairAll repairs everything of all users: only that finds a schedule with an unreadable payload.
func (h *history) repairAll() {
	h.happened["repair of everybody"]++
	w := &worker{kind: repairing, name: "repair of everybody"}
	h.run(h.start(w, func(ctx context.Context) {
		_, err := h.system.Verifier.Run(ctx, verify.Options{Repair: true}, func(d verify.Difference) error {
			h.note("  repair: %s %s %s is %s, should be %s", d.User, d.Kind, d.Key, d.Is, d.ShouldBe)
			return nil
		})
		if err != nil {
			h.violate("I10", "", "repair", "%v", err)
		}
	}, h.users...), -1)
}
