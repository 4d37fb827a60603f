package query

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/table"
	"nexus/pkg/wallclock"
)

// reading is the state of reading an agenda.
type reading struct {
	*Service
	window
	asOf      time.Time
	partition string // the user's
	scans     []*scan
	// home is the user's own zone, if it was read; floating times are read in zone.
	home, zone *time.Location
	// versions are those of the entities found that do not recur, by id; singles are their entries in the window.
	versions map[string]int64
	singles  []Entry
	// series and reminders are those that recur, by id; instances are rows of exceptions, by id.
	series, reminders map[string]*recurring
	instances         map[string]item.Item
	// occurrences are those of series and reminders that start before the horizon, in no order.
	occurrences []Entry
	horizon     time.Time
	buffer      []recurrence.Occurrence
	// fetched bounds the certain part by the rows that were read by key.
	fetched known
}

func (s *Service) reading(w window) *reading {
	return &reading{
		Service: s, window: w, asOf: s.now(), partition: entity.UserPK(w.user), scans: scansOf(w), zone: w.zone,
		versions: map[string]int64{},
		series:   map[string]*recurring{}, reminders: map[string]*recurring{}, instances: map[string]item.Item{},
		fetched: known{complete: true},
	}
}

// advance reads the next page of every range that has one, in parallel.
func (r *reading) advance(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	if r.zone == nil {
		g.Go(func() error { return r.readHome(ctx) })
	}
	for _, sc := range r.scans {
		if !sc.done {
			g.Go(func() error { return sc.read(ctx, r.store) })
		}
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("agenda of %s: %w", entity.UserPK(r.user), err)
	}
	if r.zone == nil {
		r.zone = r.home
	}
	return r.collect()
}

// readHome reads the user's own zone.
func (r *reading) readHome(ctx context.Context) error {
	key := entity.MetaKey(r.user)
	row, err := table.Find(ctx, r.store, key)
	if err != nil {
		return err
	}
	meta := product.UserMetaOf(r.user, row, r.asOf)
	if r.home, err = wallclock.LoadLocation(meta.Str(product.AttrDefaultTzid)); err != nil {
		return fmt.Errorf("zone of %s: %w", key, err)
	}
	return nil
}

// collect files the entities among the rows, and expands recurring items until the page can be filled.
func (r *reading) collect() error {
	for _, sc := range r.scans {
		if sc.isDue {
			continue
		}
		if sc.key != "" {
			r.singles = slices.Grow(r.singles, len(sc.rows))
		}
		for _, row := range sc.rows {
			if err := r.file(row, sc.key == ""); err != nil {
				return err
			}
		}
		sc.rows = nil
	}
	r.expand()
	return nil
}

// file files a row. An index may return two states of one entity that is being moved, and two indexes may differ: the
// later counts. Recurring items are found through the state view, since the years' index has them at one time only.
func (r *reading) file(row item.Item, fromState bool) error {
	t := r.registry.ByName(row.Str(entity.AttrType))
	if t == nil || row.Str(item.AttrPK) != r.partition {
		return nil
	}
	switch {
	case t.Name == entity.TypeInstance:
		if r.wants(product.TypeEvent) {
			r.fileInstance(t, row)
		}
	case t.Name == entity.TypeMaster:
		if r.wants(product.TypeEvent) && fromState {
			return r.fileSeries(t, row)
		}
	case !r.wants(t.Name):
	case t.Name == product.TypeReminder && row.Has(product.AttrRRule):
		if fromState {
			return r.fileReminder(t, row)
		}
	default:
		id, version := row.Str(t.IDAttr), row.Int(entity.AttrVersion)
		held, ok := r.versions[id]
		if ok && held >= version {
			return nil
		}
		if ok {
			r.singles = slices.DeleteFunc(r.singles, func(e Entry) bool { return e.id == id })
		}
		r.versions[id] = version
		r.show(t, row)
	}
	return nil
}

func (r *reading) fileInstance(t *entity.Type, row item.Item) {
	id := row.Str(t.IDAttr)
	if held, ok := r.instances[id]; !ok || held.Int(entity.AttrVersion) < row.Int(entity.AttrVersion) {
		r.instances[id] = row
	}
}

// show adds the item's entries in the window.
func (r *reading) show(t *entity.Type, row item.Item) {
	seen, ok := t.VisibleAt(row, r.asOf)
	if !ok || !isInAgenda(t, r.user, seen) {
		return
	}
	for _, span := range t.ShownIn(seen) {
		if span.Floating {
			span.Start, span.End = item.Resolve(span.Start, r.zone), item.Resolve(span.End, r.zone)
		}
		if r.shows(span.Start, span.End) {
			r.singles = append(r.singles, Entry{
				Type: t, item: seen, OccurrenceStart: span.Start, OccurrenceEnd: span.End,
				id: seen.Str(t.IDAttr),
			})
		}
	}
}

// isInAgenda reports whether the item belongs there as readers see it: time may have changed it since it was indexed.
func isInAgenda(t *entity.Type, user string, seen item.Item) bool {
	return t.View == nil || t.Index == nil || t.Index(user, seen).YearPK != ""
}

// scanned returns how far the ranges have been read.
func (r *reading) scanned() known {
	k := known{complete: true}
	for _, sc := range r.scans {
		if sc.done {
			continue
		}
		if through := sc.through(); through.start.Before(r.to) { // else only the rows of the widening are missing
			k.limit(through)
		}
	}
	return k
}

// known returns which part of the answer is certain.
func (r *reading) known() known {
	k := r.scanned()
	if !r.fetched.complete {
		k.limit(r.fetched.through)
	}
	if r.horizon.Before(r.to) {
		k.limit(place{start: r.horizon})
	}
	return k
}

// each calls yield for every requested entry that is read and certain, in no order.
func (r *reading) each(k known, yield func(*Entry)) {
	for _, entries := range [][]Entry{r.singles, r.occurrences} {
		for i := range entries {
			if e := &entries[i]; e.place().compare(r.after) > 0 && k.covers(e.place()) {
				yield(e)
			}
		}
	}
}

// entries returns the certain part of the answer, in order. A place in the order has one entry: two readings may be
// one instant when the clock is put forward, and a snooze may end when another occurrence begins.
func (r *reading) entries(k known) []*Entry {
	out := make([]*Entry, 0, len(r.singles)+len(r.occurrences))
	r.each(k, func(e *Entry) { out = append(out, e) })
	slices.SortFunc(out, compareEntries)
	return slices.CompactFunc(out, func(a, b *Entry) bool { return a.place().compare(b.place()) == 0 })
}
