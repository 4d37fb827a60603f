package query

import (
	"context"
	"fmt"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// NotesQuery asks for notes of one part of the grid, or of all.
type NotesQuery struct {
	State entity.NoteState // "" for all: pinned ones first, archived ones last
	Filter
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

// Notes returns a page of notes, of each part the latest changed first.
func (s *Service) Notes(ctx context.Context, user string, q NotesQuery) (Page, error) {
	if err := checkUser(user); err != nil {
		return Page{}, err
	}
	limit, err := settleLimit(q.Limit)
	if err != nil {
		return Page{}, err
	}
	switch q.State {
	case "", entity.NotePinned, entity.NoteRecent, entity.NoteArchived:
	default:
		return Page{}, refuse("state", "must be one of pinned, recent, archived")
	}
	t := s.registry.Named(entity.TypeNote)
	if t == nil {
		return Page{}, fmt.Errorf("notes: %w", ErrNotFound)
	}
	if err := q.check(); err != nil {
		return Page{}, err
	}
	l := list{question: question{user, "notes", []string{string(q.State)}}, typ: t, descending: true, filter: q.keeps(s.fold)}
	states := []entity.NoteState{q.State}
	if q.State == "" {
		states = []entity.NoteState{entity.NotePinned, entity.NoteRecent, entity.NoteArchived}
	}
	for _, state := range states {
		l.legs = append(l.legs, leg{prefix: entity.NoteGrid(state), keeps: func(item.Item) bool { return true }})
	}
	if l.filter != nil {
		l.question.Params = slices.Concat(l.question.Params, q.params(s.fold))
	}
	return s.page(ctx, user, l, limit, q.Cursor)
}
