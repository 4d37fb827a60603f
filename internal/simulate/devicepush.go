package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// neverSent is how long an edit that was sent is sent again. A receipt lives for ten days more.
const neverSent = 80 * 24 * time.Hour

// push sends the first edits of the outbox as one batch, or the batch that is not answered, unchanged. It is nil if
// there is nothing to send, or an answer is awaited.
func (h *history) push(d *device) *worker {
	st := d.store
	if d.pushing != nil || h.isPast(st.user) {
		return nil
	}
	for i := 0; i < len(st.outbox); i++ {
		if e := st.outbox[i]; e.sent > 0 && h.now.Sub(e.first) > neverSent {
			h.happened["edit too old to be sent again"]++
			st.refuse(e, shownOnly, "not answered for 80 days")
			i = -1
		}
	}
	batch := slices.DeleteFunc(slices.Clone(st.frozen), func(e *edit) bool { return e.fate != waiting })
	if len(batch) == 0 {
		batch = slices.Clone(st.outbox[:min(len(st.outbox), 1+h.luck.IntN(4))])
	}
	if len(batch) == 0 {
		st.frozen = nil
		return nil
	}
	st.frozen = batch
	for _, e := range batch {
		if e.sent++; e.sent == 1 {
			e.first = h.now
		} else if h.now.Sub(e.first) > 2*24*time.Hour {
			h.happened["batch sent again after days"]++
		}
	}
	asked := h.newErrand(d)
	payload, keys := batchOf(st.user, batch), keysOf(batch)
	w := &worker{kind: commanding, name: d.name + " pushes", batch: batch}
	var answer []byte
	var results []batchResult
	var err, errRead error
	w.lost = func() {
		if d.pushing == w {
			d.pushing = nil
		}
	}
	w.finished = func() {
		w.lost()
		h.note("  answer %s, %v", answer, err)
		if h.isTurnedAway(st.user, err) {
			return // the device keeps its outbox
		}
		if err != nil {
			h.violate("I12", st.user, d.name, "a batch is answered %v", err)
			return
		}
		if !h.checkResults(batch, keys, results, answer) {
			return
		}
		isAwaited := slices.Equal(st.frozen, batch) && slices.Equal(keysOf(batch), keys)
		if asked.arrives(h) && isAwaited && errRead == nil {
			h.tookAnswer(st, batch, results)
		}
	}
	d.pushing = w
	h.note("%s: %s", w.name, payload)
	return h.start(w, func(ctx context.Context) {
		answer, err = h.surface.Run(ctx, payload)
		if w.dead {
			panic(crashed{}) // the surface answers a panic
		}
		results = parseResults(answer)
		for errRead == nil && asked.process == d.process && !asked.fits() && len(results) == len(batch) {
			h.happened["answer to a batch behind the feed"]++
			asked.brought = st.brought
			errRead = h.readAnew(ctx, batch, results)
		}
	}, st.user)
}

// readAnew reads the entities that results are about by their own GETs. An edit must not leave the outbox without them:
// the copy would show what was before it, and what its user does then would go out behind it, over what that user has
// not seen.
func (h *history) readAnew(ctx context.Context, batch []*edit, results []batchResult) error {
	for i, e := range batch {
		r := &results[i]
		if r.Status != 412 && (r.Status >= 300 || r.Status == 204) {
			continue
		}
		c := query.Change{Ref: e.ref}
		if err := h.readOmitted(ctx, e.by.user, &c); err != nil {
			return err
		}
		r.now = copyOf(c)
		if r.Problem.CurrentVersion = &c.Version; c.Item == nil && r.Status == 412 {
			r.Status = 410
		}
	}
	return nil
}

// batchOf returns the payload of a batch.
func batchOf(user string, batch []*edit) []byte {
	var commands []any
	for i, e := range batch {
		frame := map[string]any{"id": e.key, "type": e.verb, "data": e.data}
		switch {
		case e.kind == creating:
		case e.after != nil && slices.Contains(batch[:i], e.after):
			frame["expectedAfter"] = e.after.key
		case e.expected != nil:
			frame["expectedVersion"] = *e.expected
			if e.ofSeries {
				frame["ofSeries"] = true
			}
		default:
			frame["expectedVersion"] = 0 // what it follows is no more: nothing may hold
		}
		commands = append(commands, frame)
	}
	payload, err := json.Marshal(map[string]any{"userId": user, "commands": commands})
	if err != nil {
		panic("simulate: " + err.Error()) // texts and numbers
	}
	return payload
}

