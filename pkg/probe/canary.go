package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"
)

const (
	// canaryTask is the title of the task that the canary's user has. A task that stays completed is archived some day,
	// and then there is another one; a reminder stays, under its id.
	canaryTask     = "Canary task"
	canaryReminder = "rem_00000000-0000-4000-8000-000000ca4a21"
	// ringsIn is how far ahead of a run its reminder is: more than the scheduler's lead. A reminder comes up to a minute
	// late, so that the next run, after five minutes, finds it rung; ringsWithin is how late it may be.
	ringsIn     = 2 * time.Minute
	ringsWithin = 2 * time.Minute
	// derivedWithin is how long the statistics may take.
	derivedWithin = 45 * time.Second
)

// Canary is the user of which a deployment's alarms learn that it works. It owns one task and one reminder.
type Canary struct {
	Client Client
	Tokens *Tokens
	Log    *slog.Logger
}

// Run carries out all steps for the call of an instant, and returns what failed: a step that fails prevents only those
// that need it. Repeating it is harmless. The call may come late: the reminder counts from now.
func (c *Canary) Run(ctx context.Context, at time.Time) error {
	var err error
	if c.Client.Token, err = c.Tokens.Token(ctx); err != nil {
		return err
	}
	began := c.Tokens.Now()
	if began.After(at) {
		at = began
	}
	if err := errors.Join(c.moveTask(ctx), c.moveReminder(ctx, at.UTC().Truncate(time.Second))); err != nil {
		return err
	}
	c.Log.LogAttrs(ctx, slog.LevelInfo, "canary", slog.Int64("milliseconds", c.Tokens.Now().Sub(began).Milliseconds()))
	return nil
}

// overdue is the task's due time, long past: while the task is open, it is the one task that counts as overdue.
var overdue = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)

// moveTask completes the task or opens it again: the write is read back by key, by the column of the board (GSI3) and,
// while it is open, by the agenda (GSI1). Then the statistics have to follow, which the stream brings.
func (c *Canary) moveTask(ctx context.Context) error {
	task, err := c.ownTask(ctx)
	if err != nil {
		return err
	}
	path, status, open := "/v1/tasks/"+task.Str("taskId"), "IN_PROGRESS", int64(1)
	if task.Str("status") == status {
		status, open = "COMPLETED", 0
	}
	if _, err := c.Client.Send(ctx, http.StatusOK, http.MethodPatch, path, Object{"status": status},
		task.Int("version")); err != nil {
		return err
	}
	read, err := c.get(ctx, path)
	if err == nil && read.Str("status") != status {
		err = fmt.Errorf("GET %s: status %q after it was set to %s", path, read.Str("status"), status)
	}
	if err != nil {
		return err
	}
	return errors.Join(
		c.await(ctx, "the column "+status+" has the task (GSI3)", func() (bool, error) {
			return c.shows(ctx, "/v1/tasks?status="+status, canaryTask)
		}),
		c.await(ctx, "the agenda has the task (GSI1)", func() (bool, error) {
			window := url.Values{"from": {stamp(overdue)}, "to": {stamp(overdue.Add(time.Hour))}}
			return c.shows(ctx, "/v1/agenda?"+window.Encode(), canaryTask)
		}),
		c.await(ctx, fmt.Sprintf("the statistics have %d tasks overdue, and the last completion", open),
			func() (bool, error) {
				stats, err := c.get(ctx, "/v1/me/stats")
				isLast := open > 0 || stats.Str("lastTaskCompleted") == read.Str("completedAt")
				return stats.Int("overdueTasks") == open && isLast, err
			}))
}

// moveReminder looks whether the reminder of the last run rang, and sets the next one in any case.
func (c *Canary) moveReminder(ctx context.Context, at time.Time) error {
	next := Object{"triggerUtc": stamp(at.Add(ringsIn)), "tzid": "UTC"}
	path := "/v1/reminders/" + canaryReminder
	found, err := c.Client.Call(ctx, http.MethodGet, path, nil, -1)
	if err != nil {
		return err
	}
	if found.Status == http.StatusNotFound {
		next["reminderId"], next["title"] = canaryReminder, "Canary reminder"
		_, err := c.Client.Send(ctx, http.StatusCreated, http.MethodPost, "/v1/reminders", next, -1)
		return err
	}
	if found.Status != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", path, found.Status)
	}
	reminder := found.Body
	trigger, rung := reminder.Time("triggerUtc"), reminder.Time("lastFiredUtc")
	var missed error
	if at.Sub(trigger) > ringsWithin && rung.Before(trigger) {
		missed = fmt.Errorf("the reminder of %s has not rung by %s", stamp(trigger), stamp(at))
	}
	_, err = c.Client.Send(ctx, http.StatusOK, http.MethodPatch, path, next, reminder.Int("version"))
	return errors.Join(missed, err)
}

// ownTask returns the canary's task: the one of the title, or a new one in its first run.
func (c *Canary) ownTask(ctx context.Context) (Object, error) {
	for _, status := range []string{"IN_PROGRESS", "COMPLETED", "BACKLOG"} {
		page, err := c.get(ctx, "/v1/tasks?status="+status)
		if err != nil {
			return nil, err
		}
		items := page.List("items")
		if i := slices.Index(Titles(items), canaryTask); i >= 0 {
			return items[i], nil
		}
	}
	return c.Client.Send(ctx, http.StatusCreated, http.MethodPost, "/v1/tasks",
		Object{"title": canaryTask, "dueUtc": stamp(overdue), "dueTzid": "UTC"}, -1)
}

func (c *Canary) get(ctx context.Context, path string) (Object, error) {
	return c.Client.Send(ctx, http.StatusOK, http.MethodGet, path, nil, -1)
}

func (c *Canary) shows(ctx context.Context, path, title string) (bool, error) {
	page, err := c.get(ctx, path)
	return slices.Contains(Titles(page.List("items")), title), err
}

func (c *Canary) await(ctx context.Context, what string, isSo func() (bool, error)) error {
	arrived, err := Await(ctx, derivedWithin, isSo)
	if err != nil {
		return err
	}
	if !arrived {
		return fmt.Errorf("not within %s: %s", derivedWithin, what)
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
