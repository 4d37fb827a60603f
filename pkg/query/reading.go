package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// reading is what has been read for an agenda so far.
type reading struct {
	*Service
	window
	asOf time.Time
	// scans are the ranges of index rows in time order: the years', and those of tasks that fall due.
	scans []*scan
	// long are the events longer than the look-back that end after the window begins; nil if they are not wanted.
	long *scan
	// items are the entities found, by id.
	items map[string]filed
	// sorted are the entries of all items, in order; nil when they are to be put together anew.
	sorted []Entry
	// due bounds what is known by the tasks that were fetched for their due time.
	due known
}

// scan is one range of rows, read page by page.
type scan struct {
	query table.Query
	// key is the index's sort key, behind whose prefix stands the time.
	key, prefix string
	// isDue rows are open counters: they name a task and when it falls due.
	isDue, floating bool
	rows            []entity.Item
	done            bool
}

// filed is an entity that was found, with its showings in the window.
type filed struct {
	version int64
	entries []Entry
}

// firstRows is how many rows of an index a page of limit entries asks for first: enough for the rows of the look-back and
// the widening, and far fewer than 1 MB.
func firstRows(limit int) int { return 4*limit + 64 }

func (s *Service) reading(w window) *reading {
	r := &reading{Service: s, window: w, asOf: s.now(), items: map[string]filed{}, due: known{complete: true}}
	rows := firstRows(w.limit)
	if len(w.tags) > 0 {
		rows = 0 // how many rows lie between two with a tag, nobody knows
	}
	from, to := w.first().Add(-floatingSlack), w.to.Add(floatingSlack)
	for year := from.Year(); year <= to.Year(); year++ {
		r.scans = append(r.scans, &scan{key: entity.AttrGSI1SK, query: table.Query{
			Index: entity.YearView, Partition: entity.AgendaPK(w.user, year), AnyTag: w.tags, Limit: rows,
			Range: table.Range{From: entity.FormatInstant(from), To: entity.FormatInstant(to)},
		}})
	}
	// Behind the look-back, every event is found by its start.
	if w.wants(entity.TypeEvent) && !w.after.start.After(w.from.Add(-lookBack)) {
		prefix := entity.LongPrefix()
		r.long = &scan{query: table.Query{
			Index: entity.StateView, Partition: entity.UserPK(w.user), AnyTag: w.tags,
			Range: table.Range{From: prefix + entity.FormatInstant(w.from.Add(-floatingSlack)), To: prefix + entity.Forever},
		}}
	}
	if w.wants(entity.TypeTask) {
		r.scans = append(r.scans, dueScan(w, rows, false), dueScan(w, rows, true))
	}
	return r
}

// dueScan finds the open tasks that fall due in the window, whenever they began. A task that has no start, or begins in
// the window, is in the years' index anyway; the counters of package stats are what leads to the others.
func dueScan(w window, rows int, floating bool) *scan {
	from, to := w.from, w.to
	if w.after.start.After(from) {
		from = w.after.start
	}
	if floating {
		from, to = from.Add(-floatingSlack), to.Add(floatingSlack)
	}
	return &scan{
		key: entity.AttrGSI3SK, prefix: entity.OpenPrefix(entity.TypeTask, floating), isDue: true, floating: floating,
		query: table.Query{
			Index: entity.StateView, Partition: entity.UserPK(w.user), Limit: rows,
			Range: table.Range{From: entity.OpenSK(entity.TypeTask, floating, from), To: entity.OpenSK(entity.TypeTask, floating, to)},
		},
	}
}

