package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/account"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// JobState is the state of a job.
type JobState string

// The states. A deleted job is none any more: its row stays, so that it counts as one of its day.
const (
	Waiting JobState = "WAITING"
	Running JobState = "RUNNING"
	Done    JobState = "DONE"
	Failed  JobState = "FAILED"
	deleted JobState = "DELETED"
)

// IsOpen reports whether the job goes on.
func (s JobState) IsOpen() bool { return s == Waiting || s == Running }

const (
	// JobRetention is how long a job is told of after its last change. Its row stays until a later job is as old.
	JobRetention = 8 * 24 * time.Hour
	// FileRetention is how long the file of a job stays: a rule of the bucket ends it.
	FileRetention = 7 * 24 * time.Hour
	// Abandoned is the time after which a job that does not move is taken over, and after which nothing is alive that
	// worked on one that has ended: no call of a function lasts that long.
	Abandoned = 20 * time.Minute
)

// Attributes of the row.
const (
	attrJobState  = "state"
	attrRequest   = "request"  // by which the request that put the row recognises it
	attrRevision  = "revision" // under which it changes
	attrWorker    = "worker"   // that changed it last
	attrMovedAt   = "movedAt"
	attrTries     = "tries" // workers that have taken it up since its last part
	attrCursor    = "cursor"
	attrLines     = "lines"
	attrCounts    = "counts"
	attrFileBytes = "bytes"
	attrEndedAt   = "endedAt"
	attrReason    = "reason"
)

// Job is an export that a user asked for.
type Job struct {
	ID        string
	State     JobState
	CreatedAt time.Time
	// EndedAt is the zero time while the job is open.
	EndedAt time.Time
	// Lines is how many lines were read so far.
	Lines int
	// Counts has the number of entities by their type, and of the other things; Bytes is the size of the file. Both are
	// of a job that is done.
	Counts map[string]int
	Bytes  int64
	// Reason says why a job failed.
	Reason string
}

// FileEndsAt is when the file of a job that is done ends.
func (j Job) FileEndsAt() time.Time { return j.EndedAt.Add(FileRetention) }

// HasFile reports whether there is a file to be read.
func (j Job) HasFile(now time.Time) bool { return j.State == Done && now.Before(j.FileEndsAt()) }

// ExportsPrefix begins the names of all objects of exports.
const ExportsPrefix = "exports/"

// folder is that of all objects of a job.
func folder(user, id string) string      { return ExportsPrefix + user + "/" + id + "/" }
func partsFolder(user, id string) string { return folder(user, id) + "parts/" }
func fileName(user, id string) string    { return folder(user, id) + "account.zip" }

// jobRow is a job's row as it was read.
type jobRow struct {
	Job
	user     string
	revision int64
	movedAt  time.Time
	tries    int64
	cursor   *Cursor // nil before the first part
	isListed bool    // in the state view: a worker has something to do
	ends     bool    // the row goes some time: it is not the user's last one
}

func readJob(it item.Item) (r jobRow, err error) {
	user, id, ok := account.ParseExportKey(it.Key())
	if !ok {
		return r, fmt.Errorf("%s is no key of an export", it.Key())
	}
	r = jobRow{user: user, revision: it.Int(attrRevision), tries: it.Int(attrTries), isListed: it.Has(item.AttrGSI3PK),
		ends: it.Has(entity.AttrTTL)}
	r.Job = Job{
		ID: id, State: JobState(it.Str(attrJobState)), Lines: int(it.Int(attrLines)), Bytes: it.Int(attrFileBytes),
		Reason: it.Str(attrReason),
	}
	r.CreatedAt, _ = it.Time(entity.AttrCreatedAt)
	r.EndedAt, _ = it.Time(attrEndedAt)
	r.movedAt, _ = it.Time(attrMovedAt)
	if text := it.Str(attrCounts); text != "" {
		err = json.Unmarshal([]byte(text), &r.Counts)
	}
	if text := it.Str(attrCursor); text != "" {
		err = errors.Join(err, json.Unmarshal([]byte(text), &r.cursor))
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", it.Key(), err)
	}
	return r, err
}

// newJob returns the row of a job that waits.
func newJob(user, id, request string, now time.Time) item.Item {
	it := account.ExportKey(user, id).Item()
	it[attrJobState], it[attrRequest] = item.String(string(Waiting)), item.String(request)
	it[attrRevision] = item.Int(1)
	it.SetTime(entity.AttrCreatedAt, now)
	list(it, now)
	return it
}

// list sets what a change at an instant sets of each row that a worker still has to do something about.
func list(it item.Item, now time.Time) {
	it.SetTime(attrMovedAt, now)
	it[item.AttrGSI3PK], it[item.AttrGSI3SK] = item.String(account.ExportView()), it[attrMovedAt]
}

// end returns the change of a job to a state that is no open one. A worker still has to remove what is left of it.
func end(state JobState, now time.Time) (set item.Item, remove []string) {
	set = item.Item{attrJobState: item.String(string(state))}
	set.SetTime(attrEndedAt, now)
	list(set, now)
	return set, []string{attrCursor, attrTries}
}

// jobs returns all rows of a user's jobs, oldest first.
func jobs(ctx context.Context, store table.Reader, user string) ([]jobRow, error) {
	var all []jobRow
	q := table.Query{Partition: entity.UserPK(user), Range: table.Range{Prefix: account.ExportPrefix()}}
	for it, err := range table.Rows(ctx, store, q, 0) {
		if err != nil {
			return nil, fmt.Errorf("read the exports: %w", err)
		}
		r, err := readJob(it)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// findJob returns the row of a job; nil if there is none in force.
func findJob(ctx context.Context, store table.Reader, user, id string, now time.Time) (*jobRow, error) {
	if _, ok := account.ExportNumber(id); !ok {
		return nil, nil
	}
	it, err := table.Find(ctx, store, account.ExportKey(user, id))
	if err != nil || it == nil {
		return nil, err
	}
	r, err := readJob(it)
	if err == nil && r.isPast(now) {
		return nil, nil
	}
	return &r, err
}

// isPast reports whether nothing is told of the job any more.
func (r *jobRow) isPast(now time.Time) bool {
	return !r.State.IsOpen() && now.Sub(r.movedAt) >= JobRetention
}
