package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/archive"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// announcedWithin is how long ago a change must be to be in the log for certain: the stream is faster.
	announcedWithin = 10 * time.Minute
	// maxAnnounced bounds the things that wait for one reading of the log.
	maxAnnounced = 1000
)

// thing is something that a change log names: an entity, or the head of a repository if typ is nil.
type thing struct {
	typ *entity.Type
	id  string
	at  repository.Address
}

// announcement says what the log must have of a thing.
type announcement struct {
	thing thing
	entry changelog.Entry
	since time.Time // of the change
}

// keys returns those of the rows that decide what the log must say of the thing: the thing's own first.
func (t thing) keys(user string) []item.Key {
	if t.typ == nil {
		return []item.Key{t.at.HeadKey()}
	}
	own := entity.ItemKey(user, entity.Ref{Type: t.typ.Name, ID: t.id})
	if !t.typ.HasCollection() {
		return []item.Key{own}
	}
	return []item.Key{own, entity.GoneKey(user, t.id), entity.ColdKey(user, t.id)}
}

// required returns what the log must say of the thing according to its rows; false if nothing, because nothing changed
// while a token lives, or too recently.
func (r *run) required(t thing, of ...item.Item) (announcement, bool) {
	a := announcement{thing: t}
	own, dated := of[0], false
	switch {
	case t.typ == nil:
		a.entry = changelog.Head(t.at, own.Str(repository.AttrHeadRevisionID))
		a.since, dated = own.Time(entity.AttrUpdatedAt)
		dated = dated && repository.CheckRevisionID(a.entry.RevisionID) == nil
		return a, dated && r.isDue(a.since)
	case own != nil:
		a.entry.Version, a.entry.Lapsing = own.Int(entity.AttrVersion), own.Has(entity.AttrTTL)
		a.since, dated = own.Time(entity.AttrUpdatedAt)
	case len(of) > 1:
		a.entry.Version, a.since, dated = archive.LeftAt(of[1], of[2])
	}
	a.entry.Ref = entity.Ref{Type: t.typ.Name, ID: t.id}
	return a, dated && a.entry.Version > 0 && r.isDue(a.since)
}

// isDue reports whether a change of then must be in the log.
func (r *run) isDue(then time.Time) bool {
	age := r.Now().Sub(then)
	return age > announcedWithin && age < changelog.Trusted
}

// expect records what the log must say of an item.
func (r *run) expect(ctx context.Context, g group) error {
	if r.Changes == nil {
		return nil
	}
	a, ok := r.required(thing{typ: g.typ, id: g.id}, g.item, first(r.other(g, familyGone)), first(r.other(g, familyCold)))
	if !ok {
		return nil
	}
	if r.expected = append(r.expected, a); len(r.expected) < maxAnnounced {
		return nil
	}
	return r.recheckAnnounced(ctx, g.user)
}

// changes finds items and settings that the user's change log does not name, and rows of the log that are damaged.
func (r *run) changes(ctx context.Context, user string) error {
	if r.Changes == nil {
		return nil
	}
	settings := thing{typ: r.Registry.ByName(entity.TypeUserMeta), id: user}
	row, err := r.find(ctx, entity.MetaKey(user))
	if err != nil {
		return err
	}
	if a, ok := r.required(settings, row); ok {
		r.expected = append(r.expected, a)
	}
	if err := r.recheckAnnounced(ctx, user); err != nil {
		return err
	}
	return r.logRows(ctx, user)
}

// heads finds heads of a user's repositories that the log does not name, and after a repair looks again.
func (r *run) heads(ctx context.Context, user string, of ...repository.Address) error {
	if r.Changes == nil {
		return nil
	}
	found := r.sum.Found
	for _, repairing := range []bool{r.o.Repair, false} {
		r.repairing, r.expected = repairing, nil
		if err := r.expectHeads(ctx, of); err != nil {
			return err
		}
		if err := r.recheckAnnounced(ctx, user); err != nil || !r.o.Repair || r.sum.Found == found {
			return err
		}
	}
	return nil
}

func (r *run) expectHeads(ctx context.Context, of []repository.Address) error {
	var keys []item.Key
	for _, at := range of {
		keys = append(keys, at.HeadKey())
	}
	rows, err := r.rows(ctx, keys)
	if err != nil {
		return err
	}
	for i, at := range of {
		if a, ok := r.required(thing{at: at}, rows[keys[i]]); ok {
			r.expected = append(r.expected, a)
		}
	}
	return nil
}

