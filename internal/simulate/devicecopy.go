package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// checkCopy checks that a device that is up to date holds exactly what the table has.
func (h *history) checkCopy(d *device) {
	st := d.store
	s := h.oracle.users[st.user]
	want := h.served(s, st)
	for ref, c := range st.copied {
		is, isThere := want[ref]
		isDropped := !c.expires.IsZero() && !h.now.Before(c.expires) // by the device itself
		switch {
		case isDropped && isThere:
			h.violate("I12", st.user, ref.ID, "of version %d has ended on %s, and is there", is.version, d.name)
		case isDropped:
		case !isThere:
			h.violate("I12", st.user, ref.ID, "is on %s at version %d, and there is none", d.name, c.version)
		case c.revID != is.revID, c.version != is.version, !c.expires.Equal(is.expires):
			h.violate("I12", st.user, ref.ID, "is on %s as %d %s %s, and is %d %s %s", d.name, c.version, c.revID, c.expires,
				is.version, is.revID, is.expires)
		case c.isOwed && h.isShown(s, ref):
			h.violate("I12", st.user, ref.ID, "is owed on %s", d.name)
		case c.isOwed:
		case c.shown != nil:
			h.violate("I12", st.user, ref.ID, "is on %s as the answer to a write, never as the feed has it", d.name)
		default:
			h.compareItems(d, ref, c.item, is.item)
		}
	}
	for ref, c := range want {
		if _, isThere := st.copied[ref]; !isThere && !mayLack(s, st, ref) {
			h.violate("I12", st.user, ref.ID, "of version %d%s is not on %s", c.version, c.revID, d.name)
		}
	}
	h.checkDigest(d, want)
}

// isShown reports whether the GET of an exception shows it: its series is there and has its date.
func (h *history) isShown(s *userState, ref entity.Ref) bool {
	masterID, date, err := entity.ParseInstanceID(ref.ID)
	master := s.items[masterID]
	if err != nil || master == nil || entity.Expired(master, h.now) {
		return false
	}
	rule, err := product.CompileMaster(master)
	day, errDay := time.Parse("20060102", date)
	if err != nil || errDay != nil {
		return false
	}
	_, ok := rule.On(day)
	return ok
}

// mayLack reports whether a device need not have a thing: the head of a plan that was neither in the days of its
// snapshot nor committed since.
func mayLack(s *userState, st *deviceStore, ref entity.Ref) bool {
	day, err := time.Parse(time.DateOnly, ref.ID)
	if ref.Type != planHead || err != nil {
		return false
	}
	ahead := day.Sub(st.since)
	isInSnapshot := ahead > -29*24*time.Hour && ahead < 89*24*time.Hour
	return !isInSnapshot && !s.heads[ref].at.After(st.since)
}

// moving are attributes that move without a version.
var moving = []string{
	entity.AttrTTL, product.AttrHasExceptions, product.AttrExceptionsVersion,
}

