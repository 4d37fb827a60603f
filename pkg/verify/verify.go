package verify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/archive"
	"nexus/pkg/changes"
	"nexus/pkg/deliver"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/projection"
	"nexus/pkg/reminders"
	"nexus/pkg/revision"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
	"nexus/pkg/webhook"
)

// Kind is the subject of a difference.
type Kind string

const (
	Statistics Kind = "statistics" // a number in a sum, or a repair of one that did not finish
	Ledger     Kind = "ledger"     // what a projection last applied of an item
	Edge       Kind = "link"       // a row of a projection that keeps rows
	Schedule   Kind = "schedule"
	Late       Kind = "late"     // a reminder that came due and was not delivered, though it still can be
	Delivery   Kind = "fence"    // a delivery that began more than 10 minutes ago and did not end
	Outbox     Kind = "outbox"   // a delivery on a device, or a message, that is due and that nothing calls for any more
	Walk       Kind = "walk"     // a walk over items without progress
	Archive    Kind = "archive"  // timer, end or cold copy of an item
	Exception  Kind = "instance" // an exception whose series is gone
	Gone       Kind = "gone"     // an item that is there and was deleted
	Stray      Kind = "stray"    // a row that belongs to no possible item
	Snapshot   Kind = "snapshot" // rows of a repository's revision that was never committed
	Receipt    Kind = "receipt"  // a receipt of a write that is not there
	Kept       Kind = "kept"     // a KEPT row that no item names
	Change     Kind = "change"   // what a change log does not name; a damaged row of one
	Plan       Kind = "plan"     // a plan whose day has no row
	Erased     Kind = "erased"   // rows or schedules of an erased account
	Count      Kind = "count"    // counts by which quotas are judged, and that are far from what there is
)

// Difference is one deviation from what the items require.
type Difference struct {
	Kind     Kind   `json:"kind"`
	User     string `json:"user"`
	Key      string `json:"key"` // of the row, or the name of the schedule or object
	Is       string `json:"is"`
	ShouldBe string `json:"shouldBe"`
	// Remains says that it still exists: always without repair, and with repair if it was found again afterwards.
	Remains bool `json:"remains"`

	offset int64 // of a schedule
}

// Options select what to verify.
type Options struct {
	User   string // empty for all
	Repair bool
	// Progress is called now and then with the number of rows read; optional.
	Progress func(rows int64)
}

// Check returns an error that wraps [entity.ErrID] if the user cannot be one.
func (o Options) Check() error {
	if o.User == "" {
		return nil
	}
	return entity.CheckUserID(o.User)
}

// Summary counts a run.
type Summary struct {
	Users int64 `json:"users"`
	Items int64 `json:"items"`
	Rows  int64 `json:"rows"` // read, repetitions included
	Found int64 `json:"found"`
	// Remaining counts the differences that still exist.
	Remaining int64 `json:"remaining"`
	// Unsettled counts items and sums that changed in every read, and repairs that failed: their state is unknown.
	Unsettled int64 `json:"unsettled"`
	// Unchecked names what could not be read for lack of access.
	Unchecked []string `json:"unchecked,omitempty"`
}

// Config holds the dependencies of a verification. Fields that are not marked as optional are required.
type Config struct {
	Store       table.Store
	Walker      table.Walker // optional: without it only a named user can be verified
	Registry    *entity.Registry
	Projections []*projection.Projection
	Archive     *archive.Consumer   // without an object store the contents of copies are not read
	Reminders   *reminders.Repairer // optional, together with Notifier and Schedules
	Notifier    *reminders.Notifier
	Schedules   schedule.Lister
	// Devices has deliveries on devices tried again; without it they are not checked.
	Devices *deliver.Outbox
	// Webhooks has messages to webhooks sent; without it they are not checked.
	Webhooks *webhook.Outbox
	// Changes appends to change logs; without it they are not checked.
	Changes *changes.Consumer
	// Repositories reads the drafts of versioned repositories, and publishes nothing here; optional.
	Repositories *revision.Publisher
	// Accounts tells which accounts leave or are gone: nothing is named or repaired for them. Without it a repair is
	// refused in a table that has had such an account; optional. Forget erases what is left of an erased one; optional.
	Accounts *account.Fence
	Forget   func(ctx context.Context, user string) error
	// Limits are the limits of each user, by which a count is judged; those of [limit.Default] if nil.
	Limits   limit.Numbers
	Now      func() time.Time
	NewOwner func() string // unique names of repairs
	// Grace is the pause between the two reads of a possible difference, longer than the usual delay of the stream; Wait
	// makes it.
	Grace time.Duration
	Wait  func(context.Context, time.Duration) error
	Log   *slog.Logger
}

// Verifier verifies. It is safe for concurrent use, and concurrent repairs exclude each other per user.
type Verifier struct {
	Config
	consumers []*projection.Consumer // as Projections
}

// New returns a verifier. It panics on an incomplete configuration, a mistake in the program.
func New(c Config) *Verifier {
	reminding := c.Reminders != nil && c.Notifier != nil && c.Schedules != nil
	partly := c.Reminders != nil || c.Notifier != nil || c.Schedules != nil
	if c.Store == nil || c.Registry == nil || c.Archive == nil || c.Now == nil || c.NewOwner == nil || c.Wait == nil ||
		c.Log == nil || partly && !reminding {
		panic("verify: incomplete configuration")
	}
	v := &Verifier{Config: c}
	if v.Limits == nil {
		v.Limits = limit.Default()
	}
	for _, p := range c.Projections {
		v.consumers = append(v.consumers, projection.NewConsumer(p, c.Store, c.Now))
	}
	return v
}

