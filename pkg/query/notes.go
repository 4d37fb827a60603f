package query

import (
	"context"
	"fmt"

	"nexus/pkg/entity"
)

// NotesQuery asks for one part of the notes grid.
type NotesQuery struct {
	State  entity.NoteState
	Limit  int // 0 for [DefaultLimit]
	Cursor string
}

// ParseNoteState reads the word that clients use: pinned, recent or archived.
func ParseNoteState(word string) (entity.NoteState, error) {
	switch word {
	case "pinned":
		return entity.NotePinned, nil
	case "recent":
		return entity.NoteRecent, nil
	case "archived":
		return entity.NoteArchived, nil
	}
	return "", refuse("state", "must be one of pinned, recent, archived")
}

// Notes returns a page of notes, the latest changed first.
func (s *Service) Notes(ctx context.Context, user string, q NotesQuery) (Page, error) {
	if err := checkUser(user); err != nil {
		return Page{}, err
	}
	limit, err := settleLimit(q.Limit)
	if err != nil {
		return Page{}, err
	}
	switch q.State {
	case entity.NotePinned, entity.NoteRecent, entity.NoteArchived:
	default:
		return Page{}, refuse("state", "must be one of pinned, recent, archived")
	}
	t := s.registry.Named(entity.TypeNote)
	if t == nil {
		return Page{}, fmt.Errorf("notes: %w", ErrNotFound)
	}
	return s.page(ctx, user, list{
		question: question{user, "notes", []string{string(q.State)}},
		typ:      t, descending: true,
		legs: []leg{{prefix: entity.NoteGrid(q.State), keeps: func(entity.Item) bool { return true }}},
	}, limit, q.Cursor)
}
