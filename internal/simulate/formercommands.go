//go:build predecessor

package simulate

import (
	"context"
	"errors"
	"fmt"

	"nexus/internal/simulate/before"
	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	oldarchive "nexus/predecessor/archive"
	oldcommand "nexus/predecessor/command"
	oldentity "nexus/predecessor/entity"
	oldtable "nexus/predecessor/table"
)

// do implements [former]. The other release has other rules for commands about series and about delivered reminders:
// do refuses those.
func (o *otherRelease) do(r command.Request) (run func(ctx context.Context) (command.Result, error), takes bool) {
	asked, takes := o.command(r.User, r.Command)
	if !takes {
		return nil, false
	}
	request := oldcommand.Request{
		User: r.User, ExpectedVersion: r.ExpectedVersion, IdempotencyKey: r.IdempotencyKey, Command: asked,
	}
	return func(ctx context.Context) (command.Result, error) {
		res, err := o.commands.Do(ctx, request)
		return command.Result{
			Ref: entity.Ref(res.Ref), Item: before.FromItem(res.Item), Created: res.Created, Deleted: res.Deleted,
			Replayed: res.Replayed,
		}, fromOldRefusal(err)
	}, true
}

func (o *otherRelease) command(user string, cmd command.Command) (asked oldcommand.Command, takes bool) {
	named := func(t *entity.Type) *oldentity.Type { return o.registry.Named(t.Name) }
	switch c := cmd.(type) {
	case command.Create:
		return oldcommand.Create{Type: named(c.Type), ID: c.ID, Fields: c.Fields}, true
	case command.Update:
		return oldcommand.Update{Type: named(c.Type), ID: c.ID, Patch: c.Patch}, true
	case command.Delete:
		return oldcommand.Delete{Type: named(c.Type), ID: c.ID}, true
	case command.AddLink:
		return oldcommand.AddLink{Type: named(c.Type), ID: c.ID, Target: oldentity.Ref(c.Target), Relation: c.Relation}, true
	case command.RemoveLink:
		return oldcommand.RemoveLink{Type: named(c.Type), ID: c.ID, Target: oldentity.Ref(c.Target)}, true
	case command.DelegatedCommand: // the restore of an item
		write := func(ctx context.Context, more ...oldtable.Action) (oldentity.Item, error) {
			return o.archive.Restore(ctx, named(c.Type), user, c.ID, more...)
		}
		return oldcommand.External{Name: c.Name, Type: named(c.Type), ID: c.ID, Write: write}, true
	case command.UpdateMe:
		return oldcommand.UpdateMe{Patch: c.Patch}, true
	}
	return nil, false
}

// fromOldRefusal converts the answer of a command of the other release to this one's.
func fromOldRefusal(err error) error {
	var (
		notFound *oldcommand.NotFoundError
		stale    *oldcommand.StaleError
		state    *oldcommand.StateError
		invalid  *oldentity.ValidationError
	)
	switch {
	case errors.As(err, &notFound):
		return &command.NotFoundError{Ref: entity.Ref(notFound.Ref), Pointer: notFound.Pointer}
	case errors.As(err, &stale):
		return &command.StaleError{Ref: entity.Ref(stale.Ref), Current: stale.Current}
	case errors.As(err, &state):
		return &command.StateError{Ref: entity.Ref(state.Ref), Reason: state.Reason}
	case errors.As(err, &invalid):
		return fmt.Errorf("%w: %w", &entity.ValidationError{}, err)
	}
	for _, refusal := range [...]struct{ this, other error }{
		{command.ErrInProgress, oldcommand.ErrInProgress}, {archive.ErrNoCopy, oldarchive.ErrNoCopy},
		{archive.ErrAlive, oldarchive.ErrAlive}, {archive.ErrGone, oldarchive.ErrGone},
	} {
		if errors.Is(err, refusal.other) {
			return fmt.Errorf("%w: %w", refusal.this, err)
		}
	}
	return before.FromError(err)
}
