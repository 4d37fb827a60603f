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
	"nexus/pkg/idempotency"
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
// other reads again: no more are open, and in a day, than the limits say. The last row stays for good, so that no
// number comes back: a late deletion, or an address of a file, is never that of another job.
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
		all, err := jobs(ctx, j.Store, user)
		if err != nil {
			return Job{}, err
		}
		if err := j.room(all, now); err != nil {
			return Job{}, err
		}
		row := newJob(user, account.ExportID(last(all)+1), request, now)
		actions := []table.Action{table.Put{Item: row, If: table.NotExists()}}
		err = j.Store.Transact(ctx, append(actions, endRows(all, now)...)...)
		var failed *table.ConditionError
		if errors.As(err, &failed) {
			if f, isMet := failed.At(0); !isMet || f.Old.Str(attrRequest) != request {
				continue
			}
		} else if err != nil {
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

// last returns the number of the last job; 0 if there was none.
func last(all []jobRow) (n int) {
	if len(all) > 0 {
		n, _ = account.ExportNumber(all[len(all)-1].ID)
	}
	return n
}

// endRows returns the changes after which the rows end that are the last no more.
func endRows(all []jobRow, now time.Time) (actions []table.Action) {
	for _, r := range all {
		if !r.ends {
			actions = append(actions, table.Update{
				Key: account.ExportKey(r.user, r.ID), If: table.Exists(),
				Set: item.Item{entity.AttrTTL: item.Int(now.Add(JobRetention).Unix())},
			})
		}
	}
	return actions
}

// room returns a [*limit.QuotaError] if there may be no other job.
func (j *Jobs) room(all []jobRow, now time.Time) error {
	open, today := 0, 0
	for _, r := range all {
		if r.State.IsOpen() {
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
			return &limit.QuotaError{Quota: q}
		}
	}
	return nil
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
		if r.State != deleted && !r.isPast(now) {
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
// The next call of one removes former versions and parts, and does so again once the job is [Abandoned]. A repetition
// under an idempotency key, "" for none, finds the receipt, which is put with the change. Errors are also [ErrNoJob],
// [idempotency.ErrKey] and [idempotency.ErrKeyReused].
func (j *Jobs) Delete(ctx context.Context, user, id, key string) (replayed bool, err error) {
	receipt, err := idempotency.New(user, key, 0, []any{"deleteExport", id})
	if err != nil {
		return false, err
	}
	isRefusal := func(err error) bool { return errors.Is(err, ErrNoJob) || errors.Is(err, table.ErrConflict) }
	before, err := receipt.Once(ctx, j.Store, j.Now, isRefusal, func() error { return j.delete(ctx, user, id, receipt) })
	if err != nil {
		return false, err
	}
	// A repetition does so, too: the first one may have ended in between.
	if err := j.Objects.Delete(ctx, fileName(user, id)); err != nil {
		return false, fmt.Errorf("delete an export: %w", err)
	}
	j.wake()
	return before != nil, nil
}

// delete changes the row of a job that is to be deleted.
func (j *Jobs) delete(ctx context.Context, user, id string, receipt *idempotency.Receipt) error {
	for range requestTries {
		now := j.Now().UTC().Truncate(time.Second)
		r, err := findJob(ctx, j.Store, user, id, now)
		switch {
		case err != nil:
			return err
		case r == nil || r.State == deleted:
			return ErrNoJob
		}
		set, remove := end(deleted, now)
		set[attrRevision] = item.Int(r.revision + 1)
		// Without the worker's name: a worker must not take this change for one of its own.
		remove = append(remove, attrWorker, attrCounts, attrLines, attrFileBytes, attrReason)
		actions := []table.Action{table.Update{
			Key: account.ExportKey(user, id), Set: set, Remove: remove,
			If: table.Exists(table.Equal(attrRevision, item.Int(r.revision))),
		}}
		if receipt != nil {
			actions = append(actions, receipt.Put(item.Item{entity.AttrStatus: item.String(string(deleted))}, now))
		}
		err = j.Store.Transact(ctx, actions...)
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			return err
		}
	}
	return fmt.Errorf("delete an export: %w", table.ErrConflict)
}
