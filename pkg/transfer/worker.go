package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	departing "nexus/pkg/account"
	"nexus/pkg/blob"
	"nexus/pkg/entity/account"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// partTime is the time after which a part takes no more rows. With what its last step takes it ends within the two
	// minutes that the fence allows for.
	partTime = time.Minute
	// timeForPart and timeForFile are what has to be left of a call for one more part, and for the file; of a short call
	// a fifth and two thirds.
	timeForPart = 3 * time.Minute
	timeForFile = 10 * time.Minute
	// maxJobTries is the number of workers that take a job up without one part more, before it has failed.
	maxJobTries = 6
)

// WorkerConfig holds the dependencies of a [Worker]. Those without a remark are required.
type WorkerConfig struct {
	*Service
	// Objects is the archive bucket.
	Objects blob.Streamer
	// NewID returns a name for a worker that no other has.
	NewID func() string
	// Clock is the one by which the deadlines of contexts count; Now if nil. A local system moves Now.
	Clock func() time.Time
	// Abandoned is the constant of this name, except where no more than one worker lives: there it may be 0.
	Abandoned time.Duration
}

// Worker carries exports out. It is safe for concurrent use, and beside others of the same table.
//
// # Why repeating is safe
//
// A job's row changes under its revision, so of two workers one goes on. Each part has a number of its own, also of
// workers that took the job over from one another: what the cursor names was put by the worker that moved it, and never
// again. Joining reads and makes the same each time. What a worker left that a crash ended, or that was overtaken, is
// removed once nothing of it can be alive.
type Worker struct{ WorkerConfig }

// NewWorker returns a worker. It panics if something is missing: a mistake in the program.
func NewWorker(c WorkerConfig) *Worker {
	if c.Service == nil || c.Objects == nil || c.NewID == nil {
		panic("transfer: a part of the WorkerConfig is missing")
	}
	if c.Clock == nil {
		c.Clock = c.Now
	}
	return &Worker{c}
}

