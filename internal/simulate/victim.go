package simulate

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/archive"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/stats"
)

// victim returns a worker that has not begun yet, its item, and its reader; nil for none.
func (h *history) victim() (*worker, contendedItem, *reader) {
	n := h.luck.IntN(8)
	if n == 0 || n == 6 {
		if w, b := h.callDue(); w != nil {
			return w, b, nil
		}
	}
	if n == 1 {
		if w, b, r := h.deliverExpired(); w != nil {
			return w, b, r
		}
	}
	b, ok := h.aContendedItem()
	if !ok {
		return nil, b, nil
	}
	switch n {
	case 2:
		h.damageSome(b.user)
		return h.inspect(b.user), b, nil
	case 3:
		h.damageSome(b.user)
		return h.repair(b.user), b, nil
	case 7:
		if w, r := h.deliverForgotten(b); w != nil {
			return w, b, r
		}
	}
	r := h.readers[h.luck.IntN(len(h.readers))]
	if batch := h.recordsOf(r, b); len(batch) > 0 {
		return h.handleBeside(r, batch), b, r
	}
	return nil, b, nil
}

// damageSome does none, one or several damages to a user's derived rows.
func (h *history) damageSome(user string) {
	if !h.luck.damaging {
		return
	}
	if h.luck.one(2) {
		h.damageSum(h.oracle.users[user])
	}
	for range h.luck.IntN(3) {
		h.damage(user)
	}
}

// callDue returns a due call of the scheduler, and its item.
func (h *history) callDue() (*worker, contendedItem) {
	if next, ok := h.schedules.Next(); ok && next.Sub(h.now) < 2*lateLimit {
		h.now = maxTime(h.now, next)
		h.handOverAged()
	}
	due := h.schedules.due()
	if len(due) == 0 {
		return nil, contendedItem{}
	}
	one := due[h.luck.IntN(len(due))]
	b, ok := h.itemOfCall(one.Payload)
	if !ok {
		return nil, contendedItem{}
	}
	return h.schedules.fire(one.Name), b
}

// itemOfCall returns the item of a scheduler's call; for an exception, its series.
func (h *history) itemOfCall(payload []byte) (contendedItem, bool) {
	var call struct{ UserID, ItemID string }
	if err := json.Unmarshal(payload, &call); err != nil {
		return contendedItem{}, false
	}
	if masterID, _, err := entity.ParseInstanceID(call.ItemID); err == nil {
		call.ItemID = masterID
	}
	typ := h.registry.ByID(call.ItemID)
	if typ == nil {
		return contendedItem{}, false
	}
	return contendedItem{call.UserID, entity.Ref{Type: typ.Name, ID: call.ItemID}}, true
}

// deliverExpired returns the delivery of a row that TTL removed recently, and its item.
func (h *history) deliverExpired() (*worker, contendedItem, *reader) {
	if h.luck.one(2) {
		h.letTimersEnd(h.oracle.users[h.users[h.luck.IntN(len(h.users))]])
	}
	var expired []*record
	for _, rec := range h.stream.log[max(0, len(h.stream.log)-lately):] {
		if rec.item != (contendedItem{}) && rec.Expired {
			expired = append(expired, rec)
		}
	}
	r := h.readerOf(archive.Name)
	expired = slices.DeleteFunc(expired, func(rec *record) bool { return !r.filter.Match(rec.arrives) })
	if len(expired) == 0 {
		return nil, contendedItem{}, nil
	}
	rec := expired[h.luck.IntN(len(expired))]
	return h.handleBeside(r, []*record{rec}), rec.item, r
}

// letTimersEnd waits until one of the user's completed tasks is to be archived, and TTL has removed its timer.
func (h *history) letTimersEnd(s *userState) {
	tasks := slices.DeleteFunc(slices.Clone(s.ids[product.TypeTask]), func(id string) bool { return s.items[id] == nil })
	if len(tasks) == 0 {
		return
	}
	id := tasks[h.luck.IntN(len(tasks))]
	if s.items[id].Str(entity.AttrStatus) != product.StatusCompleted {
		h.change(contendedItem{s.user, entity.Ref{Type: product.TypeTask, ID: id}}, `{"status":"COMPLETED"}`)
	}
	h.catchUp()
	h.endAll()
	at, ok := s.items[id].Time(product.AttrArchiveAt)
	if !ok || !at.After(h.now) {
		return
	}
	h.now = at.Add(time.Second)
	h.note("time passes until %s is to be archived", id)
	h.handOverAged()
	h.store.Sweep(h.now, 0)
	h.absorb(nil)
}

// deliverForgotten lets a user change a task or a note and reverse it, and delivers only the last record. Then the
// earlier records follow, in time or more than an hour late.
func (h *history) deliverForgotten(b contendedItem) (*worker, *reader) {
	r := h.readerOf(pick(h.luck, stats.Name, ownName))
	s := h.oracle.users[b.user]
	if it := s.items[b.ref.ID]; it == nil {
		return nil, nil
	}
	from := len(h.stream.log)
	switch b.ref.Type {
	case product.TypeTask:
		h.change(b, `{"status":"COMPLETED"}`)
		h.change(b, `{"status":"BACKLOG","title":"reopened"}`)
		h.change(b, author{h, s}.moveDue(s.items[b.ref.ID]))
	case product.TypeNote:
		h.change(b, `{"title":"zz"}`)
		h.change(b, fmt.Sprintf(`{"title":"b%d"}`, h.step))
		h.change(b, fmt.Sprintf(`{"title":"bb%d"}`, h.step))
	default:
		return nil, nil
	}
	h.deliverLast(r, b)
	var batch []*record
	for _, rec := range h.stream.log[min(from, len(h.stream.log)):] {
		if rec.item == b && r.filter.Match(rec.arrives) {
			batch = append(batch, rec)
		}
	}
	if len(batch) < 2 {
		return nil, nil
	}
	if h.luck.one(2) {
		h.endAll()
		h.now = h.now.Add(behind)
		h.handOverAged()
	}
	return h.handleBeside(r, batch[:len(batch)-1]), r
}
