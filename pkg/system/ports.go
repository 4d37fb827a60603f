package system

import (
	"context"
	"io"
	"log/slog"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/deliver"
	"nexus/pkg/limit"
	"nexus/pkg/pepper"
	"nexus/pkg/push"
	"nexus/pkg/queue"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
	"nexus/pkg/text"
	"nexus/pkg/webhook"
)

// The parts that use the table, in addition to the consumers, which have their own names.
const (
	PartAPI     = "api" // all services
	PartLimits  = "limits"
	PartNotify  = "notify"
	PartWalk    = "walk"
	PartVerify  = "verify"
	PartErase   = "erase"
	PartDeliver = "deliver"
	PartWebhook = "webhook"
	// PartTransfer exports and imports accounts.
	PartTransfer = "transfer"
)

// Ports holds the dependencies of a system. Store and Now are required. [System] says which part needs which of the
// others.
type Ports struct {
	// Store returns the table for the named part, so that capacity is attributed to the part.
	Store func(part string) table.Store
	// Now dates what the system writes, and decides what is due.
	Now func() time.Time
	// Log returns the log of the named part; nil discards everything.
	Log func(part string) *slog.Logger

	// NewID returns a new UUIDv4 in lower case, for items, requests and repairs.
	NewID func() string
	// Pause waits between two attempts of a command; see [command.RandomPause].
	Pause func(ctx context.Context, most time.Duration) error
	// NewRevisionID returns a new UUIDv4 in lower case, for revisions and their parts.
	NewRevisionID func() string
	// LoadInTransactions is for the local engine; see [revision.Config].
	LoadInTransactions bool
	// Limits are the limits of each user, for requests over HTTP; nil for none. They need Draw, a random number from 0 to
	// 1 that no client can foresee.
	Limits limit.Numbers
	Draw   func() float64
	// SyncForm is the deployment's form of sync tokens; see [query.Config].
	SyncForm uint16
	// Random is the source of secret calendar addresses, and of what distinguishes rows of change logs: it must be fit for
	// cryptography.
	Random io.Reader
	// LogsAtOnce is the number of users of a batch whose change logs are written at a time; 0 means 1.
	LogsAtOnce int
	// Appended, if set, observes what the consumer of changes appends.
	Appended func(ctx context.Context, of []changes.Appended)
	// Pusher sends the live hints that follow; without it there are none. HintBound is the time that those of a batch
	// have together, 0 for no bound. Hinted, if set, observes how many were sent and how many were not.
	Pusher    push.Pusher
	HintBound time.Duration
	Hinted    func(sent, dropped int)

	// Hints is where apps subscribe to live hints; the zero Place says that there are none.
	Hints push.Place

	Scheduler schedule.Scheduler
	Bus       bus.Bus
	// Announces are the detail types that the archive publishes, of [archive.Events]; empty for none.
	Announces []string
	// Queue takes the walks that records set off.
	Queue queue.Queue
	// Lead is the least time between now and the instant of a schedule; 0 for the usual time.
	Lead time.Duration
	// WalkFor is how long a call of the walker works; 0 for the usual time.
	WalkFor time.Duration
	// Copies holds the cold copies.
	Copies blob.Store
	// Split says which words a text has, for searches; without it there are none. Snapshots holds indexes of words;
	// without it each search reads all items.
	Split     func(string) []text.Word
	Snapshots blob.Store
	// SearchFailed, if set, observes snapshots that could not be read or kept.
	SearchFailed func(error)
	// Reminded, if set, observes the reminders of the named part: [reminders.Name], PartWalk or PartNotify. A
	// verification counts as the consumer.
	Reminded func(part string, o reminders.Observation)

	// Pepper names the accounts that leave; without it none can leave, and no fence asks for their state. Memory is how
	// long a state is remembered.
	Pepper pepper.Pepper
	Memory time.Duration
	// Erasing holds what the erasure of accounts needs besides; without it none is erased.
	Erasing *Erasing

	// Exports holds what the exports that users ask for need besides; without it there are none.
	Exports *Exports

	// Pushes holds what telling devices of reminders needs besides; without it none is told.
	Pushes *Pushes

	// Webhooks holds what calling webhooks needs besides; without it none is called.
	Webhooks *Webhooks

	// Wait makes the pause of a verification between its two reads of a difference; Grace is its length.
	Wait   func(ctx context.Context, d time.Duration) error
	Grace  time.Duration
	Walker table.Walker    // without it, a verification covers one named user only
	Lister schedule.Lister // without it, a verification checks no schedule
	// Telling puts the schedules by which a verification has devices and webhooks told, where this process tells none.
	Telling schedule.Scheduler
}

// Pushes holds the ports of reminders on devices alone. All are required but Told.
type Pushes struct {
	Sender deliver.Sender
	// Key is the public key of the deployment, and CheckEndpoint refuses endpoints that may not be called.
	Key           string
	CheckEndpoint func(endpoint string) error
	// Told, if set, observes what becomes of deliveries on devices.
	Told func(deliver.Outcome)
}

// Webhooks holds the ports of webhooks alone. All are required but those with a remark.
type Webhooks struct {
	// Client sends messages; without it they are put, and none is sent: no other member is needed then.
	Client webhook.Client
	Master webhook.Master
	// CheckURL refuses addresses that may not be called.
	CheckURL func(address string) error
	// Draw returns a random number from 0 to 1.
	Draw func() float64
	// Invoke calls the worker without waiting for it; optional.
	Invoke func(ctx context.Context, payload []byte) error
	// AtOnce is the number of messages to an endpoint that are sent side by side, and of users of a batch that the
	// consumer works for; 0 means 1.
	AtOnce int
	// Most is the number of messages to an endpoint that may be pending; 0 means [webhook.MaxPending].
	Most int
	// Happened and Stamp are those of [webhook.Outbox] and [webhook.Config]; optional.
	Happened func(change.Change) time.Time
	Stamp    func() time.Time
	// Told, if set, observes what becomes of messages.
	Told func(webhook.Outcome)
}

// Exports holds the ports of exports alone. All are required but Wake.
type Exports struct {
	// Objects is the archive bucket, and Links makes addresses of its objects.
	Objects blob.Streamer
	Links   blob.Linker
	// Clock is the one by which the deadlines of contexts count; that of the system if nil.
	Clock func() time.Time
	// Abandoned is [transfer.Abandoned], except where no more than one worker lives.
	Abandoned time.Duration
	// Wake, if set, tells the worker that there is something to do.
	Wake func()
}

// Erasing holds the ports of the erasure alone. Those without a remark are required.
type Erasing struct {
	Archive, Parking, Snapshots blob.Purger
	// Bus gets the events of erasures.
	Bus bus.Bus
	// Wait waits in the erasure's time.
	Wait func(ctx context.Context, d time.Duration) error
	// See [account.EraserConfig].
	Patience, EdgeTime time.Duration
	Rate               int
	WaitForOthers      func(context.Context) error                                                 // optional
	Forget             func(ctx context.Context, user string, counts bool) (account.Survey, error) // optional
}