// keysOf returns the keys of a batch as it is sent. A merge gives an edit another one.
func keysOf(batch []*edit) []string {
	keys := make([]string, len(batch))
	for i, e := range batch {
		keys[i] = e.key
	}
	return keys
}

// batchResult is one result in the answer to a batch.
type batchResult struct {
	ID      string
	Status  int
	Version int64
	Omitted bool
	Entity  map[string]any
	Problem struct {
		Type, Detail, Reason string
		CurrentVersion       *int64
		Current              map[string]any
	}
	now copied // the entity as the answer, or its own GET behind it, shows it; of version 0 for none
}

// parseResults reads an answer; it returns nil for what is none.
func parseResults(answer []byte) []batchResult {
	var all struct{ Results []batchResult }
	if json.Unmarshal(answer, &all) != nil {
		return nil
	}
	for i := range all.Results {
		r := &all.Results[i]
		shown := r.Entity
		if r.Status == 412 {
			shown = r.Problem.Current
		}
		version, _ := shown[entity.AttrVersion].(float64)
		r.now = copied{version: int64(version), shown: shown}
		if ttl, ends := shown[entity.AttrTTL].(float64); ends {
			r.now.expires = time.Unix(int64(ttl), 0).UTC()
		}
	}
	return all.Results
}

// checkResults checks the form of an answer.
func (h *history) checkResults(batch []*edit, keys []string, results []batchResult, answer []byte) bool {
	if len(results) != len(batch) {
		h.violate("I12", batch[0].by.user, "batch", "of %d is answered %.300s", len(batch), answer)
		return false
	}
	for i, r := range results {
		if r.ID != keys[i] {
			h.violate("I12", batch[i].by.user, r.ID, "is the result of %s", keys[i])
		}
		if r.Status == 500 || r.Status == 400 || r.Status == 428 ||
			r.Status == 422 && batch[i].verb != "SnoozeReminder" { // which may end in the past by now
			h.violate("I12", batch[i].by.user, batch[i].ref.ID, "%s is answered %d: %s", batch[i].verb, r.Status,
				r.Problem.Detail)
		}
		if r.Status >= 400 {
			h.happened[fmt.Sprintf("edit answered %d", r.Status)]++
		}
	}
	return true
}

// tookAnswer takes in the answer to a batch.
func (h *history) tookAnswer(st *deviceStore, batch []*edit, results []batchResult) {
	st.frozen = nil
	byEdit := map[*edit]*batchResult{}
	for i, e := range batch {
		byEdit[e] = &results[i]
	}
	for _, e := range batch {
		r := byEdit[e]
		if e.fate != waiting || r == nil {
			continue
		}
		switch {
		case r.Status < 300:
			h.succeeded(st, e, r, byEdit)
		case r.Status == 412:
			h.merge(st, e, r, byEdit)
		case r.Status == 424 && e.after == nil:
			h.violate("I12", st.user, e.ref.ID, "%s follows nothing and is answered 424", e.verb)
		case r.Status == 424, r.Status == 503, r.Status == 429, r.Status == 401, r.Status == 408:
		case r.Status == 410 && e.kind == deleting:
			st.close(e, carriedOut, "")
		default:
			h.happened["edit refused"]++
			st.refuse(e, refused, fmt.Sprintf("%d %s %s", r.Status, r.Problem.Type, r.Problem.Reason))
		}
	}
	// What names a command that is no more expects nothing that could hold.
	for _, e := range st.outbox {
		if e.after != nil && e.after.fate != waiting {
			if e.after = nil; e.expected == nil {
				none := int64(0)
				e.expected = &none
			}
		}
	}
}

