package query

import (
	"context"

	"nexus/pkg/entity"
)

// ColumnQuery asks for one column of the task board.
type ColumnQuery struct {
	Status   string // one of entity.TaskStatuses
	Priority int64  // 1 to 5; 0 for all
	Limit    int    // 0 for [DefaultLimit]
	Cursor   string
}

// Column returns a page of tasks by priority, then age.
func (s *Service) Column(ctx context.Context, user string, q ColumnQuery) (Page, error) {
	return Page{}, nil
}

// BoardColumn is one column of the board with its first page.
type BoardColumn struct {
	Status string
	Page
}

// Board returns all columns in their order, each with its first limit tasks; the cursors lead on in [Service.Column].
func (s *Service) Board(ctx context.Context, user string, limit int) ([]BoardColumn, error) {
	return nil, nil
}

// NotesQuery asks for one part of the notes grid.
type NotesQuery struct {
	State  entity.NoteState
	Limit  int // 0 for [DefaultLimit]
	Cursor string
}

// Notes returns a page of notes, the latest changed first.
func (s *Service) Notes(ctx context.Context, user string, q NotesQuery) (Page, error) {
	return Page{}, nil
}