// ErrNoWalker says that all users were requested, and the table cannot be walked.
var ErrNoWalker = errors.New("only a named user can be verified here")

// Run recounts and, if asked, repairs. Each difference is reported as it is found; an error of report ends the run.
func (v *Verifier) Run(ctx context.Context, o Options, report func(Difference) error) (Summary, error) {
	r := &run{Verifier: v, o: o, report: report, owner: v.NewOwner()}
	if v.Reminders == nil {
		r.sum.Unchecked = append(r.sum.Unchecked, "schedules, deliveries and walks: no scheduler is known")
	}
	if v.Archive.Copies == nil {
		r.sum.Unchecked = append(r.sum.Unchecked, "contents of cold copies: no object store is known")
	}
	if v.Devices == nil || v.Webhooks == nil {
		r.sum.Unchecked = append(r.sum.Unchecked, "outbox of devices and webhooks: no scheduler of theirs is known")
	}
	if v.Changes == nil {
		r.sum.Unchecked = append(r.sum.Unchecked, "change logs: no source of random bits is known")
	}
	err := r.all(ctx)
	r.sum.Unsettled += r.failed
	return r.sum, err
}

// run is one verification.
type run struct {
	*Verifier
	o      Options
	report func(Difference) error
	owner  string
	sum    Summary

	failed    int64 // repairs
	former    int64 // rows and schedules of a form before that remain
	away      map[string]account.State
	repairing bool // this pass repairs its findings
	suspects  []suspect
	expected  []announcement // what the current user's change log must say, as far as it was not compared
	// By projection, of the current user: rebuild says that the sum is to be repaired; recounted, that it was recounted
	// without interfering writes.
	rebuild, recounted map[int]bool
	master             knownMaster
	counted            counting // of this pass over the current user
}

func (r *run) all(ctx context.Context) error {
	if err := r.checkPepper(ctx); err != nil {
		return err
	}
	r.repairing = r.o.Repair
	if err := r.schedules(ctx); err != nil {
		return err
	}
	strays := r.sum.Found > 0
	if err := r.users(ctx); err != nil {
		return err
	}
	if !r.o.Repair {
		return nil
	}
	if strays {
		r.repairing = false
		if err := r.schedules(ctx); err != nil {
			return err
		}
	}
	return r.putForm(ctx)
}

// users calls user for each of them. A scan returns the rows of a partition together, so a change of user shows
// without a list of all.
func (r *run) users(ctx context.Context) error {
	if r.o.User != "" {
		if isAway, err := r.isAway(ctx, r.o.User, entity.UserPK(r.o.User)); isAway || err != nil {
			return err
		}
		if err := r.user(ctx, r.o.User); err != nil {
			return err
		}
		if err := r.heads(ctx, r.o.User, repository.Address{User: r.o.User}); err != nil {
			return err
		}
		if err := r.days(ctx, r.o.User); err != nil {
			return err
		}
		return r.snapshots(ctx, r.o.User)
	}
	if r.Walker == nil {
		return ErrNoWalker
	}
	last := ""
	return r.Walker.Walk(ctx, 0, 1, func(row item.Item) error {
		r.read(1)
		pk := row.Str(item.AttrPK)
		if pk == last {
			return nil
		}
		last = pk
		user, ok := userOf(pk)
		if !ok {
			return r.repository(ctx, row.Key())
		}
		if isAway, err := r.isAway(ctx, user, pk); isAway || err != nil {
			return err
		}
		return r.user(ctx, user)
	})
}

// userOf returns the user of a partition of items; not ok for a repository's, which has no derived data.
func userOf(pk string) (user string, ok bool) {
	user, err := entity.ParseUserPK(pk)
	return user, err == nil
}

// user verifies one user, and after a repair again.
func (r *run) user(ctx context.Context, user string) error {
	r.sum.Users++
	found, unsettled := r.sum.Found, r.sum.Unsettled
	r.recounted = map[int]bool{}
	r.repairing = r.o.Repair
	err := r.pass(ctx, user)
	if err != nil || !r.o.Repair || r.sum.Found == found && r.sum.Unsettled == unsettled {
		return err
	}
	r.repairing, r.sum.Unsettled = false, unsettled
	return r.pass(ctx, user)
}

func (r *run) pass(ctx context.Context, user string) error {
	r.rebuild, r.expected = map[int]bool{}, nil
	for _, step := range []func(context.Context, string) error{
		r.beginCount, r.items, r.endCount, r.strays, r.walks, r.outbox, r.webhooks, r.copies, r.recheckSuspects, r.kept,
		r.receipts, r.changes, r.sums,
	} {
		if err := step(ctx, user); err != nil {
			return fmt.Errorf("verify %s: %w", entity.UserPK(user), err)
		}
	}
	return nil
}

// found reports a difference. A repair's second finding was counted before.
func (r *run) found(d Difference) error {
	d.Remains = !r.repairing
	if r.repairing || !r.o.Repair {
		r.sum.Found++
	}
	if d.Remains {
		r.sum.Remaining++
		if d.isFormer() {
			r.former++
		}
	}
	return r.report(d)
}

// progressEvery is the number of rows between two calls of Progress.
const progressEvery = 1000

func (r *run) read(rows int) {
	before := r.sum.Rows
	r.sum.Rows += int64(rows)
	if r.o.Progress != nil && before/progressEvery != r.sum.Rows/progressEvery {
		r.o.Progress(r.sum.Rows)
	}
}
