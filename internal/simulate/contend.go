package simulate

import (
	"slices"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
)

const (
	// maxTurns bounds the turns of one worker while several contend.
	maxTurns = 40
	// recent is the number of last records among which the contended item is chosen.
	recent = 20
	// maxAhead bounds how far the clock of one of them may be ahead of the others'.
	maxAhead = 4 * time.Second
	// maxAtOnce bounds how many of an item's records one of them has.
	maxAtOnce = 3
)

// contendedItem names the item that several workers contend for.
type contendedItem struct {
	user string
	ref  entity.Ref
}

// contend starts several workers on the same item at once, and lets them continue by turns, few calls each. They are
// commands, deliveries of its records in order and out of order, twice and beside each other, the scheduler's calls,
// and a repair. Mistakes about events between two calls appear here.
func (h *history) contend() {
	h.absorb(nil)
	if h.luck.one(3) {
		h.store.Sweep(h.now, 0)
		h.absorb(nil)
	}
	b, ok := h.aContendedItem()
	switch {
	case !ok:
		return
	case h.luck.one(4):
		h.fallBehind(b)
	case h.luck.one(4):
		b = h.onTheEve(b)
		h.early(b)
	}
	h.happened["contended"]++
	h.note("several want %s of %s", b.ref, b.user)
	if h.luck.one(4) && h.takeBack(b) {
		return
	}
	if h.luck.one(12) && h.luck.misfortune(h) {
		h.lastFirst(b)
		return
	}
	favourite := h.readers[h.luck.IntN(len(h.readers))]
	if h.luck.one(2) {
		h.overtake(b, favourite)
		return
	}
	var at []*worker
	for range 2 + h.luck.IntN(3) {
		at = h.join(at, b, favourite)
	}
	for turn := 0; turn < maxTurns && len(at) > 0 && h.violation == nil; turn++ {
		if h.luck.one(4) && turn < maxTurns/2 {
			at = h.join(at, b, favourite)
		}
		h.run(at[h.luck.IntN(len(at))], pick(h.luck, 1, 1, 2, 3, 8, -1))
		at = slices.DeleteFunc(at, func(w *worker) bool { return w.ended })
		if h.luck.one(6) {
			h.now = h.now.Add(time.Duration(h.luck.IntN(4)) * time.Second)
		}
	}
}

// onTheEve waits until a few seconds before a reminder is due, and makes its item the contended one.
func (h *history) onTheEve(b contendedItem) contendedItem {
	h.endAll()
	all := h.schedules.Entries()
	if len(all) == 0 {
		return b
	}
	one := all[h.luck.IntN(len(all))]
	wait := one.At.Sub(h.now) - time.Duration(1+h.luck.IntN(4))*time.Second
	next, ok := h.itemOfCall(one.Payload)
	if !ok || one.Called || wait <= 0 || wait > 2*lateLimit {
		return b
	}
	h.now = h.now.Add(wait)
	h.note("time passes: %s", wait)
	h.handOverAged()
	return next
}

// early delivers the item's records through readers whose clock is ahead.
func (h *history) early(b contendedItem) {
	for _, r := range h.readers {
		if batch := h.recordsOf(r, b); len(batch) > 0 {
			w := h.handleBeside(r, batch)
			w.setClock(maxAhead)
			h.run(w, pick(h.luck, -1, -1, h.luck.IntN(maxStart)))
		}
	}
}

// behind is an age at which consumers do not rely on a record any more.
const behind = 61 * time.Minute

// fallBehind lets the user change the item and delays the records: for more than an hour, or until the item is to be
// archived.
func (h *history) fallBehind(b contendedItem) {
	want := h.requestAbout
	if h.luck.one(3) {
		want = h.requestLink
	}
	for range 1 + h.luck.IntN(3) {
		h.run(h.send(want(b)), -1)
		if !h.luck.one(3) {
			h.catchUp()
		}
	}
	h.run(h.send(want(b)), -1)
	h.endAll()
	wait := behind + time.Duration(h.luck.IntN(120))*time.Minute
	it := h.oracle.users[b.user].items[b.ref.ID]
	if at, ok := it.Time(product.AttrArchiveAt); ok && at.After(h.now) &&
		it.Str(entity.AttrStatus) == product.StatusCompleted {
		wait = at.Sub(h.now) + time.Second
	}
	h.now = h.now.Add(wait)
	h.note("time passes: %s", wait)
	h.handOverAged()
	h.store.Sweep(h.now, 0)
	h.absorb(nil)
}

