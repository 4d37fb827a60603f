package simulate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"nexus/pkg/changes/token"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// errand is one request of a device to the feed.
type errand struct {
	d       *device
	store   *deviceStore
	process int
	// token and brought are those of the store when the request began.
	token   string
	brought int
}

func (h *history) newErrand(d *device) errand {
	return errand{d, d.store, d.process, d.store.token, d.store.brought}
}

// arrives reports whether the answer reaches the process that asked.
func (e errand) arrives(h *history) bool {
	if e.process != e.d.process {
		return false
	}
	if h.luck.misfortune(h) && h.luck.one(12) {
		h.happened["answer to a device lost"]++
		return false
	}
	return true
}

// fits reports whether the feed has brought nothing since the request began. Otherwise the answer must not be stored:
// it may bring back what has been removed since.
func (e errand) fits() bool { return e.store.brought == e.brought }

// pull begins one request to the feed: the first page of a snapshot, the next one, or what has changed since the token.
// It is nil if the device waits for an answer, or has to wait.
func (h *history) pull(d *device) *worker {
	if d.pulling != nil && (h.settling || !h.luck.one(4)) || h.now.Before(d.busyUntil) || h.isGone(d.store.user) {
		return nil
	}
	if d.store.token == "" || d.store.isReset {
		return h.pullSnapshot(d)
	}
	return h.pullSince(d)
}

// serve begins a request to the query function.
func (h *history) serve(d *device, user, what string, ask func(ctx context.Context), answered func()) *worker {
	w := &worker{kind: serving, name: d.name + " " + what, readOnly: true}
	end := func() {
		if d.pulling == w {
			d.pulling = nil
		}
	}
	w.lost = end
	w.finished = func() {
		end()
		answered()
	}
	d.pulling = w
	h.note("%s", w.name)
	return h.start(w, ask, user)
}

// pullSnapshot asks for a page of a snapshot.
func (h *history) pullSnapshot(d *device) *worker {
	st := d.store
	if st.fresh == nil {
		st.fresh, st.cursor = map[entity.Ref]copied{}, ""
		st.brought++
	}
	e := h.newErrand(d)
	cursor, room := st.cursor, h.room()
	var page []query.Change
	var end query.SnapshotPage
	var err error
	ask := func(ctx context.Context) {
		page = nil
		end, err = h.fleet.feed.Snapshot(ctx, st.user, query.SnapshotQuery{Types: st.types, Cursor: cursor},
			func(c query.Change) bool {
				if len(page) >= room && c.Item != nil && c.Type != entity.TypeUserMeta {
					return false
				}
				page = append(page, c)
				return true
			})
	}
	return h.serve(d, st.user, "asks for a snapshot", ask, func() {
		h.note("  %d things, %v", len(page), err)
		if cursor == "" && asReset(err) != nil {
			h.violate("I12", st.user, d.name, "is answered %v to the beginning of a snapshot", err)
		}
		if !e.arrives(h) || !h.isServed(d, err) || !e.fits() {
			return
		}
		st.brought++
		if cursor == "" {
			st.begun = h.now
		}
		for _, c := range page {
			h.checkServed(st, c)
			if c.Gone || c.Omitted {
				h.violate("I12", st.user, c.ID, "is in a snapshot and gone or omitted")
			}
			if st.fresh[c.Ref].version <= c.Version { // an answer may have come first
				st.fresh[c.Ref] = copyOf(c)
			}
		}
		if st.cursor = end.Cursor; st.cursor != "" {
			h.happened["snapshot in pages"]++
			return
		}
		h.happened["snapshot"]++
		st.exchange(end.Next, h.now)
	})
}

// room is the number of items after which an answer is full.
func (h *history) room() int {
	if h.luck.one(3) {
		return 1 + h.luck.IntN(3)
	}
	return 1 << 30
}

// exchange puts the finished snapshot in the place of the copy. Of what is known to be gone at a higher version nothing
// returns.
func (st *deviceStore) exchange(next string, now time.Time) {
	for ref, c := range st.fresh {
		if c.version < st.gone[ref] {
			delete(st.fresh, ref)
		}
	}
	st.copied, st.fresh, st.cursor, st.since = st.fresh, nil, "", st.begun
	st.token, st.isReset, st.heard = next, false, now
}

