package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/item"
	"nexus/pkg/revision"
)

const (
	// MaxDays bounds the days of [Service.Days].
	MaxDays = 31
	// daysAtOnce is how many plans are read side by side.
	daysAtOnce = 8
)

// Day sums up the present plan of a day.
type Day struct {
	Date  string `json:"date"`
	Todos int    `json:"todos"`
	Done  int    `json:"done"` // of the to-dos
	// Minutes is the time of the blocks of each type. DoneMinutes is that of the pomodoros whose to-do is completed.
	Minutes     map[BlockType]int `json:"minutes"`
	DoneMinutes int               `json:"doneMinutes"`
}

// Days sums up the plans of the days from first to last, both included, at most [MaxDays]. A day without a plan is left
// out. One Get for each day, and one Query for each plan.
func (s *Service) Days(ctx context.Context, user string, first, last time.Time) ([]Day, error) {
	var dates []string
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		dates = append(dates, item.FormatDate(day))
	}
	if len(dates) > MaxDays {
		return nil, fmt.Errorf("%d days, more than %d", len(dates), MaxDays)
	}
	found := make([]*Day, len(dates))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(daysAtOnce)
	for i, date := range dates {
		g.Go(func() error {
			base, err := s.Current(ctx, user, date)
			if missing := (*revision.NotFoundError)(nil); errors.As(err, &missing) {
				return nil
			}
			if err == nil {
				found[i] = base.State.sum(date)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := []Day{}
	for _, day := range found {
		if day != nil {
			out = append(out, *day)
		}
	}
	return out, nil
}

func (p Plan) sum(date string) *Day {
	day := &Day{Date: date, Todos: len(p.Todos), Minutes: map[BlockType]int{}}
	for _, t := range BlockTypes() {
		day.Minutes[t] = 0
	}
	done := map[string]bool{}
	for _, t := range p.Todos {
		if t.Done() {
			day.Done++
			done[t.ActionID] = true
		}
	}
	var worked time.Duration // seconds of a block count: several may make a minute
	times := map[BlockType]time.Duration{}
	for _, b := range p.Blocks {
		took := b.EndTimeIso.Sub(b.StartTimeIso)
		times[b.BlockType] += took
		if b.BlockType == Pomodoro && done[b.ActionID] {
			worked += took
		}
	}
	for of, took := range times {
		day.Minutes[of] = int(took.Round(time.Minute) / time.Minute)
	}
	day.DoneMinutes = int(worked.Round(time.Minute) / time.Minute)
	return day
}
