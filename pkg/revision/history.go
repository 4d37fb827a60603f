package revision

import (
	"context"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/table"
)

// Bounds of a page of history.
const (
	DefaultPage = 50
	MaxPage     = 100
)

// Page is a part of a history, newest first.
type Page struct {
	Commits []Commit
	// Before continues the history; empty at its end.
	Before string
}

// History returns the log from the newest entry on, or from those before the revision that an earlier page's Before
// named. One Query. A limit outside 1 to [MaxPage] means the nearest bound, 0 means [DefaultPage]. A revision that
// this repository cannot have is refused with [entity.ErrID].
func (r *Repository[S]) History(ctx context.Context, at repository.Address, limit int, before string) (Page, error) {
	if err := at.Check(); err != nil {
		return Page{}, fmt.Errorf("address: %w", err)
	}
	if limit == 0 {
		limit = DefaultPage
	}
	q := table.Query{
		Partition: at.LogPK(), Range: table.Range{Prefix: at.LogPrefix()},
		Limit: min(max(limit, 1), MaxPage), Descending: true,
	}
	if before != "" {
		if err := repository.CheckRevisionID(before); err != nil {
			return Page{}, fmt.Errorf("history before: %w", err)
		}
		q.Start = table.Position(at.LogKey(before).Item())
	}
	answer, err := r.store.Query(ctx, q)
	if err != nil {
		return Page{}, fmt.Errorf("read the history of %s: %w", at, err)
	}
	var page Page
	for _, row := range answer.Items {
		commit, err := readCommit(row, r.shape.SourceAttr)
		if err != nil {
			return Page{}, err
		}
		page.Commits = append(page.Commits, commit)
	}
	if len(answer.Next) == 0 || len(page.Commits) == 0 {
		return page, nil
	}
	page.Before = page.Commits[len(page.Commits)-1].RevID
	return page, nil
}

// Days returns the dates of all plans of a user, in their order. One Query, of rows that have nothing but their key.
func (p *Publisher) Days(ctx context.Context, user string) ([]string, error) {
	if err := entity.CheckUserID(user); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	rows, err := p.rows(ctx, table.Query{
		Partition: repository.UserPK(user), Range: table.Range{Prefix: repository.DayPrefix()},
	})
	if err != nil {
		return nil, fmt.Errorf("read the days of %s: %w", repository.UserPK(user), err)
	}
	var dates []string
	for _, row := range rows {
		parsed, err := repository.ParseRow(row.Key())
		if err != nil {
			return nil, err
		}
		dates = append(dates, parsed.Repository.Date)
	}
	return dates, nil
}
