package simulate

import (
	"context"
	"maps"
	"slices"
	"time"

	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// bringBack starts several works on an item that has left, or is about to: a restore that is sent twice at once,
// another one, a deletion, the archive and TTL. They continue by turns, a few calls each.
func (h *history) bringBack() {
	h.endAll()
	h.absorb(nil)
	s := h.oracle.users[h.users[h.luck.IntN(len(h.users))]]
	id := h.aDeparture(s)
	if id == "" {
		return
	}
	h.happened["several want back"]++
	h.note("several want %s of %s back", id, s.user)
	typ := h.registry.ByID(id)
	b := contendedItem{s.user, entity.Ref{Type: typ.Name, ID: id}}
	if it := s.items[id]; it != nil && h.luck.one(3) { // its user deletes it, and the archive has not processed that
		version := it.Int(entity.AttrVersion)
		h.run(h.send(&request{name: "delete " + id, Request: command.Request{
			User: s.user, Command: command.Delete{Type: typ, ID: id}, ExpectedVersion: &version,
		}}), -1)
	} else if it != nil {
		h.outlive(it)
	}
	a := author{h, s}
	restore := func(key string) *worker {
		return h.send(&request{name: "restore " + id, Request: command.Request{
			User: s.user, Command: a.restore(typ, id), IdempotencyKey: key,
		}})
	}
	h.asked++
	key := describe("key-%d-%d", h.step, h.asked)
	at := []*worker{restore(key), restore(key)}
	if h.luck.one(3) {
		at = append(at, restore(""))
	}
	if batch := h.recordsOf(h.readerOf(archive.Name), b); len(batch) > 0 && h.luck.one(3) {
		at = append(at, h.handleBeside(h.readerOf(archive.Name), batch))
	}
	for turn := 0; turn < maxTurns && len(at) > 0 && h.violation == nil; turn++ {
		h.run(at[h.luck.IntN(len(at))], pick(h.luck, 1, 1, 2, 3))
		at = slices.DeleteFunc(at, func(w *worker) bool { return w.ended })
		if h.luck.one(12) {
			h.store.Sweep(h.now, 0)
			h.absorb(nil)
		}
	}
}

// aDeparture returns an item that has left, or one that is to leave; empty for none.
func (h *history) aDeparture(s *userState) string {
	left := slices.Sorted(maps.Keys(s.expired))
	if len(left) > 0 && h.luck.one(2) {
		return left[h.luck.IntN(len(left))]
	}
	if len(h.damaged) > 0 || len(h.toRepair) > 0 || h.strayed {
		return "" // the item may have no valid end, and a repair would be too late
	}
	return h.conclude(s)
}

// conclude returns an item that is to leave and has its copy; if there is none, it completes an item first. Empty for
// none.
func (h *history) conclude(s *userState) string {
	leaves := func(id string) bool {
		it, cold := s.items[id], s.colds[id]
		return it.Has(entity.AttrTTL) && cold != nil && it.Int(entity.AttrVersion) == cold.Int(entity.AttrVersion)
	}
	status := map[string]string{product.TypeTask: product.StatusArchived, product.TypeEvent: product.StatusCancelled}
	var concluded, open []string
	for _, id := range slices.Sorted(maps.Keys(s.items)) {
		if typ := h.registry.ByID(id); leaves(id) {
			concluded = append(concluded, id)
		} else if typ != nil && status[typ.Name] != "" {
			open = append(open, id)
		}
	}
	if len(concluded) > 0 {
		return concluded[h.luck.IntN(len(concluded))]
	}
	if len(open) == 0 {
		return ""
	}
	id := open[h.luck.IntN(len(open))]
	typ := h.registry.ByID(id)
	h.change(contendedItem{s.user, entity.Ref{Type: typ.Name, ID: id}}, `{"status":"`+status[typ.Name]+`"}`)
	h.catchUp()
	if !leaves(id) {
		return ""
	}
	return id
}

// outlive waits until the item's ttl has passed, and possibly until TTL has removed it.
func (h *history) outlive(it item.Item) {
	h.catchUp()
	h.endAll()
	h.now = maxTime(h.now, time.Unix(it.Int(entity.AttrTTL), 0).UTC().Add(time.Second))
	h.note("time passes until %s has lapsed", it.Key().SK)
	h.handOverAged()
	if h.luck.one(2) {
		h.store.Sweep(h.now, 0)
	}
	h.absorb(nil)
}

// ask reads missing items, and the list of restorable ones.
func (h *history) ask(user string) {
	s := h.oracle.users[user]
	var missing []entity.Ref
	for _, id := range slices.Sorted(maps.Keys(s.expired)) {
		missing = append(missing, entity.Ref{Type: h.registry.ByID(id).Name, ID: id})
	}
	for _, typ := range h.registry.Types() {
		for _, id := range s.ids[typ.Name] {
			if s.items[id] == nil {
				missing = append(missing, entity.Ref{Type: typ.Name, ID: id})
			}
		}
		missing = append(missing, entity.Ref{Type: typ.Name, ID: typ.IDPrefix + "_" + h.luck.uuid()})
	}
	ref := missing[h.luck.IntN(len(missing))]
	if left := len(s.expired); left > 0 && h.luck.one(2) {
		ref = missing[h.luck.IntN(left)]
	}
	if s.items[ref.ID] != nil {
		return // it was restored
	}
	w := &worker{kind: commanding, name: describe("%s asks for %s", user, ref), readOnly: true}
	var why archive.Departure
	var err error
	w.finished = func() {
		if err == nil && why != s.departure(ref) {
			h.violate("I6", user, ref.ID, "is said to have left as %q, and left as %q", why, s.departure(ref))
		}
		h.answered(w, err)
	}
	h.happened["question for what has left"]++
	h.run(h.start(w, func(ctx context.Context) {
		if why, err = h.system.Archive.Left(ctx, user, ref); err == nil {
			_, _, err = h.system.Archive.List(ctx, user, listPage, table.Position{})
		}
	}, user), -1)
}

// departure returns the log's reason for a missing item.
func (s *userState) departure(ref entity.Ref) archive.Departure {
	switch {
	case ref.Type == entity.TypeInstance:
	case s.gone[ref.ID]:
		return archive.Deleted
	case s.colds[ref.ID] != nil:
		return archive.Expired
	}
	return archive.NoDeparture
}

// spoilCopy loses or damages the copy of an item that is still there, and runs a repair while its user continues. It
// then restores a copy that the repair did not reach, because after the item's end nothing could be done.
func (h *history) spoilCopy(s *userState) {
	if h.isAway(s.user) {
		return
	}
	h.endAll()
	h.absorb(nil)
	id := h.conclude(s)
	if id == "" {
		return
	}
	name := s.colds[id].Str(attrObject)
	body, err := h.copies.Get(noContext, name)
	if err != nil {
		return // the row that replaces it was damaged, too
	}
	h.happened["cold copy spoilt"]++
	spoilt := pick(h.luck, "", "{", `{"item":{"title":{"X":"1"}}}`)
	h.note("the object store has %q for %s", spoilt, name)
	if spoilt == "" {
		err = h.copies.Delete(noContext, name)
	} else {
		err = h.copies.Put(noContext, name, []byte(spoilt))
	}
	if err != nil {
		h.violate("port", s.user, name, "%v", err)
	}
	h.repairBeside(contendedItem{s.user, entity.Ref{Type: s.items[id].Str(entity.AttrType), ID: id}})
	h.endAll()
	is, err := h.copies.Get(noContext, name)
	isThere := err == nil && string(is) != spoilt
	if s.colds[id].Str(attrObject) != name || isThere {
		h.happened["cold copy mended"]++
		return
	}
	if err := h.copies.Put(noContext, name, body); err != nil {
		h.violate("port", s.user, name, "%v", err)
	}
}