// recheckAnnounced compares what is expected with the log. It reads what seems to be missing a second time, the things
// before the log, so that a change under way shows no difference.
func (r *run) recheckAnnounced(ctx context.Context, user string) error {
	open, err := r.notInLog(ctx, user, r.expected)
	r.expected = nil
	if err != nil || len(open) == 0 {
		return err
	}
	if err := r.Wait(ctx, r.Grace); err != nil {
		return err
	}
	if open, err = r.requiredAgain(ctx, user, open); err != nil {
		return err
	}
	if open, err = r.notInLog(ctx, user, open); err != nil {
		return err
	}
	var entries []changelog.Entry
	for _, a := range open {
		entries = append(entries, a.entry)
		err := r.found(Difference{
			Kind: Change, User: user, Key: a.thing.keys(user)[0].String(), Is: "not in the change log",
			ShouldBe: "in it as " + a.entry.String(),
		})
		if err != nil {
			return err
		}
	}
	if !r.repairing || len(entries) == 0 {
		return nil
	}
	return r.forgive(ctx, user, "change log", r.Changes.Announce(ctx, user, entries))
}

// requiredAgain reads the rows of the things again.
func (r *run) requiredAgain(ctx context.Context, user string, of []announcement) (out []announcement, err error) {
	for some := range slices.Chunk(of, lookItems) {
		var keys []item.Key
		for _, a := range some {
			keys = append(keys, a.thing.keys(user)...)
		}
		rows, err := r.rows(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, a := range some {
			var own []item.Item
			for _, key := range a.thing.keys(user) {
				own = append(own, rows[key])
			}
			if again, ok := r.required(a.thing, own...); ok {
				out = append(out, again)
			}
		}
	}
	return out, nil
}

// notInLog returns those that the log does not name as far as they have come. It reads the log back to the oldest of
// them.
func (r *run) notInLog(ctx context.Context, user string, of []announcement) ([]announcement, error) {
	if len(of) == 0 {
		return nil, nil
	}
	known := make(map[entity.Ref]changelog.Entry, len(of))
	since := of[0].since
	for _, a := range of {
		known[a.entry.Ref] = changelog.Entry{Version: -1}
		if a.since.Before(since) {
			since = a.since
		}
	}
	since = since.Add(-announcedWithin) // the row may have been dated by another clock
	for row, err := range changelog.Rows(ctx, r.Store, changelog.Read{User: user, Page: pageRows}) {
		if err != nil && !errors.Is(err, changelog.ErrRow) {
			return nil, err
		}
		r.read(1)
		if err == nil && row.At.Before(since) {
			break
		}
		for _, e := range row.Entries {
			if was, isAsked := known[e.Ref]; isAsked && was.Compare(e) < 0 {
				known[e.Ref] = e
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(of), func(a announcement) bool {
		return known[a.entry.Ref].Compare(a.entry) >= 0
	}), nil
}

// logRows finds rows of a log that cannot be read, that never leave, or before which one is missing on which a reader
// still relies. TTL removes rows in any order and by another clock: what is missing behind a row that is old may have
// been the first to go.
func (r *run) logRows(ctx context.Context, user string) error {
	last := changelog.Row{}
	return r.each(ctx, user, family{prefix: device.ChangePrefix()}, func(it item.Item, _ string) error {
		if it.Key() == device.WatchKey(user) {
			return nil
		}
		row, err := changelog.ParseRow(it)
		if row.N == 0 {
			return r.stray(ctx, user, it)
		}
		before := last
		last = row
		d := Difference{Kind: Change, User: user, Key: it.Key().String()}
		var mend item.Item
		switch {
		case !it.Has(entity.AttrTTL):
			d.Is, d.ShouldBe = "no ttl", "leaves after 90 days"
			mend = item.Item{entity.AttrTTL: item.Int(r.Now().Add(changelog.Life).Unix())}
		case err != nil:
			d.Is, d.ShouldBe = "damaged: "+err.Error(), "a row that can be read"
		case before.N > 0 && row.N != before.N+1 && !row.First && !before.Old(r.Now()):
			d.Is, d.ShouldBe = fmt.Sprintf("no row between %d and it", before.N), "all rows, or marked first"
			mend = changelog.MarkFirst()
		default:
			return nil
		}
		if err := r.found(d); err != nil || !r.repairing || mend == nil {
			return err
		}
		_, err = r.Store.Update(ctx, table.Update{Key: it.Key(), Set: mend, If: table.Exists()})
		return r.forgive(ctx, user, d.Key, err)
	})
}
