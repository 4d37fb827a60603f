package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"nexus/pkg/schedule"
)

// Waker asks for a worker through the schedule port.
type Waker struct {
	Scheduler schedule.Scheduler
	// UserPart returns the user's part of the names of schedules.
	UserPart func(user string) string
	Now      func() time.Time
}

// Call is the payload of the schedule of a job.
type Call struct {
	UserID   string `json:"userId"`
	ExportID string `json:"exportId"`
}

func (w Waker) name(user, id string) string { return "export-" + w.UserPart(user) + "-" + id }

// Wake puts the schedule of a job, which calls at once.
func (w Waker) Wake(ctx context.Context, user, id string) error {
	payload, err := json.Marshal(Call{user, id})
	if err != nil {
		return err
	}
	at := w.Now().UTC().Truncate(time.Second).Add(time.Second) // what is past may never be called
	err = w.Scheduler.Put(ctx, schedule.Schedule{Name: w.name(user, id), At: at, Payload: payload})
	if err != nil {
		return fmt.Errorf("wake the worker of an export: %w", err)
	}
	return nil
}

// Forget deletes the schedule.
func (w Waker) Forget(ctx context.Context, user, id string) error {
	return w.Scheduler.Delete(ctx, w.name(user, id))
}
