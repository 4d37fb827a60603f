package query

import (
	"context"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/recurrence"
	"nexus/pkg/series"
)

// AgendaQuery asks what a user has in a window of time.
type AgendaQuery struct {
	// From and To bound the window [From, To), at most 366 days.
	From, To time.Time
	// Zone is the IANA zone in which floating times are read; empty for the user's own.
	Zone string
	// Types are the names of the entity types asked for; none means EVENT, TASK and REMINDER.
	Types []string
	// Tags keeps entities that have at least one of them; none keeps all.
	Tags   []string
	Limit  int // 0 for [DefaultLimit]
	Cursor string
}

// Entry is one occurrence in the agenda.
type Entry struct {
	Type *entity.Type
	// OccurrenceStart and OccurrenceEnd are real instants in UTC; the same for what has no length.
	OccurrenceStart, OccurrenceEnd time.Time
	// Date is the local date YYYYMMDD that the rule gives an occurrence of what recurs; empty for everything else.
	Date string
	// Virtual says that nothing but the rule speaks of the occurrence: no exception, and neither the next trigger nor the
	// snooze of a reminder.
	Virtual bool
	place   place
	item    item.Item // nil for an occurrence of a series that is virtual: it is seldom needed
	of      *recurring
	wall    time.Time // of an occurrence of what recurs: the reading that the rule gives
}

// Item returns the entity; of an occurrence of a series the INSTANCE that it is or would be, with everything that it
// has of its series; of a recurring reminder the reminder, whichever of its occurrences this is.
func (e Entry) Item() item.Item {
	if e.item == nil {
		return e.of.series.Item(e.virtual())
	}
	return e.item
}

// AppendMembers appends the members of the item's JSON.
func (e Entry) AppendMembers(dst []byte) []byte {
	if e.item == nil {
		return e.of.series.AppendVirtual(dst, e.Type, e.virtual())
	}
	return e.Type.AppendMembers(dst, e.item)
}

func (e Entry) virtual() series.Occurrence {
	return series.Occurrence{
		Date: e.Date, Start: e.OccurrenceStart, End: e.OccurrenceEnd,
		Original: recurrence.Occurrence{Start: e.OccurrenceStart, Wall: e.wall},
	}
}

// Agenda is a page of entries, by start, then id.
type Agenda struct {
	Entries []Entry
	Next    string // the cursor of the next page; empty at the end
}

// Agenda returns what begins in the window or still runs in it.
//
// Most is found side by side in one round trip: the years' index, the few events longer than the look-back, the series
// and recurring reminders that have not ended, the tasks that fall due, and the user's zone. A second one fetches by
// their keys tasks that began before the window, exceptions on the dates of the page, and the series of exceptions that
// moved far. One more is made only if a page of the index did not reach far enough for the limit: floating times may
// lie 14 hours off their index key, so the last 14 hours read are not certain yet.
//
// A series or reminder that cannot be compiled is an error: none such is ever stored.
func (s *Service) Agenda(ctx context.Context, user string, q AgendaQuery) (Agenda, error) {
	w, err := s.window(user, q)
	if err != nil {
		return Agenda{}, err
	}
	r := s.reading(w)
	for round := 1; ; round++ {
		if err := r.advance(ctx); err != nil {
			return Agenda{}, err
		}
		scanned := r.scanned()
		if certain, _ := r.met(); scanned.complete || certain >= w.limit || round > 1 && w.isProgress(scanned.through) {
			break
		}
	}
	if err := r.fetch(ctx); err != nil {
		return Agenda{}, err
	}
	k := r.known()
	return w.answer(r.entries(k), k), nil
}

// answer cuts the entries to a page, and makes the items of exceptions.
func (w window) answer(entries []*Entry, known known) Agenda {
	page := make([]Entry, 0, min(len(entries), w.limit))
	weight := 0
	for _, entry := range entries {
		if len(page) == w.limit {
			return w.leadsOn(page)
		}
		e := *entry
		if e.item == nil && !e.Virtual {
			o, _ := e.of.series.On(e.Date)
			e.item = e.of.series.Item(o)
		}
		if weight += e.weigh(); len(page) > 0 && weight > maxPageBytes {
			return w.leadsOn(page)
		}
		page = append(page, e)
	}
	if known.complete {
		return Agenda{Entries: page}
	}
	return Agenda{Entries: page, Next: known.through.encode(w.question)}
}

// leadsOn is a page behind whose last entry there are others.
func (w window) leadsOn(page []Entry) Agenda {
	return Agenda{Entries: page, Next: page[len(page)-1].place.encode(w.question)}
}
