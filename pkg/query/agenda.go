package query

import (
	"context"
	"time"

	"nexus/pkg/entity"
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
	Item entity.Item
	// OccurrenceStart and OccurrenceEnd are real instants in UTC; the same for what has no length.
	OccurrenceStart, OccurrenceEnd time.Time
	place                          place
}

// Agenda is a page of entries, by start, then id.
type Agenda struct {
	Entries []Entry
	Next    string // the cursor of the next page; empty at the end
}

// Agenda returns what begins in the window or still runs in it.
//
// Everything is found side by side in one round trip: the years' index, the few events longer than the look-back, the
// tasks that fall due, and the user's zone. A second one fetches tasks that began before the window and fall due in it. One
// more is made only if a page of the index did not reach far enough for the limit: floating times may lie 14 hours off
// their index key, so the last 14 hours read are not certain yet.
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
		entries, known := r.entries()
		if known.complete || len(entries) >= w.limit || round > 1 && w.isProgress(known.through) {
			break
		}
	}
	if err := r.fetchDue(ctx); err != nil {
		return Agenda{}, err
	}
	return w.answer(r.entries()), nil
}

// answer cuts the entries to a page.
func (w window) answer(entries []Entry, known known) Agenda {
	weight := 0
	for i, e := range entries {
		if weight += weigh(e.Item); i == w.limit || i > 0 && weight > maxPageBytes {
			return Agenda{Entries: entries[:i], Next: entries[i-1].place.encode(w.question)}
		}
	}
	if known.complete {
		return Agenda{Entries: entries}
	}
	return Agenda{Entries: entries, Next: known.through.encode(w.question)}
}