// succeeded takes in that an edit was carried out.
func (h *history) succeeded(st *deviceStore, e *edit, r *batchResult, byEdit map[*edit]*batchResult) {
	if r.Status == 204 {
		st.forget(e.ref, r.Version)
	}
	st.keepAnswer(e.ref, r.now)
	if r.Version == 0 {
		h.violate("I12", st.user, e.ref.ID, "%s is answered %d without the version that it made", e.verb, r.Status)
	}
	st.close(e, carriedOut, "")
	for _, next := range st.outbox {
		if next.after != e {
			continue
		}
		if other := byEdit[next]; other == nil || other.Status == 503 {
			next.after, next.expected = nil, &r.Version
		}
	}
}

// merge takes in a change that another device made. All edits of it that wait are merged at once against the entity
// as it is now, each field over the base of the first edit that names it. What conflicts is refused, a deletion and an
// edit of a series or an occurrence always; what is left goes out as a new chain under new keys.
func (h *history) merge(st *deviceStore, e *edit, r *batchResult, byEdit map[*edit]*batchResult) {
	if r.now.version == 0 || r.Problem.CurrentVersion == nil {
		h.violate("I12", st.user, e.ref.ID, "%s is answered 412 without the entity as it is now", e.verb)
		return
	}
	h.happened["device merges"]++
	version := *r.Problem.CurrentVersion
	var same []*edit
	for i := slices.Index(st.outbox, e); i >= 0 && i < len(st.outbox); i++ {
		if st.outbox[i].ref == e.ref {
			same = append(same, st.outbox[i])
		}
	}
	fits := map[string]bool{}
	for _, one := range same {
		if one.kind != patching || bodies[one.ref.Type] == "" || one.ref.Type == entity.TypeMaster {
			if one.kind != acting || one == e {
				h.happened["edit refused"]++
				st.close(one, refused, "412 "+r.Problem.Type)
			}
			continue
		}
		theirs := r.now.text(one.field)
		if _, isDecided := fits[one.field]; !isDecided {
			own := slices.ContainsFunc(same, func(other *edit) bool {
				return other.kind == patching && other.field == one.field && other.value == theirs
			})
			fits[one.field] = own || theirs == one.base || theirs == one.value
			if own {
				one.sees[theirs] = true
			}
		}
		if !fits[one.field] {
			h.happened["edit refused"]++
			st.close(one, refused, "412 "+r.Problem.Type)
		}
	}
	var before *edit
	for _, one := range same {
		if one != e {
			delete(byEdit, one)
		}
		if one.fate != waiting {
			continue
		}
		one.key, one.after, one.expected, one.ofSeries, one.sent = h.newKey(one), before, nil, false, 0
		if before == nil {
			one.expected = &version
		}
		before = one
	}
	st.keepAnswer(e.ref, r.now)
}

// keepAnswer stores the entity of an answer, unless the copy has it as it is, or later. It goes into a snapshot under
// way, too. A snapshot whose first page is to come begins again: it may be of before this answer, or behind it.
func (st *deviceStore) keepAnswer(ref entity.Ref, now copied) {
	if st.fresh != nil && st.cursor == "" {
		st.fresh = nil
		st.brought++
	}
	isPlain := !now.item.Has(product.AttrModifiedFields) && now.shown[product.AttrModifiedFields] == nil
	if ref.Type == entity.TypeInstance && isPlain {
		st.forget(ref, now.version) // it follows its series again
		return
	}
	for _, things := range []map[entity.Ref]copied{st.copied, st.fresh} {
		if things != nil && st.follows(ref.Type) && max(things[ref].version, st.gone[ref]) < now.version {
			things[ref] = now
		}
	}
}

// forget takes in an answer that something is gone. Of the same version the feed knows better: it may owe an exception
// that a repeated command does not show.
func (st *deviceStore) forget(ref entity.Ref, version int64) {
	st.gone[ref] = max(st.gone[ref], version)
	if st.copied[ref].version < version {
		delete(st.copied, ref)
	}
}

// close ends an edit alone.
func (st *deviceStore) close(e *edit, f fate, reason string) {
	e.fate, e.reason = f, reason
	st.outbox = slices.DeleteFunc(st.outbox, func(other *edit) bool { return other == e })
}

// refuse ends an edit, and all others of its entity with it: they were made on top of it.
func (st *deviceStore) refuse(e *edit, f fate, reason string) {
	st.close(e, f, reason)
	for _, other := range slices.Clone(st.outbox) {
		if other.ref == e.ref {
			st.close(other, f, reason)
		}
	}
}
