package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Config holds the dependencies of a [Service]. Every field is required.
type Config struct {
	Store    table.Store
	Registry *entity.Registry
	// Now is the clock that dates every write.
	Now func() time.Time
	// NewID returns a new UUIDv4 in lower case: the part of a server-made id after its prefix.
	NewID func() string
	// Pause waits between two attempts of a command, for a random part of most or until the context ends. An error ends
	// the command. Programs have [RandomPause].
	Pause func(ctx context.Context, most time.Duration) error
}

// Service carries out commands. It is safe for concurrent use.
type Service struct {
	store    table.Store
	registry *entity.Registry
	now      func() time.Time
	newID    func() string
	wait     func(ctx context.Context, most time.Duration) error
	meta     *entity.Type
	// compressors holds idle *gzip.Writer: each takes 800 KB.
	compressors sync.Pool
}

// New returns a service. It panics if a part is missing, or if the registry has no USER_META: mistakes in the program.
func New(c Config) *Service {
	if c.Store == nil || c.Registry == nil || c.Now == nil || c.NewID == nil || c.Pause == nil {
		panic("command: a part of the Config is missing")
	}
	meta := c.Registry.ByName(entity.TypeUserMeta)
	if meta == nil {
		panic("command: no " + entity.TypeUserMeta + " in the registry")
	}
	return &Service{store: c.Store, registry: c.Registry, now: c.Now, newID: c.NewID, wait: c.Pause, meta: meta}
}

// Request is one command of one user.
type Request struct {
	// User is the authenticated user's id.
	User string
	// ExpectedVersion is the version that the client has seen (If-Match). [Update], [Delete], [UpdateMe] and the commands
	// about series need it; the other changes use it if it is set.
	ExpectedVersion *int64
	// AnyVersion accepts any present version of the entity (If-Match: *). ExpectedVersion is nil then.
	AnyVersion bool
	// VersionOfSeries says that ExpectedVersion is the version of the series that the command's occurrence belongs to. It
	// then holds only while the occurrence does not differ from its series: a row of the occurrence's own may have the
	// same version by chance. The fingerprint of the request has the number alone.
	VersionOfSeries bool
	// IdempotencyKey makes a repetition of the request harmless for as long as Retention; empty for none. 1 to 255
	// printable characters.
	IdempotencyKey string
	// Retention is how long the request is remembered under its key; 0 for [idempotency.Retention].
	Retention time.Duration
	Command   Command
}

// Command is one of this package's command types: [Create], [Update], [Delete], [AddLink], [RemoveLink],
// [CreateSeries], [UpdateSeries], [EndSeries], [SplitSeries], [DeleteSeries], [PutInstance], [CancelInstance],
// [SnoozeReminder], [CompleteReminder], [DismissReminder], [UpdateMe], [CustomCommand], [DelegatedCommand].
type Command interface {
	// run carries the command out.
	run(ctx context.Context, c call) (Result, error)
	// content returns what identifies equal requests: the command's name and its parts, for JSON.
	content() []any
}

// Result is the answer to a command.
type Result struct {
	Type *entity.Type
	Ref  entity.Ref
	// Item is the entity as a reader sees it now; nil if Deleted.
	Item item.Item
	// Version is the version that the command made of the entity that it names, or found if it changed nothing. A
	// repetition has the same one, whatever became of the entity since. The entity of a [SplitSeries] is the old series.
	// 0 for a repetition of what a release before this one restored or split.
	Version int64
	// Row is the version of an occurrence's own row, 0 without one. It differs from that of Item where the occurrence has
	// no exception any more.
	Row int64
	// Ended is the series that was split, as it is now; Item is the one that continues it. Nil if it has gone since.
	Ended item.Item
	// Created says that the command made the entity (201).
	Created bool
	// Deleted says that the entity no longer exists (204): the command removed it, or the request is a replay and the
	// entity has gone since.
	Deleted bool
	// Removal is the version of the entity's removal by the command, also if the request is a replay; 0 if it removed
	// nothing.
	Removal int64
	// Walked is the number of a series' exceptions, undone ones too, if the command changed what affects them: the change
	// sets off a walk over them.
	Walked int
	// Replayed says that the command had been carried out before under the same idempotency key.
	Replayed bool
}

// Do carries out one command. Errors that a caller decides on:
//
//   - [*NotFoundError] (404), also for a link target, and for a malformed id, which no entity can have
//   - [*StaleError] (412) and [ErrNoVersion] (428)
//   - [*entity.ValidationError] (422), with all faults
//   - [idempotency.ErrKeyReused] (422) and [idempotency.ErrKey] (400), about the idempotency key
//   - [*StateError] (409)
//   - [entity.ErrID] for a malformed user id (400)
//   - [table.ErrThrottled], [table.ErrUnavailable], [table.ErrConflict] (503): try again later; only after
//     ErrUnavailable may the command have been carried out
func (s *Service) Do(ctx context.Context, r Request) (Result, error) {
	if err := entity.CheckUserID(r.User); err != nil {
		return Result{}, fmt.Errorf("user: %w", err)
	}
	c, err := s.newCall(r)
	if err != nil {
		return Result{}, err
	}
	if r.AnyVersion {
		return c.atAnyVersion(ctx, r.Command)
	}
	return r.Command.run(ctx, c)
}

// maxVersionsTried bounds how often a command at any version is repeated because of other writes.
const maxVersionsTried = 10

// atAnyVersion carries the command out at the entity's present version. The refusal of a wrong version names the
// present one, so it needs no read. Version 0 is that of an entity without a row.
func (c call) atAnyVersion(ctx context.Context, cmd Command) (Result, error) {
	version := int64(0)
	for range maxVersionsTried {
		c.expected = &version
		res, err := cmd.run(ctx, c)
		var stale *StaleError
		if !errors.As(err, &stale) {
			return res, err
		}
		version = stale.Current
	}
	return Result{}, fmt.Errorf("at any version: %w", table.ErrConflict)
}