// Run works on each job that waits or was abandoned, to its end or to that of its time, and removes what is left of
// those that have ended. An error of one does not keep it from the next.
func (w *Worker) Run(ctx context.Context) error {
	var errs []error
	call := w.newCall(ctx)
	q := table.Query{Index: table.StateView, Partition: account.ExportView()}
	for it, err := range table.Rows(ctx, w.Store, q, 0) {
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("read the open exports: %w", err))...)
		}
		if user, id, ok := account.ParseExportKey(it.Key()); ok {
			if err := w.work(ctx, call, user, id); err != nil {
				errs = append(errs, fmt.Errorf("export %s: %w", it.Key(), err))
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// Work does what there is to do of one job.
func (w *Worker) Work(ctx context.Context, user, id string) error {
	return w.work(ctx, w.newCall(ctx), user, id)
}

func (w *Worker) work(ctx context.Context, call call, user, id string) error {
	r, err := findJob(ctx, w.Store, user, id, w.Now())
	if err != nil || r == nil || !r.isListed {
		return err
	}
	if err := w.fence(ctx, user); err != nil {
		return unlessErased(err)
	}
	age := w.Now().Sub(r.movedAt)
	t := &task{Worker: w, jobRow: *r, worker: w.NewID(), call: call}
	switch {
	case !r.State.IsOpen():
		return t.tidy(ctx, age >= 0 && age < w.Abandoned)
	case r.State == Running && age >= 0 && age < w.Abandoned:
		return nil // another worker is at it
	case !t.hasTime():
		return nil // the next call has
	case r.tries >= maxJobTries:
		return t.fail(ctx, "it did not come further in several attempts")
	case t.isLong():
		return t.fail(ctx, errLong.Error())
	}
	return t.run(ctx)
}

// task is one worker's work on one job.
type task struct {
	*Worker
	jobRow
	worker string
	call   call
}

// call is the time of one call of a worker.
type call struct {
	isBound bool
	end     time.Time
	whole   time.Duration
}

func (w *Worker) newCall(ctx context.Context) call {
	end, isBound := ctx.Deadline()
	return call{isBound, end, end.Sub(w.Clock())}
}

// hasTime reports whether there is time for another part, or for the file.
func (t *task) hasTime() bool {
	need := min(timeForPart, t.call.whole/5)
	if t.cursor != nil && t.cursor.Done() {
		need = min(timeForFile, t.call.whole*2/3)
	}
	return !t.call.isBound || t.call.end.Sub(t.Clock()) >= need
}

// isLong reports whether the job was begun so long ago that its file can no longer be made, whatever has kept it.
func (t *task) isLong() bool {
	if t.cursor == nil {
		return false
	}
	from, err := readInstant(t.cursor.From)
	return err == nil && t.Now().Sub(from) > longest
}

var errJobOvertaken = errors.New("the export is another worker's, or ended")

// run takes the job up and carries it on.
func (t *task) run(ctx context.Context) error {
	c, err := t.Begin(t.user)
	if err != nil {
		return err
	}
	if t.cursor != nil {
		c = *t.cursor
		c.Next++ // the number of a part that another worker may have put, or may still put
	}
	t.tries++
	err = t.move(ctx, c, Running)
	for err == nil && !t.cursor.Done() {
		if !t.hasTime() {
			return t.release(ctx)
		}
		err = t.part(ctx)
	}
	if err == nil {
		if !t.hasTime() {
			return t.release(ctx)
		}
		err = t.finish(ctx)
	}
	switch {
	case errors.Is(err, errJobOvertaken):
		return nil
	case errors.Is(err, errLong):
		return t.fail(ctx, errLong.Error())
	}
	return unlessErased(err)
}

// unlessErased leaves out that the account is erased: its job goes with it.
func unlessErased(err error) error {
	if errors.Is(err, departing.ErrErased) {
		return nil
	}
	return err
}

// part makes one part, and then moves the cursor.
func (t *task) part(ctx context.Context) error {
	begun := t.Clock()
	full := func() bool { return t.Clock().Sub(begun) >= partTime }
	c, err := t.Part(ctx, t.user, *t.cursor, t.Objects, partsFolder(t.user, t.ID), full)
	if err != nil {
		return err
	}
	t.tries = 0
	return t.move(ctx, c, Running)
}

// move stores the cursor.
func (t *task) move(ctx context.Context, c Cursor, state JobState) error {
	set := item.Item{
		attrJobState: item.String(string(state)), attrCursor: item.String(string(encode(c))),
		attrLines: item.Int(int64(c.Lines)), attrTries: item.Int(t.tries),
	}
	list(set, t.second())
	if err := t.put(ctx, set, nil); err != nil {
		return err
	}
	t.cursor = &c
	return nil
}

func (t *task) second() time.Time { return t.Now().UTC().Truncate(time.Second) }

// put changes the row under its revision.
func (t *task) put(ctx context.Context, set item.Item, remove []string) error {
	set[attrRevision], set[attrWorker] = item.Int(t.revision+1), item.String(t.worker)
	_, err := t.Store.Update(ctx, table.Update{
		Key: account.ExportKey(t.user, t.ID), Set: set, Remove: remove,
		If: table.Exists(table.Equal(attrRevision, item.Int(t.revision))),
	})
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		old := failed.Failures[0].Old
		if old.Str(attrWorker) != t.worker || old.Int(attrRevision) != t.revision+1 {
			return errJobOvertaken
		}
		err = nil // the store's client repeated a write whose answer was lost
	}
	if err != nil {
		return fmt.Errorf("move the export: %w", err)
	}
	t.revision++
	return nil
}

// release leaves the job to the next call.
func (t *task) release(ctx context.Context) error { return t.move(ctx, *t.cursor, Waiting) }

// finish makes the file of the parts, ends the job, and removes the parts.
func (t *task) finish(ctx context.Context) error {
	var m Manifest
	var size counter
	err := t.Objects.Write(ctx, fileName(t.user, t.ID), func(to io.Writer) (err error) {
		size = counter{to: to}
		m, err = t.Join(ctx, t.user, *t.cursor, t.Objects, partsFolder(t.user, t.ID), &size)
		return err
	})
	if err != nil {
		return err
	}
	set, remove := end(Done, t.second())
	set[attrCounts], set[attrFileBytes] = item.String(string(encode(m.Counts))), item.Int(size.bytes)
	if err := t.put(ctx, set, remove); err != nil {
		return err
	}
	return t.clear(ctx, partsFolder(t.user, t.ID))
}

// fail ends a job that cannot be carried out.
func (t *task) fail(ctx context.Context, reason string) error {
	set, remove := end(Failed, t.second())
	set[attrReason] = item.String(reason)
	err := t.put(ctx, set, remove)
	if errors.Is(err, errJobOvertaken) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.clear(ctx, folder(t.user, t.ID))
}

// clear removes objects of a job that has ended.
func (t *task) clear(ctx context.Context, folder string) error {
	_, err := t.Objects.Purge(ctx, folder)
	return err
}

// tidy removes what is left of a job that has ended. Once nothing that worked on it can be alive, there is nothing more
// to do about the job.
func (t *task) tidy(ctx context.Context, mayBeAlive bool) error {
	remains := folder(t.user, t.ID)
	if t.State == Done {
		remains = partsFolder(t.user, t.ID)
	}
	if err := t.clear(ctx, remains); err != nil || mayBeAlive {
		return err
	}
	err := t.put(ctx, item.Item{}, []string{item.AttrGSI3PK, item.AttrGSI3SK})
	if errors.Is(err, errJobOvertaken) {
		return nil
	}
	return err
}

// counter counts what is written.
type counter struct {
	to    io.Writer
	bytes int64
}

func (c *counter) Write(text []byte) (int, error) {
	n, err := c.to.Write(text)
	c.bytes += int64(n)
	return n, err
}
