package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/entity"
	"nexus/pkg/entity/account"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/table"
)

const (
	// LinkLifetime is how long the address of a file serves.
	LinkLifetime = 5 * time.Minute
	// linkedFile is the name under which a browser saves it.
	linkedFile = "nexus-account.zip"
	// requestTries bounds the attempts to put a job beside others' requests of the same user.
	requestTries = 3
)

// ErrNoJob says that the user has no such job.
var ErrNoJob = errors.New("no such export")

// JobsConfig holds the dependencies of [Jobs]. Those without a remark are required.
type JobsConfig struct {
	Store table.Store
	Now   func() time.Time
	// NewID returns a text that is never returned again; to request a job.
	NewID func() string
	// Limits are those of a user; nil for those where no stage says otherwise.
	Limits limit.Numbers
	// Objects holds the files; to delete a job.
	Objects blob.Store
	// Links makes the addresses of files; to read a job.
	Links blob.Linker
	// Wake, if set, tells a worker in the same process of a job that was requested or deleted. Without it the next call of
	// one finds the job.
	Wake func()
}

// Jobs are the exports that users ask for. It is safe for concurrent use.
//
// The key of a job is its number, one more than that of the user's last. So of two requests one puts its row, and the
// other reads again: no more are open, and in a day, than the limits say.
type Jobs struct{ JobsConfig }

// NewJobs returns the jobs. It panics if the Store or Now is missing: a mistake in the program.
func NewJobs(c JobsConfig) *Jobs {
	if c.Store == nil || c.Now == nil {
		panic("transfer: a part of the JobsConfig is missing")
	}
	if c.Limits == nil {
		c.Limits = limit.Default()
	}
	return &Jobs{c}
}

// Request puts a new job. The error is a [*limit.QuotaError] if one is open, or if the day has had its number.
func (j *Jobs) Request(ctx context.Context, user string) (Job, error) {
	if err := entity.CheckUserID(user); err != nil {
		return Job{}, fmt.Errorf("user: %w", err)
	}
	request := j.NewID()
	for range requestTries {
		now := j.Now().UTC().Truncate(time.Second)
		n, err := j.room(ctx, user, now)
		if err != nil {
			return Job{}, err
		}
		row := newJob(user, account.ExportID(n), request, now)
		err = j.Store.Put(ctx, table.Put{Item: row, If: table.NotExists()})
		var failed *table.ConditionError
		switch isOther := errors.As(err, &failed) && failed.Failures[0].Old.Str(attrRequest) != request; {
		case isOther:
			continue
		case err != nil && failed == nil:
			return Job{}, fmt.Errorf("request an export: %w", err)
		}
		j.wake()
		made, err := readJob(row)
		return made.Job, err
	}
	return Job{}, fmt.Errorf("request an export: %w", table.ErrConflict)
}

func (j *Jobs) wake() {
	if j.Wake != nil {
		j.Wake()
	}
}

// room returns the number of the next job, if there may be one.
func (j *Jobs) room(ctx context.Context, user string, now time.Time) (n int, err error) {
	all, err := jobs(ctx, j.Store, user)
	if err != nil {
		return 0, err
	}
	open, today := 0, 0
	for _, r := range all {
		if n, _ = account.ExportNumber(r.ID); r.State.IsOpen() {
			open++
		}
		if now.Sub(r.CreatedAt) < day {
			today++
		}
	}
	for _, used := range []struct {
		name string
		used int
	}{{limit.OpenExports, open}, {limit.DailyExports, today}} {
		if q := (limit.Quota{Name: used.name, Limit: j.Limits[used.name], Used: used.used}); q.IsFull() {
			return 0, &limit.QuotaError{Quota: q}
		}
	}
	return n + 1, nil
}

const day = 24 * time.Hour

// List returns the user's jobs, the newest first.
func (j *Jobs) List(ctx context.Context, user string) ([]Job, error) {
	rows, err := jobs(ctx, j.Store, user)
	if err != nil {
		return nil, err
	}
	now, out := j.Now(), []Job{}
	for _, r := range slices.Backward(rows) {
		if r.State != deleted && now.Sub(r.movedAt) < JobRetention {
			out = append(out, r.Job)
		}
	}
	return out, nil
}

// Get returns a job, or [ErrNoJob].
func (j *Jobs) Get(ctx context.Context, user, id string) (Job, error) {
	r, err := findJob(ctx, j.Store, user, id, j.Now())
	if err == nil && (r == nil || r.State == deleted) {
		err = ErrNoJob
	}
	if err != nil {
		return Job{}, err
	}
	return r.Job, nil
}

// Link returns an address of the file of a job, and until when it serves; an empty one if there is no file.
func (j *Jobs) Link(ctx context.Context, user string, of Job) (address string, until time.Time, err error) {
	if !of.HasFile(j.Now()) {
		return "", time.Time{}, nil
	}
	return j.Links.Link(ctx, fileName(user, of.ID), linkedFile, min(LinkLifetime, of.FileEndsAt().Sub(j.Now())))
}

// Delete ends a job and its file: from then on it cannot be read. A worker that is at work notices at its next part.
// The next call of one removes former versions and parts, and does so again once the job is [Abandoned].
func (j *Jobs) Delete(ctx context.Context, user, id string) error {
	r, err := findJob(ctx, j.Store, user, id, j.Now())
	if err == nil && (r == nil || r.State == deleted) {
		err = ErrNoJob
	}
	if err != nil {
		return err
	}
	for range requestTries {
		set, remove := end(deleted, j.Now().UTC().Truncate(time.Second))
		set[attrRevision] = item.Int(r.revision + 1)
		// Without the worker's name: a worker must not take this change for one of its own.
		remove = append(remove, attrWorker, attrCounts, attrLines, attrFileBytes, attrReason)
		_, err = j.Store.Update(ctx, table.Update{
			Key: account.ExportKey(user, id), Set: set, Remove: remove,
			If: table.Exists(table.Equal(attrRevision, item.Int(r.revision))),
		})
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			break
		}
		if r, err = findJob(ctx, j.Store, user, id, j.Now()); err != nil || r == nil || r.State == deleted {
			break // also by this request, whose answer was lost
		}
		err = table.ErrConflict
	}
	if err == nil {
		err = j.Objects.Delete(ctx, fileName(user, id))
	}
	if err != nil {
		return fmt.Errorf("delete an export: %w", err)
	}
	j.wake()
	return nil
}