// pullSince asks for what has changed.
func (h *history) pullSince(d *device) *worker {
	e := h.newErrand(d)
	st := e.store
	before := h.goodness(st.user, st.token)
	limit, room := pick(h.luck, 0, 0, 1, 2, 5), h.room()
	if h.settling {
		room = 1 << 30
	}
	var got []query.Change
	var page query.SincePage
	var err error
	ask := func(ctx context.Context) {
		got = nil
		page, err = h.fleet.feed.Since(ctx, st.user, query.SinceQuery{Token: e.token, Types: st.types, Limit: limit},
			func(c query.Change) bool {
				if len(got) >= room && c.Item != nil {
					return false
				}
				got = append(got, c)
				return true
			})
		if err == nil {
			got = append(got, st.owedOf(got)...)
		}
		for i := range got {
			if err == nil && got[i].Omitted {
				h.happened["item omitted"]++
				err = h.readOmitted(ctx, st.user, &got[i])
			}
		}
	}
	return h.serve(d, st.user, "asks what has changed", ask, func() {
		h.note("  %d changes, %v", len(got), err)
		h.checkReset(st, e.token, before, err)
		if !e.arrives(h) || !h.isServed(d, err) || !e.fits() {
			return
		}
		if h.now.Sub(st.heard) > 14*24*time.Hour {
			h.happened["token kept for weeks"]++
		}
		if page.Next != e.token || len(got) > 0 {
			h.checkToken(st, e.token, page.Next)
		}
		for _, c := range got {
			h.checkServed(st, c)
			st.take(c)
		}
		if page.Next != e.token || len(got) > 0 {
			st.brought++
		}
		st.token, st.heard = page.Next, h.now
	})
}

// owedOf returns the exceptions that are owed of the series in a page: their own GET may show them now.
func (st *deviceStore) owedOf(page []query.Change) (out []query.Change) {
	for _, c := range page {
		for _, ref := range slices.SortedFunc(maps.Keys(st.copied), compareRefs) {
			master, _, _ := entity.ParseInstanceID(ref.ID)
			if has := st.copied[ref]; has.isOwed && c.Type == entity.TypeMaster && master == c.ID {
				out = append(out, query.Change{Ref: ref, Version: has.version, ExpiresAt: has.expires, Omitted: true})
			}
		}
	}
	return out
}

// readOmitted reads an entity by its own GET, because the answer had no room for it. An exception that this GET does
// not show may stand all the same: its series has lost the date, or is about to come. It stays owed.
func (h *history) readOmitted(ctx context.Context, user string, c *query.Change) error {
	t := h.registry.ByName(c.Type)
	var it item.Item
	var err error
	switch c.Type {
	case entity.TypeUserMeta:
		it, err = h.fleet.feed.Me(ctx, user)
	case entity.TypeInstance:
		it, err = h.fleet.feed.Get(ctx, user, t, c.ID)
		if err == nil && !it.Has(product.AttrModifiedFields) {
			c.Gone = true
		}
	default:
		it, err = h.fleet.feed.Get(ctx, user, t, c.ID)
	}
	if isNotFound(err) {
		c.Omitted = c.Type == entity.TypeInstance
		if c.Gone = !c.Omitted; c.Omitted {
			h.happened["exception owed"]++
		}
		return nil
	}
	if err == nil {
		c.Omitted, c.Item, c.Version = false, it, it.Int(entity.AttrVersion)
		if it.Has(entity.AttrTTL) {
			c.ExpiresAt = time.Unix(it.Int(entity.AttrTTL), 0).UTC()
		}
	}
	return err
}

// isServed reports whether the feed answered; the device acts on a refusal.
func (h *history) isServed(d *device, err error) bool {
	st := d.store
	switch reset, busy := asReset(err), asBusy(err); {
	case err == nil:
		return true
	case reset != nil:
		h.happened["device reset "+string(reset.Reason)]++
		st.isReset, st.fresh = true, nil // a snapshot under way begins again
	case busy != nil:
		h.happened["device has to wait"]++
		d.busyUntil = h.now.Add(busy.RetryAfter)
	case !isPassing(err):
		h.violate("I12", st.user, d.name, "is answered %v", err)
	}
	return false
}

// copyOf returns what a device keeps of a thing that was served.
func copyOf(c query.Change) copied {
	return copied{version: c.Version, revID: c.RevID, item: c.Item, isOwed: c.Omitted, expires: c.ExpiresAt}
}

// take takes in one change of the feed. What is lower than what the copy has or knows gone is ignored; at the same
// version the later answer counts.
func (st *deviceStore) take(c query.Change) {
	has, isThere := st.copied[c.Ref]
	switch {
	case c.RevID != "" && c.Gone:
		if has.revID <= c.RevID {
			delete(st.copied, c.Ref)
		}
	case c.RevID != "":
		if !isThere || has.revID <= c.RevID {
			st.copied[c.Ref] = copyOf(c)
		}
	case c.Gone:
		if isThere && has.version > c.Version {
			return
		}
		delete(st.copied, c.Ref)
		st.gone[c.Ref] = max(st.gone[c.Ref], c.Version)
	case isThere && has.version > c.Version, c.Version < st.gone[c.Ref]:
	default:
		st.copied[c.Ref] = copyOf(c)
	}
}

// maxPulls bounds the requests until a device is up to date.
const maxPulls = 400

