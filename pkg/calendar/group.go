package calendar

import (
	"context"
	"errors"
	"iter"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// forever is the end of an item that has none or is still open.
var forever = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// group is a unit of a text: one item, or a series with its exceptions.
type group struct {
	drafts   []ical.Draft
	until    time.Time // when the last of it ends
	modified time.Time
	created  time.Time
}

func createdAt(it item.Item) time.Time {
	at, _ := it.Time(entity.AttrCreatedAt)
	return at
}

func modifiedAt(it item.Item) time.Time {
	updated, _ := it.Time(entity.AttrUpdatedAt)
	if restored, ok := it.Time(entity.AttrRestoredAt); ok && restored.After(updated) {
		return restored
	}
	return updated
}

// single reads items of one type, each a group. One whose row is damaged is left out, as a series is: the rest of the
// calendar does not depend on it.
func (s *Service) single(
	ctx context.Context, user, typeName string, until func(item.Item) (time.Time, bool),
) iter.Seq2[group, error] {
	return func(yield func(group, error) bool) {
		kept := s.keptOf(ctx, user, typeName)
		defer kept.stop()
		for it, err := range s.items(ctx, user, typeName) {
			if err == nil {
				err = kept.upTo(it)
			}
			if err != nil {
				yield(group{}, err)
				return
			}
			end, wanted := until(it)
			if !wanted {
				continue
			}
			draft, err := ical.FromItem(it, kept.beside)
			if err != nil {
				continue // its row is damaged
			}
			if !yield(group{[]ical.Draft{draft}, end, modifiedAt(it), createdAt(it)}, nil) {
				return
			}
		}
	}
}

func (s *Service) events(ctx context.Context, user string) iter.Seq2[group, error] {
	return s.single(ctx, user, product.TypeEvent, func(it item.Item) (time.Time, bool) {
		return product.EventSpan(it).End, true
	})
}

// tasks returns all tasks. A done task without a date ended when it was last changed.
func (s *Service) tasks(ctx context.Context, user string) iter.Seq2[group, error] {
	return s.single(ctx, user, product.TypeTask, func(it item.Item) (time.Time, bool) {
		at, _, dated := product.TaskDue(it)
		if !dated {
			at, dated = it.Time(product.AttrStartUtc)
		}
		if !dated {
			at = modifiedAt(it)
		}
		switch it.Str(entity.AttrStatus) {
		case product.StatusBacklog, product.StatusInProgress:
			at = forever
		}
		return at, true
	})
}

func (s *Service) reminders(ctx context.Context, user string) iter.Seq2[group, error] {
	return s.single(ctx, user, product.TypeReminder, func(it item.Item) (time.Time, bool) {
		switch it.Str(entity.AttrStatus) {
		case product.StatusPending, product.StatusSnoozed:
			return forever, true
		}
		at, _ := it.Time(product.AttrTriggerUtc)
		return at, true
	})
}

// series reads masters with their instances: both are in the order of the masters' ids.
func (s *Service) series(ctx context.Context, user string) iter.Seq2[group, error] {
	return func(yield func(group, error) bool) {
		next, stop := iter.Pull2(s.items(ctx, user, entity.TypeInstance))
		defer stop()
		kept, ofInstances := s.keptOf(ctx, user, entity.TypeMaster), s.keptOf(ctx, user, entity.TypeInstance)
		defer kept.stop()
		defer ofInstances.stop()
		beside := func(it item.Key) string { return kept.beside(it) + ofInstances.beside(it) }
		row, err, more := next()
		for master, failed := range s.items(ctx, user, entity.TypeMaster) {
			if failed != nil {
				yield(group{}, failed)
				return
			}
			id := master.Str(product.AttrMasterID)
			var instances []item.Item
			err = errors.Join(err, kept.upTo(master))
			for ; more && err == nil && row.Str(product.AttrMasterID) <= id; row, err, more = next() {
				if row.Str(product.AttrMasterID) == id { // the others' master is gone, or does not exist yet
					instances = append(instances, row)
				}
				if err = ofInstances.upTo(row); err != nil {
					break
				}
			}
			if err != nil {
				yield(group{}, err)
				return
			}
			g, damaged := seriesGroup(master, beside, instances)
			ofInstances.forget()
			if damaged == nil && !yield(g, nil) {
				return
			}
		}
	}
}

func seriesGroup(master item.Item, beside ical.Beside, instances []item.Item) (group, error) {
	drafts, err := ical.FromSeries(master, beside, instances...)
	g := group{drafts, forever, modifiedAt(master), createdAt(master)}
	if last, ok := master.Time(product.AttrLastStartUtc); ok {
		span := product.EventSpan(master)
		g.until = last.Add(span.End.Sub(span.Start))
	}
	for _, it := range instances {
		if at := modifiedAt(it); at.After(g.modified) {
			g.modified = at
		}
		if end := product.EventSpan(it).End; end.After(g.until) {
			g.until = end
		}
	}
	return g, err
}
