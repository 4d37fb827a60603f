package reminders

import (
	"context"
	"errors"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/port"
)

// Name is the consumer's one noun.
const Name = "reminders"

// Consumer maintains the schedules of all items with reminders.
type Consumer struct{ Repairer }

var _ change.Consumer = (*Consumer)(nil)

// New returns a consumer. It panics on an incomplete configuration, a mistake in the program.
func New(c Config) *Consumer { return &Consumer{Repairer{newPuttingEngine(c)}} }

// Name implements [change.Consumer].
func (*Consumer) Name() string { return Name }

// Apply implements [change.Consumer].
func (c *Consumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	outcomes := make([]change.Outcome, len(batch))
	for i, ch := range batch {
		outcomes[i] = outcomeOf(c.apply(ctx, ch))
	}
	return outcomes
}

// apply reconciles the changed item, and sets off the walk that the change requires. Neither needs the success of the
// other. An error that a repetition may resolve comes before one that none can.
func (c *Consumer) apply(ctx context.Context, ch change.Change) error {
	switch {
	case ch.Type == nil:
		return nil
	case ch.Type.Name == entity.TypeUserMeta && zoneName(ch.User, ch.Old) != zoneName(ch.User, ch.New):
		return c.setOff(ctx, c.moveZone(ch.User, ch.Version))
	case !hasReminders(ch.Type):
		return nil
	}
	err := c.reconcile(ctx, ch)
	if ch.Type.Name == entity.TypeMaster && changesOccurrences(ch.Old, ch.New) {
		walked := c.setOff(ctx, c.moveSeries(ch.User, ch.Ref.ID, ch.Version))
		if err == nil || isHopeless(err) && walked != nil {
			err = walked
		}
	}
	return err
}

// reconcile looks at the changed item, unless neither image has reminders: then there is none to set and none was set.
func (c *Consumer) reconcile(ctx context.Context, ch change.Change) error {
	seen := scope{}
	seen.add(ch.Type, ch.Old)
	seen.add(ch.Type, ch.New)
	if len(seen) == 0 {
		return nil
	}
	r := run{engine: c.engine, target: target{ch.User, ch.Type, ch.Ref.ID}, scope: seen}
	return r.reconcile(ctx)
}

// outcomeOf parks errors that no repetition can resolve, and repeats all others.
func outcomeOf(err error) change.Outcome {
	if err == nil {
		return change.Outcome{Verdict: change.Done}
	}
	if isHopeless(err) {
		return change.Outcome{Verdict: change.Poison, Err: err}
	}
	return change.Outcome{Verdict: change.Retry, Err: err}
}

// isHopeless reports whether no repetition can resolve the error.
func isHopeless(err error) bool { return errors.Is(err, errDamaged) || errors.Is(err, port.ErrInvalid) }