// pullAll brings a device up to date, as far as faults allow; if all is settled, for sure.
func (h *history) pullAll(d *device) {
	for n := 0; ; n++ {
		if n == maxPulls {
			h.violate("I12", d.store.user, d.name, "is not up to date after %d requests", n)
			return
		}
		st := d.store
		if h.settling && h.now.Before(d.busyUntil) {
			h.restartFeed() // another process, which has counted nothing
			d.busyUntil = time.Time{}
		}
		before := st.brought
		w := h.pull(d)
		if w == nil {
			return
		}
		h.run(w, -1)
		isSame := st.brought == before && st.token != "" && !st.isReset
		if h.violation != nil || isSame || !h.settling && n > 3 {
			return
		}
	}
}

// borrow uses a token or a cursor of one user for another one: nothing may be served for it.
func (h *history) borrow(d *device) {
	var others []*device
	for _, other := range h.fleet.devices {
		if other.store.user != d.store.user && other.store.token != "" {
			others = append(others, other)
		}
	}
	if len(others) == 0 || d.pulling != nil {
		return
	}
	other := others[h.luck.IntN(len(others))].store
	user := d.store.user
	served := 0
	var errSince, errCursor error
	see := func(query.Change) bool {
		served++
		return true
	}
	w := h.serve(d, user, "uses a token of "+other.user, func(ctx context.Context) {
		_, errSince = h.fleet.feed.Since(ctx, user, query.SinceQuery{Token: other.token, Types: other.types}, see)
		if other.cursor != "" {
			_, errCursor = h.fleet.feed.Snapshot(ctx, user, query.SnapshotQuery{Cursor: other.cursor}, see)
		}
	}, func() {
		h.happened["token of another user"]++
		reset := asReset(errSince)
		isRefused := reset != nil && reset.Reason == query.ResetUnknown || isPassing(errSince)
		if served > 0 || !isRefused || other.cursor != "" && errCursor == nil {
			h.violate("I12", user, other.token, "of %s is answered %v and %v, with %d things", other.user, errSince, errCursor,
				served)
		}
	})
	h.run(w, -1)
}

// goodness says why a token may be refused; nothing if it must not be.
func (h *history) goodness(user, text string) []query.ResetReason {
	t, err := token.Parse(text)
	if err != nil {
		h.violate("I12", user, text, "is a token that cannot be read: %v", err)
		return nil
	}
	var out []query.ResetReason
	if t.Form != token.FormIn(h.fleet.form) {
		out = append(out, query.ResetForm)
	}
	return append(out, h.fleet.logs[user].refusals(t, h.now)...)
}

// checkReset checks that a token is refused for a reason that it has, and that one of an earlier form is refused.
func (h *history) checkReset(st *deviceStore, text string, before []query.ResetReason, err error) {
	reset := asReset(err)
	if err == nil && slices.Contains(before, query.ResetForm) {
		h.violate("I12", st.user, text, "is taken, though an operator has raised the form since")
	}
	if reset == nil {
		return
	}
	may := append(before, h.goodness(st.user, text)...)
	if !slices.Contains(may, reset.Reason) {
		h.violate("I12", st.user, text, "is refused as %s, and may be as %v", reset.Reason, may)
	}
}

// checkToken checks that a token names a row that was there.
func (h *history) checkToken(st *deviceStore, before, next string) {
	from, err := token.Parse(before)
	to, errNext := token.Parse(next)
	if err != nil || errNext != nil {
		h.violate("I12", st.user, next, "is a token that cannot be read: %v %v", err, errNext)
		return
	}
	if to.N < from.N || to.N > h.fleet.logs[st.user].newest {
		h.violate("I12", st.user, next, "goes from row %d to %d, of %d", from.N, to.N, h.fleet.logs[st.user].newest)
	}
}

// checkServed checks a thing that is served: it is the user's own, of a type that the device follows.
func (h *history) checkServed(st *deviceStore, c query.Change) {
	switch {
	case !st.follows(c.Type):
		h.violate("I12", st.user, c.ID, "of type %s is served to a device that follows %v", c.Type, st.types)
	case c.Item != nil && c.Type != entity.TypeUserMeta && userOf(c.Item.Key()) != st.user:
		h.violate("I12", st.user, c.ID, "of %s is served", userOf(c.Item.Key()))
	}
}

func (st *deviceStore) follows(name string) bool {
	return len(st.types) == 0 || name == entity.TypeUserMeta || slices.Contains(st.types, name)
}

func isNotFound(err error) bool { return errors.Is(err, query.ErrNotFound) }

func asReset(err error) *query.ResetError {
	var reset *query.ResetError
	errors.As(err, &reset)
	return reset
}

func asBusy(err error) *query.BusyError {
	var busy *query.BusyError
	errors.As(err, &busy)
	return busy
}
