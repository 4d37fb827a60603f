package query

import (
	"context"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// scan is one range of rows, read page by page.
type scan struct {
	query table.Query
	// key is the index's sort key, in which the time follows the prefix. It is empty for a range without time order,
	// which must be read whole.
	key, prefix string
	// isDue marks rows that are open counters: they name a task and its due time.
	isDue, floating bool
	rows            []item.Item
	done            bool
}

// firstRows returns how many rows of an index a page of limit entries requests first: enough for the rows of the
// look-back and the widening, and far fewer than 1 MB.
func firstRows(limit int) int { return 4*limit + 64 }

// scansOf returns the ranges that an agenda reads in its first round trip.
func scansOf(w window) []*scan {
	rows := firstRows(w.limit)
	if len(w.tags) > 0 {
		rows = 0 // the number of rows between two with a tag is unknown
	}
	scans := yearScans(w, rows)
	state := func(prefix string) *scan {
		return &scan{query: table.Query{
			Index: table.StateView, Partition: entity.UserPK(w.user), AnyTag: w.tags,
			Range: table.Range{From: prefix + item.FormatInstant(w.earliest().Add(-floatingSlack)), To: prefix + item.Forever},
		}}
	}
	if w.wants(product.TypeEvent) {
		// After the look-back, every event is found by its start.
		if !w.after.start.After(w.from.Add(-lookBack)) {
			scans = append(scans, state(product.LongPrefix()).tagsOf(product.AttrModifiedFields))
		}
		scans = append(scans, state(product.ActiveMastersPrefix()).tagsOf(product.AttrHasExceptions))
	}
	if w.wants(product.TypeReminder) {
		scans = append(scans, state(product.RecurringRemindersPrefix()))
	}
	if w.wants(product.TypeTask) {
		scans = append(scans, dueScan(w, rows, false), dueScan(w, rows, true))
	}
	return scans
}

// tagsOf lets rows with the attribute pass the filter: their tags, or those of rows that they cover, are only known
// later.
func (sc *scan) tagsOf(attr string) *scan {
	if len(sc.query.AnyTag) > 0 {
		sc.query.AnyTagOr = attr
	}
	return sc
}

func yearScans(w window, rows int) []*scan {
	var scans []*scan
	from, to := w.first().Add(-floatingSlack), w.to.Add(floatingSlack)
	for year := from.Year(); year <= to.Year(); year++ {
		sc := &scan{key: item.AttrGSI1SK, query: table.Query{
			Index: table.YearView, Partition: entity.AgendaPK(w.user, year), AnyTag: w.tags, Limit: rows,
			Range: table.Range{From: item.FormatInstant(from), To: item.FormatInstant(to)},
		}}
		scans = append(scans, sc.tagsOf(product.AttrModifiedFields))
	}
	return scans
}

// dueScan finds the open tasks that are due in the window and began at any time. A task that has no start, or begins
// in the window, is in the years' index anyway; the counters of package stats lead to the others.
func dueScan(w window, rows int, floating bool) *scan {
	from, to := w.earliest(), w.to
	if floating {
		from, to = from.Add(-floatingSlack), to.Add(floatingSlack)
	}
	return &scan{
		key: item.AttrGSI3SK, prefix: entity.OpenPrefix(product.TypeTask, floating), isDue: true, floating: floating,
		query: table.Query{
			Index: table.StateView, Partition: entity.UserPK(w.user), Limit: rows,
			Range: table.Range{
				From: entity.OpenSK(product.TypeTask, floating, from), To: entity.OpenSK(product.TypeTask, floating, to),
			},
		},
	}
}

// read reads the next page, or the whole of a range that is not in time order.
func (sc *scan) read(ctx context.Context, store table.Reader) error {
	for {
		page, err := store.Query(ctx, sc.query)
		if err != nil {
			return fmt.Errorf("read %s from %s: %w", sc.query.Partition, sc.query.Range.From, err)
		}
		sc.rows = append(sc.rows, page.Items...)
		sc.query.Start, sc.query.Limit = page.Next, 0
		if sc.done = len(page.Next) == 0; sc.done || sc.key != "" {
			return nil
		}
	}
}

// through returns the start before which this range has given all rows.
func (sc *scan) through() place {
	key := item.Item(sc.query.Start).Str(sc.key)
	at, err := item.ParseInstant(key[len(sc.prefix):])
	if err != nil {
		return place{}
	}
	return place{start: at.Add(-floatingSlack)}
}
