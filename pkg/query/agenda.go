package query

import (
	"context"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/recurrence"
	"nexus/pkg/series"
)

// AgendaQuery selects a user's items in a window of time.
type AgendaQuery struct {
	// From and To bound the window [From, To), at most 366 days.
	From, To time.Time
	// Zone is the IANA zone in which floating times are read; empty for the user's own.
	Zone string
	// Types are the names of the requested entity types; none means EVENT, TASK and REMINDER.
	Types []string
	// Tags selects entities that have at least one of them; none selects all.
	Tags []string
	// Statuses selects entities that have one of them; none selects all.
	Statuses []string
	Limit    int // 0 for [DefaultLimit]
	Cursor   string
}

// Entry is one occurrence in the agenda.
type Entry struct {
	Type *entity.Type
	// OccurrenceStart and OccurrenceEnd are real instants in UTC; they are equal for an item without length.
	OccurrenceStart, OccurrenceEnd time.Time
	// Date is the local date YYYYMMDD that the rule gives an occurrence; empty for an item that does not recur.
	Date string
	// Virtual says that only the rule defines the occurrence: no exception, and neither the next trigger nor the snooze
	// of a reminder.
	Virtual bool
	id      string    // in the order
	item    item.Item // nil for an occurrence of a series: it is seldom needed
	of      *recurring
	wall    time.Time // of a recurring item's occurrence: the reading that the rule gives
}

// place returns where the entry is in the order.
func (e *Entry) place() place { return place{e.OccurrenceStart, e.id} }

// Item returns the entity. For an occurrence of a series it is the (possibly virtual) INSTANCE, with everything that
// it takes from its series. For a recurring reminder it is the reminder, for each of its occurrences.
func (e Entry) Item() item.Item {
	if e.item == nil {
		return e.of.series.Item(e.occurrence())
	}
	return e.item
}

// AppendMembers appends the members of the item's JSON.
func (e Entry) AppendMembers(dst []byte) []byte {
	if e.item == nil {
		return e.of.series.AppendMembers(dst, e.occurrence())
	}
	return e.Type.AppendMembers(dst, e.item)
}

// occurrence returns the occurrence of the series.
func (e Entry) occurrence() series.Occurrence {
	if !e.Virtual {
		o, _ := e.of.series.On(e.Date)
		return o
	}
	return series.Occurrence{
		Date: e.Date, Start: e.OccurrenceStart, End: e.OccurrenceEnd,
		Original: recurrence.Occurrence{Start: e.OccurrenceStart, Wall: e.wall},
	}
}

// Agenda is a page of entries, by start, then id.
type Agenda struct {
	Entries []Entry
	Next    string // the cursor of the next page; empty at the end
	of      window
}

// First returns the page cut to its first n entries, fewer than it has and at least one.
func (a Agenda) First(n int) Agenda { return a.of.leadsOn(a.Entries[:n]) }

// Agenda returns the items that begin in the window or still run in it.
//
// One round trip reads most of it in parallel: the years' index, the few events longer than the look-back, the active
// series and recurring reminders, the tasks that are due, and the user's zone. A second one fetches by key the tasks
// that began before the window, exceptions on the dates of the page, and the series of exceptions that moved far. A
// third is made only if a page of the index did not reach far enough for the limit. Floating times may differ from
// their index key by 14 hours, so the last 14 hours read are not certain yet.
//
// A series or reminder that cannot be compiled is an error: none is ever stored.
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
	if w.zone == nil {
		w.own = r.home.String()
	}
	return w.answer(r.entries(k), k), nil
}

// answer cuts the entries to a page.
func (w window) answer(entries []*Entry, known known) Agenda {
	page := make([]Entry, 0, min(len(entries), w.limit))
	for _, entry := range entries {
		if len(page) == w.limit {
			return w.leadsOn(page)
		}
		if w.keepsStatus(entry) {
			page = append(page, *entry)
		}
	}
	if known.complete {
		return Agenda{Entries: page, of: w}
	}
	return Agenda{Entries: page, Next: known.through.encode(w), of: w}
}

// leadsOn returns a page that other entries follow.
func (w window) leadsOn(page []Entry) Agenda {
	return Agenda{Entries: page, Next: page[len(page)-1].place().encode(w), of: w}
}