// aContendedItem returns an item that was written recently, sometimes one that was written long ago.
func (h *history) aContendedItem() (contendedItem, bool) {
	records := h.stream.log
	if len(records) == 0 {
		return contendedItem{}, false
	}
	if !h.luck.one(4) {
		records = records[max(0, len(records)-recent):]
	}
	for range 8 {
		if b := records[h.luck.IntN(len(records))].item; b != (contendedItem{}) && !h.isAway(b.user) {
			return b, true
		}
	}
	return contendedItem{}, false
}

// itemOf returns the item of a record: the task of a timer, the series of an exception; the zero value for other rows.
func itemOf(r *record) contendedItem {
	sk, err := entity.ParseSortKey(r.Key.SK)
	if err != nil || sk.Prefix == entity.TypeUserMeta || r.isOfRepository {
		return contendedItem{}
	}
	if sk.Prefix == entity.RowTimer {
		if timer, err := entity.ParseTimer(r.Key.SK); err == nil {
			return contendedItem{r.user, entity.Ref{Type: product.TypeTask, ID: timer.TaskID}}
		}
	}
	if sk.IsRow() {
		return contendedItem{}
	}
	ref := sk.Ref()
	if ref.Type == entity.TypeInstance {
		ref = entity.Ref{Type: entity.TypeMaster, ID: sk.Components[0]}
	}
	return contendedItem{r.user, ref}
}

// join starts one more worker, if there is work for it. Mostly they use the same reader.
func (h *history) join(at []*worker, b contendedItem, r *reader) []*worker {
	var w *worker
	switch n := h.luck.IntN(16); {
	case n < 5:
		w = h.send(h.requestAbout(b))
	case n < 13:
		if h.luck.one(3) {
			r = h.readers[h.luck.IntN(len(h.readers))]
		}
		if n < 10 {
			if batch := h.recordsOf(r, b); len(batch) > 0 {
				w = h.handleBeside(r, batch)
			}
		} else {
			w = h.deliverNext(r, b)
		}
	case n < 15:
		for _, one := range h.schedules.due() {
			if userOfPayload(one.Payload) == b.user {
				w = h.schedules.fire(one.Name)
				break
			}
		}
	default:
		w = h.repair(b.user)
	}
	if w == nil {
		return at
	}
	h.mistime(w)
	h.run(w, h.luck.IntN(3))
	if w.ended {
		return at
	}
	return append(at, w)
}

// recordsOf returns some of the last records of the item that the reader passes, in any order.
func (h *history) recordsOf(r *reader, b contendedItem) []*record {
	var batch []*record
	skip := pick(h.luck, 0, 0, 1, 2)
	for i := len(h.stream.log) - 1; i >= 0 && len(batch) < maxAtOnce; i-- {
		rec := h.stream.log[i]
		if rec.item != b || !r.filter.Match(rec.arrives) {
			continue
		}
		if skip--; skip < 0 {
			batch = append(batch, rec)
		}
	}
	if len(batch) > 0 {
		batch = batch[:1+h.luck.IntN(len(batch))]
	}
	slices.Reverse(batch)
	return h.scramble(batch)
}

// deliverNext continues the reader's own delivery of the shard with the item's next record.
func (h *history) deliverNext(r *reader, b contendedItem) *worker {
	for _, sh := range h.stream.shards {
		if !r.waits(sh) || r.busy[sh] != nil {
			continue
		}
		for _, rec := range sh.records[r.places[sh]:] {
			if rec.item == b {
				return h.deliver(r, sh, pick(h.luck, 3, 100))
			}
		}
	}
	return nil
}

// requestLink adds a link to the item, or removes one.
func (h *history) requestLink(b contendedItem) *request {
	a := author{h, h.oracle.users[b.user]}
	cmd, expected, name := a.link(h.registry.ByName(b.ref.Type), b.ref.ID, a.items[b.ref.ID])
	return &request{name: name, Request: command.Request{User: b.user, Command: cmd, ExpectedVersion: expected}}
}

// requestAbout returns a user's request about one item.
func (h *history) requestAbout(b contendedItem) *request {
	h.wanted = b.ref
	defer func() { h.wanted = entity.Ref{} }()
	return h.requestOf(b.user)
}

// mistime gives a worker a clock that is ahead, late, or jumps. A user's request counts from the clock that received
// it, so commands keep the right one.
func (h *history) mistime(w *worker) {
	if w.kind == commanding || !h.luck.one(3) {
		return
	}
	shift := time.Duration(1+h.luck.IntN(int(maxAhead/time.Second))) * time.Second
	switch h.luck.IntN(4) {
	case 0:
		h.happened["clock behind"]++
		w.setClock(-shift)
	case 1:
		h.happened["clock jumps"]++
		w.jumps, w.farthest = true, maxAhead
	default:
		w.setClock(shift)
	}
}
