package reminders

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
)

// seriesDues returns what decides about each offset of a series within the scope: the occurrences that were due within
// the retention of deliveries, and the next one to come. An occurrence counts at its new time after a move. A
// cancelled occurrence, or one with reminders of its own, does not count.
//
// A next one whose delivery exists was delivered by a worker whose clock is ahead of this one: the one after it is
// next.
func (s snapshot) seriesDues(offsets scope, hasDelivery func(due) bool) ([]due, error) {
	if s.item.Str(entity.AttrStatus) == product.StatusCancelled {
		return nil, nil
	}
	minutes := offsets.among(s.item.Ints(product.AttrReminderMinutes))
	if len(minutes) == 0 {
		return nil, nil
	}
	all, err := s.compiled(s.item, s.instances...)
	if err != nil {
		return nil, err
	}
	asked := s.askedOfExceptions()
	dueOf := func(o series.Occurrence, offset int64) due {
		by := itemRequestedAt(s.item)
		if own := asked[o.Date]; own.After(by) {
			by = own
		}
		return s.occurrenceDue(all, o, offset, by)
	}
	from := s.now.Add(-deliveryRetention)
	past := all.Overlapping(from, s.now.Add(time.Duration(minutes[len(minutes)-1])*time.Minute+time.Second))
	var dues []due
	for _, offset := range minutes {
		for _, o := range past {
			d := dueOf(o, offset)
			if !o.Owns(product.AttrReminderMinutes) && !d.at.After(s.now) && !d.at.Before(from) && !d.at.Before(d.requestedAt) {
				dues = append(dues, d)
			}
		}
		next, ok := all.Next(s.now.Add(time.Duration(offset)*time.Minute), func(o series.Occurrence) bool {
			return !o.Owns(product.AttrReminderMinutes) && !hasDelivery(dueOf(o, offset))
		})
		if ok {
			dues = append(dues, dueOf(next, offset))
		}
	}
	return dues, nil
}

// exceptionDues returns those of an exception with reminders of its own. A cancelled series has none.
func (s snapshot) exceptionDues() ([]due, error) {
	if s.master == nil || s.master.Str(entity.AttrStatus) == product.StatusCancelled {
		return nil, nil
	}
	all, err := s.compiled(s.master, s.item)
	if err != nil {
		return nil, err
	}
	_, date, err := entity.ParseInstanceID(s.target.id)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	o, ok := all.On(date)
	if !ok || o.Cancelled() || !o.Owns(product.AttrReminderMinutes) {
		return nil, nil
	}
	// A series without dueSetAt has not moved since it was created, before any exception of it.
	asked, _ := s.master.Time(product.AttrDueSetAt)
	if own := itemRequestedAt(s.item); own.After(asked) {
		asked = own
	}
	var dues []due
	for _, offset := range s.item.Ints(product.AttrReminderMinutes) {
		dues = append(dues, s.occurrenceDue(all, o, offset, asked))
	}
	return dues, nil
}

func (s snapshot) compiled(master item.Item, instances ...item.Item) (*series.Series, error) {
	all, err := series.New(master, s.zone, instances...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return all, nil
}

func (s snapshot) occurrenceDue(all *series.Series, o series.Occurrence, offset int64, asked time.Time) due {
	times := all.Master()
	if o.Exception != nil && series.HasOwnTimes(o.Exception) {
		times = o.Exception
	}
	d := newDue(offset, all.RecurrenceID(o), o.Start, s.requestedAt(asked, product.EventSpan(times).Floating))
	d.date = o.Date
	return d
}

// askedOfExceptions returns by date when a command last requested a single occurrence. The row of an undone exception
// holds that time, too: an occurrence that stayed cancelled until after its instant was not requested in time. A row
// without dueSetAt never moved an instant.
func (s snapshot) askedOfExceptions() map[string]time.Time {
	asked := make(map[string]time.Time, len(s.instances))
	for _, row := range s.instances {
		if _, date, err := entity.ParseInstanceID(row.Str(product.AttrEventID)); err == nil {
			asked[date], _ = row.Time(product.AttrDueSetAt)
		}
	}
	return asked
}

// instanceOn returns the row of a series' exception on a date, or nil.
func (s snapshot) instanceOn(date string) item.Item {
	id := entity.InstanceID(s.target.id, date)
	for _, row := range s.instances {
		if row.Str(product.AttrEventID) == id {
			return row
		}
	}
	return nil
}