// advance reads the next page of every range that has one, side by side.
func (r *reading) advance(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	var zone *time.Location
	if r.zone == nil {
		g.Go(func() (err error) {
			zone, err = r.userZone(ctx)
			return err
		})
	}
	for _, sc := range r.scans {
		if !sc.done {
			g.Go(func() error { return sc.read(ctx, r.store) })
		}
	}
	if r.long != nil && !r.long.done {
		g.Go(func() error {
			// They are ordered by their end, so that only all of them tell which one begins first.
			for !r.long.done {
				if err := r.long.read(ctx, r.store); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("agenda of %s: %w", r.user, err)
	}
	if zone != nil {
		r.zone = zone
	}
	r.collect()
	return nil
}

func (r *reading) userZone(ctx context.Context) (*time.Location, error) {
	key := entity.MetaKey(r.user)
	meta, err := r.store.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		meta, err = entity.NewUserMeta(r.user, r.asOf), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	zone, err := entity.LoadZone(meta.Str(entity.AttrDefaultTzid))
	if err != nil {
		return nil, fmt.Errorf("zone of %s: %w", key, err)
	}
	return zone, nil
}

func (sc *scan) read(ctx context.Context, store table.Reader) error {
	page, err := store.Query(ctx, sc.query)
	if err != nil {
		return fmt.Errorf("read %s from %s: %w", sc.query.Partition, sc.query.Range.From, err)
	}
	sc.rows = append(sc.rows, page.Items...)
	sc.query.Start, sc.query.Limit = page.Next, 0
	sc.done = len(page.Next) == 0
	return nil
}

// through is the start before which no entry can be missing for rows that this range has not given yet.
func (sc *scan) through() place {
	key := entity.Item(sc.query.Start).Str(sc.key)
	at, err := entity.ParseInstant(key[len(sc.prefix):])
	if err != nil {
		return place{}
	}
	return place{start: at.Add(-floatingSlack)}
}

// collect files the entities among the rows. An index may give two states of one that is being moved: the later counts.
func (r *reading) collect() {
	for _, sc := range append([]*scan{r.long}, r.scans...) {
		if sc == nil || sc.isDue {
			continue
		}
		for _, row := range sc.rows {
			r.file(row)
		}
		sc.rows = nil
	}
}

func (r *reading) file(row entity.Item) {
	t := r.registry.Named(row.Str(entity.AttrType))
	if t == nil || !r.wants(t.Name) || row.Str(entity.AttrPK) != entity.UserPK(r.user) {
		return
	}
	id, version := row.Str(t.IDAttr), row.Int(entity.AttrVersion)
	if held, ok := r.items[id]; !ok || held.version < version {
		r.items[id] = filed{version, r.show(t, row)}
		r.sorted = nil
	}
}

// entries returns what is known of the answer, in order.
func (r *reading) entries() ([]Entry, known) {
	k := r.due
	for _, sc := range r.scans {
		if sc.done {
			continue
		}
		if through := sc.through(); through.start.Before(r.to) { // else only what the widening reads is missing
			k.limit(through)
		}
	}
	if r.sorted == nil {
		for _, item := range r.items {
			r.sorted = append(r.sorted, item.entries...)
		}
		slices.SortFunc(r.sorted, func(a, b Entry) int { return a.place.compare(b.place) })
	}
	first := sort.Search(len(r.sorted), func(i int) bool { return r.sorted[i].place.compare(r.after) > 0 })
	end := sort.Search(len(r.sorted), func(i int) bool { return !k.covers(r.sorted[i].place) })
	return r.sorted[first:max(first, end)], k
}

// show returns the item's showings in the window.
func (r *reading) show(t *entity.Type, row entity.Item) []Entry {
	seen, ok := t.Seen(row, r.asOf)
	if !ok || !isInAgenda(t, r.user, seen) {
		return nil
	}
	var out []Entry
	for _, span := range t.ShownIn(seen) {
		if span.Floating {
			span.Start, span.End = entity.Resolve(span.Start, r.zone), entity.Resolve(span.End, r.zone)
		}
		// Two readings may be one instant where the clock is put forward: a place in the order has one entry.
		again := len(out) > 0 && out[len(out)-1].OccurrenceStart.Equal(span.Start)
		if r.shows(span.Start, span.End) && !again {
			out = append(out, Entry{t, seen, span.Start, span.End, place{span.Start, seen.Str(t.IDAttr)}})
		}
	}
	return out
}

// isInAgenda reports whether the item belongs there as it is seen: time may have moved it on since it was indexed.
func isInAgenda(t *entity.Type, user string, seen entity.Item) bool {
	return t.View == nil || t.Index == nil || t.Index(user, seen).YearPK != ""
}