// compareItems checks an entity of a copy against its row, attribute by attribute.
func (h *history) compareItems(d *device, ref entity.Ref, is, row item.Item) {
	if ref.Type == entity.TypeUserMeta {
		if row != nil && is.Str(product.AttrDefaultTzid) != row.Str(product.AttrDefaultTzid) {
			h.violate("I12", d.store.user, ref.ID, "has the zone %q on %s, and %q", is.Str(product.AttrDefaultTzid), d.name,
				row.Str(product.AttrDefaultTzid))
		}
		return // the rest of a row at version 0 has no writer
	}
	a, b := h.byTheClock(ref, is), h.byTheClock(ref, row)
	if ref.Type == entity.TypeInstance { // an occurrence's own GET fills in the rest, which its series has
		a, b = ownParts(a), ownParts(b)
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if !slices.Contains(moving, name) && !item.Equal(a[name], b[name]) {
			h.violate("I12", d.store.user, ref.ID, "%s is %v on %s, and %v", name, a[name], d.name, b[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if _, isThere := b[name]; !isThere && !slices.Contains(moving, name) {
			h.violate("I12", d.store.user, ref.ID, "%s is %v on %s, and is not there", name, a[name], d.name)
		}
	}
}

// ownParts returns what an exception names as its own, with all its times if one is its own.
func ownParts(row item.Item) item.Item {
	own := item.Item{product.AttrModifiedFields: row[product.AttrModifiedFields]}
	names := row.Strings(product.AttrModifiedFields)
	if slices.ContainsFunc(product.SpanFields(), func(name string) bool { return slices.Contains(names, name) }) {
		names = append(names, product.SpanFields()...)
	}
	for _, name := range names {
		if row.Has(name) {
			own[name] = row[name]
		}
	}
	return own
}

// byTheClock shows a completed task past its archiveAt as archived, as clients do by their own clock.
// The day of a completion that a release before took back is not shown (docs/insights.md).
func (h *history) byTheClock(ref entity.Ref, it item.Item) item.Item {
	it = it.Clone()
	forgetDay(it)
	at, ok := it.Time(product.AttrArchiveAt)
	if ref.Type != product.TypeTask || !ok || it.Str(entity.AttrStatus) != product.StatusCompleted || h.now.Before(at) {
		return it
	}
	shown := it.Clone()
	shown[entity.AttrStatus] = item.String(product.StatusArchived)
	shown[product.AttrArchivedAt] = it[product.AttrArchiveAt]
	delete(shown, product.AttrArchiveAt)
	return shown
}

// checkDigest compares the feed's check with a digest of the table's rows.
func (h *history) checkDigest(d *device, want map[entity.Ref]copied) {
	h.restartFeed() // which bounds checks to one a minute
	count, digest := digestOf(want)
	w := &worker{kind: serving, name: d.name + " asks for a check", readOnly: true}
	h.run(h.start(w, func(ctx context.Context) {
		is, err := h.fleet.feed.Check(ctx, d.store.user, d.store.types)
		if err != nil || is.Count != count || fmt.Sprintf("%x", is.Digest) != digest {
			h.violate("I12", d.store.user, d.name, "the check is %d %x and should be %d %s: %v", is.Count, is.Digest, count,
				digest, err)
		}
	}, d.store.user), -1)
}

// served returns what a device of the user holds if it is up to date, by the rows of the table.
func (h *history) served(s *userState, st *deviceStore) map[entity.Ref]copied {
	out := map[entity.Ref]copied{}
	out[entity.Ref{Type: entity.TypeUserMeta, ID: s.user}] = copied{version: s.meta.Int(entity.AttrVersion), item: s.meta}
	for id, it := range s.items {
		ref := entity.Ref{Type: it.Str(entity.AttrType), ID: id}
		if !st.follows(ref.Type) || isOver(it, h.now) {
			continue
		}
		c := copied{version: it.Int(entity.AttrVersion), item: it}
		if it.Has(entity.AttrTTL) {
			c.expires = time.Unix(it.Int(entity.AttrTTL), 0).UTC()
		}
		out[ref] = c
	}
	for ref, head := range s.heads {
		if st.follows(ref.Type) {
			out[ref] = copied{revID: head.revID}
		}
	}
	return out
}

// isOver reports whether the table's row is of something that no reader sees: past its ttl, or an exception that was
// undone.
func isOver(it item.Item, now time.Time) bool {
	isUndone := it.Str(entity.AttrType) == entity.TypeInstance && !it.Has("modifiedFields")
	return isUndone || it.Has(entity.AttrTTL) && !now.Before(time.Unix(it.Int(entity.AttrTTL), 0))
}

// digestOf returns the number of things and their digest. The heads of plans are in neither.
func digestOf(things map[entity.Ref]copied) (count int, digest string) {
	var sum [16]byte
	for ref, c := range things {
		if ref.Type == planHead {
			continue
		}
		count++
		one := sha256.Sum256([]byte(progress{c.version, !c.expires.IsZero(), c.revID}.text(ref)))
		for i := range sum {
			sum[i] ^= one[i]
		}
	}
	return count, hex.EncodeToString(sum[:])
}
