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
	// Types are the entity types asked for; none means EVENT, TASK and REMINDER.
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
}

// Agenda is a page of entries, by start, then id.
type Agenda struct {
	Entries []Entry
	Next    string // the cursor of the next page; empty at the end
}

// Agenda returns what begins in the window or still runs in it.
func (s *Service) Agenda(ctx context.Context, user string, q AgendaQuery) (Agenda, error) {
	return Agenda{}, nil
}
