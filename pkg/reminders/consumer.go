package reminders

import (
	"context"
	"errors"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
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

// Apply implements [change.Consumer]. It answers changes of one item together, after one read of it.
func (c *Consumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	outcomes := make([]change.Outcome, len(batch))
	works := map[item.Key]*work{}
	var order []*work
	for i, ch := range batch {
		switch {
		case ch.Type == nil:
		case ch.Type.Name == entity.TypeUserMeta:
			if zoneName(ch.User, ch.Old) != zoneName(ch.User, ch.New) {
				zone := c.moveZone(ch.User, ch.Version)
				order = append(order, &work{walk: &zone, places: []int{i}})
			}
		case hasReminders(ch.Type):
			w := works[ch.Key]
			if w == nil {
				w = &work{item: target{ch.User, ch.Type, ch.Ref.ID}, scope: scope{}}
				works[ch.Key] = w
				order = append(order, w)
			}
			w.scope.add(ch.Type, ch.Old)
			w.scope.add(ch.Type, ch.New)
			w.places = append(w.places, i)
			if ch.Type.Name == entity.TypeMaster && changesOccurrences(ch.Old, ch.New) {
				series := c.moveSeries(ch.User, ch.Ref.ID, ch.Version)
				order = append(order, &work{walk: &series, places: []int{i}})
			}
		}
	}
	for _, w := range order {
		outcome := outcomeOf(c.do(ctx, w))
		for _, i := range w.places {
			if outcomes[i].Err == nil || outcome.Verdict == change.Retry { // a change may require two works: both must be done
				outcomes[i] = outcome
			}
		}
	}
	return outcomes
}

// work is the work that some changes of a batch require: reconciling one item, or setting off a walk.
type work struct {
	item   target
	scope  scope
	walk   *walk
	places []int // of the changes in the batch
}

func (c *Consumer) do(ctx context.Context, w *work) error {
	if w.walk != nil {
		return c.setOff(ctx, *w.walk)
	}
	if len(w.scope) == 0 {
		return nil // neither image has reminders, so there is none to set and none was set
	}
	r := run{engine: c.engine, target: w.item, scope: w.scope}
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
