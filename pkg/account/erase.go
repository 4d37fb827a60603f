package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/pepper"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

const (
	// Patience is the time after which nothing is alive that read the former state: twice [Memory] and the two minutes
	// of the longest function, and a minute for the clocks' difference.
	Patience = 5 * time.Minute
	// EdgeTime is the time after which no cache at the edge answers with what it was given before.
	EdgeTime = 10 * time.Minute
	// Rate is the number of rows that an erasure removes in a second: the neighbours on its shard do not wait.
	Rate = 400
	// abandoned is the time after which an erasure that does not move is taken up by another worker.
	abandoned = 20 * time.Minute
	// lastStep is the step after which a pass is whole.
	lastStep = 6
)

// Errors of an erasure on which callers decide.
var (
	// ErrOvertaken says that another worker has taken the erasure over.
	ErrOvertaken = errors.New("another worker has taken the erasure over")
	// ErrForm says that rows or schedules may have an older form, in which an erasure would not find them.
	ErrForm = errors.New("no whole verify --repair has found all rows and schedules in the present form")
	// ErrLater says that a later call goes on with the erasure: see [EraserConfig.InCalls].
	ErrLater = errors.New("a later call goes on with the erasure")
	// ErrNotDue says that the account is to be erased later.
	ErrNotDue = errors.New("the erasure is not due")
)

// EraserConfig holds the dependencies of an [Eraser]. Those without a remark are required.
type EraserConfig struct {
	Config
	Archive   blob.Purger // as Objects
	Parking   blob.Purger
	Snapshots blob.Purger
	Scheduler schedule.Scheduler
	Schedules schedule.Lister
	Bus       bus.Bus
	// Consumers are the names of those that park records.
	Consumers []string
	// Digest returns the user's part of the names of schedules.
	Digest func(user string) string
	Log    *slog.Logger
	// NewID returns a name for a worker that no other has.
	NewID func() string
	Wait  func(context.Context, time.Duration) error
	// Patience and EdgeTime are the constants of these names, and Rate, except where one process is everything. A Rate of
	// 0 is none.
	Patience, EdgeTime time.Duration
	Rate               int
	// InCalls says that a call ends with [ErrLater] where it would have to wait for minutes. A call that comes
	// [abandoned] later goes on.
	InCalls bool
	// WaitForOthers, if set, returns when everything has ended that had begun before the call.
	WaitForOthers func(context.Context) error
	// Forget, if set, removes what only the local platform keeps of a user, and returns how much it removed; if it
	// counts, how much there is.
	Forget func(ctx context.Context, user string, counts bool) (Survey, error)
}

// Eraser erases accounts. It is safe for concurrent use, and beside others of the same table.
type Eraser struct {
	EraserConfig
	service *Service
}

// NewEraser returns an eraser. It panics if something is missing, a mistake in the program.
func NewEraser(c EraserConfig) *Eraser {
	if c.Archive == nil || c.Parking == nil || c.Snapshots == nil || c.Scheduler == nil || c.Schedules == nil ||
		c.Bus == nil || len(c.Consumers) == 0 || c.Digest == nil || c.Log == nil || c.NewID == nil || c.Wait == nil {
		panic("account: a part of the EraserConfig is missing")
	}
	c.Objects = c.Archive
	return &Eraser{c, New(c.Config)}
}

// Run works on every erasure that is due, and on those that another worker has left. It returns how many it finished.
// An error of one does not keep it from the next.
func (e *Eraser) Run(ctx context.Context) (finished int, err error) {
	var errs []error
	for it, err := range table.Rows(ctx, e.Store, e.due(e.Now()), 0) {
		if err != nil {
			return finished, fmt.Errorf("read the erasures that are due: %w", err)
		}
		name, ok := departure.Name(it.Key())
		if !ok {
			continue
		}
		_, err := e.erase(ctx, name, false, nil)
		switch {
		case err == nil:
			finished++
		case errors.Is(err, ErrNotDue), errors.Is(err, ErrLater), errors.Is(err, ErrOvertaken):
		default:
			errs = append(errs, fmt.Errorf("account %.8s…: %w", name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return finished, errors.Join(append(errs, e.endRequests(ctx))...)
}

// IsAnyDue reports whether an account is to be erased now.
func (e *Eraser) IsAnyDue(ctx context.Context) (bool, error) {
	page, err := e.Store.Query(ctx, e.due(e.Now()))
	if err != nil {
		return false, fmt.Errorf("read the erasures that are due: %w", err)
	}
	return len(page.Items) > 0, nil
}

// overdueAfter is how long after its instant an erasure that has not ended is overdue.
const overdueAfter = 24 * time.Hour

// Overdue counts the accounts that were to be erased more than a day ago.
func (e *Eraser) Overdue(ctx context.Context) (n int, err error) {
	for _, err := range table.Rows(ctx, e.Store, e.due(e.Now().Add(-overdueAfter)), 0) {
		if err != nil {
			return 0, fmt.Errorf("read the erasures that are overdue: %w", err)
		}
		n++
	}
	return n, nil
}

// due selects the accounts to be erased whose instant had come then.
func (e *Eraser) due(then time.Time) table.Query {
	return table.Query{
		Index: table.StateView, Partition: departure.StatePK(), Range: table.Range{To: item.FormatInstant(then)},
	}
}

// Erase erases the account of a user whose erasure is due, to the end. It takes an erasure over that another worker has
// begun. Of an account that is ERASED already it returns the zero [Erasure].
func (e *Eraser) Erase(ctx context.Context, user string) (Erasure, error) {
	return e.erase(ctx, e.Pepper.Erasure(user), true, nil)
}

// CheckForm returns [ErrForm] if an erasure may not begin in this table.
func (e *Eraser) CheckForm(ctx context.Context) error {
	it, err := table.Find(ctx, e.Store, departure.FormKey())
	if err == nil && it.Int(attrForm) < rowsAreOfForm {
		err = ErrForm
	}
	return err
}

// PepperRow returns the row by which a table recognises its pepper.
func PepperRow(p pepper.Pepper) item.Item {
	it := departure.PepperKey().Item()
	it[attrCheck] = item.String(p.Check())
	return it
}

// FormRow returns the row that says that all rows and schedules have the present form.
func FormRow() item.Item {
	it := departure.FormKey().Item()
	it[attrForm] = item.Int(rowsAreOfForm)
	return it
}

// erase works on one account until it is ERASED. The strays are those of [worker].
func (e *Eraser) erase(ctx context.Context, name string, takesOver bool, strays []string) (Erasure, error) {
	if err := e.CheckForm(ctx); err != nil {
		return Erasure{}, err
	}
	is, err := findRow(ctx, e.Store, name, e.Now())
	if err != nil {
		return Erasure{}, err
	}
	now := e.Now()
	w := &worker{Eraser: e, row: is, id: e.NewID(), strays: strays}
	switch {
	case is.state == Erased:
		return Erasure{}, nil
	case is.state == Present, is.user == "", is.state == Leaving && now.Before(is.eraseAt):
		return Erasure{}, ErrNotDue
	case is.state == Leaving:
		err = w.begin(ctx)
	case takesOver || now.Sub(is.movedAt) >= abandoned:
		err = w.move(ctx)
	default:
		return Erasure{}, ErrNotDue
	}
	if err != nil {
		return Erasure{}, err
	}
	err = w.run(ctx)
	return w.outcome(), err
}
