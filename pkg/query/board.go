package query

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// maxPriority is the last priority of a task; 0 selects all.
const maxPriority = 5

// ColumnQuery selects tasks of one column of the board, or of all.
type ColumnQuery struct {
	Status   string // one of [product.TaskStatuses]; "" for all
	Priority int64  // 1 to 5; 0 for all
	// Due is one of [Dues]; "" for all.
	Due string
	Filter
	Limit  int // 0 for [DefaultLimit]
	Cursor string
}

// Column returns a page of tasks: by status in the board's order if it covers all, then by priority, then age.
//
// A completed task whose archive timer is late is archived for every reader, though its row is still among the
// completed ones. So COMPLETED leaves it out, and ARCHIVED ends with those tasks, again by priority, then age, after
// the ones that are archived in the table. In this way a cursor is always one place in one index, and a late timer is
// rare.
func (s *Service) Column(ctx context.Context, user string, q ColumnQuery) (Page, error) {
	return s.column(ctx, user, q, maxPageBytes)
}

func (s *Service) column(ctx context.Context, user string, q ColumnQuery, room int) (Page, error) {
	if err := checkUser(user); err != nil {
		return Page{}, err
	}
	limit, err := limitOf(q.Limit)
	if err != nil {
		return Page{}, err
	}
	if q.Status != "" && !slices.Contains(product.TaskStatuses(), q.Status) {
		return Page{}, refuse("status", "must be one of %s", strings.Join(product.TaskStatuses(), ", "))
	}
	if q.Priority < 0 || q.Priority > maxPriority {
		return Page{}, refuse("priority", "must be 1 to %d", maxPriority)
	}
	if q.Due != "" && !slices.Contains(Dues(), q.Due) {
		return Page{}, refuse("due", "must be one of %s", strings.Join(Dues(), ", "))
	}
	if err := q.check(); err != nil {
		return Page{}, err
	}
	t := s.registry.ByName(product.TypeTask)
	if t == nil {
		return Page{}, ErrNotFound
	}
	l := list{
		question: question{user, "column", []string{q.Status, strconv.FormatInt(q.Priority, 10)}},
		typ:      t, filter: q.keeps(s.fold), room: room,
	}
	for _, status := range q.statuses() {
		l.legs = append(l.legs, columnLegs(status, q.Priority)...)
	}
	if q.Due != "" {
		due, err := s.isDue(ctx, user, q.Due)
		if err != nil {
			return Page{}, err
		}
		l.filter = both(due, l.filter)
	}
	if l.filter != nil {
		l.question.Params = slices.Concat(l.question.Params, []string{q.Due}, q.params(s.fold))
	}
	return s.page(ctx, user, l, limit, q.Cursor)
}

// statuses returns the columns to read.
func (q ColumnQuery) statuses() []string {
	switch {
	case q.Status != "":
		return []string{q.Status}
	case q.Due == DueOverdue:
		return []string{product.StatusBacklog, product.StatusInProgress}
	}
	return product.TaskStatuses()
}

func columnLegs(status string, priority int64) []leg {
	keeps := func(seen item.Item) bool { return seen.Str(entity.AttrStatus) == status }
	legs := []leg{{prefix: product.TaskColumn(status, priority), keeps: keeps}}
	if status == product.StatusArchived {
		legs = append(legs, leg{prefix: product.TaskColumn(product.StatusCompleted, priority), keeps: keeps, sparse: true})
	}
	return legs
}

// BoardColumn is one column of the board with its first page.
type BoardColumn struct {
	Status string
	Page
}

// Board returns all columns in their order, each with its first limit tasks; [Service.Column] continues from the
// cursors. All columns together are about 1 MB at most.
func (s *Service) Board(ctx context.Context, user string, limit int) ([]BoardColumn, error) {
	statuses := product.TaskStatuses()
	columns := make([]BoardColumn, len(statuses))
	g, ctx := errgroup.WithContext(ctx)
	for i, status := range statuses {
		g.Go(func() error {
			page, err := s.column(ctx, user, ColumnQuery{Status: status, Limit: limit}, maxPageBytes/len(statuses))
			columns[i] = BoardColumn{status, page}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	return columns, nil
}
