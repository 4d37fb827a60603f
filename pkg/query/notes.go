package query

import (
	"context"
	"fmt"
	"slices"

	"nexus/pkg/item"
	"nexus/pkg/product"
)

// NotesQuery selects notes of one part of the grid, or of all.
type NotesQuery struct {
	State product.NoteState // "" for all: pinned ones first, archived ones last
	Filter
	Limit  int // 0 for [DefaultLimit]
	Cursor string
}

// ParseNoteState reads the word that clients use: pinned, recent or archived.
func ParseNoteState(word string) (product.NoteState, error) {
	switch word {
	case "pinned":
		return product.NotePinned, nil
	case "recent":
		return product.NoteRecent, nil
	case "archived":
		return product.NoteArchived, nil
	}
	return "", refuse("state", "must be one of pinned, recent, archived")
}

// Notes returns a page of notes, of each part the latest changed first.
func (s *Service) Notes(ctx context.Context, user string, q NotesQuery) (Page, error) {
	if err := checkUser(user); err != nil {
		return Page{}, err
	}
	limit, err := limitOf(q.Limit)
	if err != nil {
		return Page{}, err
	}
	switch q.State {
	case "", product.NotePinned, product.NoteRecent, product.NoteArchived:
	default:
		return Page{}, refuse("state", "must be one of pinned, recent, archived")
	}
	t := s.registry.ByName(product.TypeNote)
	if t == nil {
		return Page{}, fmt.Errorf("notes: %w", ErrNotFound)
	}
	if err := q.check(); err != nil {
		return Page{}, err
	}
	l := list{
		question: question{user, "notes", []string{string(q.State)}}, typ: t, descending: true, filter: q.keeps(s.fold),
		room: maxPageBytes,
	}
	states := []product.NoteState{q.State}
	if q.State == "" {
		states = []product.NoteState{product.NotePinned, product.NoteRecent, product.NoteArchived}
	}
	for _, state := range states {
		l.legs = append(l.legs, leg{prefix: product.NoteGrid(state), keeps: func(item.Item) bool { return true }})
	}
	if l.filter != nil {
		l.question.Params = slices.Concat(l.question.Params, q.params(s.fold))
	}
	return s.page(ctx, user, l, limit, q.Cursor)
}
