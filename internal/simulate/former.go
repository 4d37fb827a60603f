//go:build predecessor

package simulate

import (
	"context"

	"nexus/internal/simulate/before"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/reminders"
	oldarchive "nexus/predecessor/archive"
	oldchange "nexus/predecessor/change"
	oldcommand "nexus/predecessor/command"
	oldconsume "nexus/predecessor/consume"
	oldentity "nexus/predecessor/entity"
	oldlinks "nexus/predecessor/links"
	oldprojection "nexus/predecessor/projection"
	oldreminders "nexus/predecessor/reminders"
	oldstats "nexus/predecessor/stats"
)

func init() {
	newFormer = func(h *history) former { return newOtherRelease(h) }
}

// otherRelease is the release of another commit, compiled by package beside. It uses the ports of the history with its
// own types.
type otherRelease struct {
	h         *history
	registry  *oldentity.Registry
	consumers map[string]oldchange.Consumer
	notifier  *oldreminders.Notifier
	commands  *oldcommand.Service
	archive   *oldarchive.Archive
}

func newOtherRelease(h *history) *otherRelease {
	o := &otherRelease{h: h, registry: oldentity.Product(), consumers: map[string]oldchange.Consumer{}}
	store := before.Store{Of: storePort{h, nil}}
	reminding := oldreminders.Config{
		Store: store, Registry: o.registry, Scheduler: before.Scheduler{Of: h.schedules}, Bus: before.Bus{Of: h.bus},
		Now: h.clock, Log: h.logOf(reminders.Name),
		Observe: func(seen oldreminders.Observation) {
			h.observed(reminders.Name, reminders.Observation{Outcome: reminders.Outcome(seen.What)})
		},
	}
	archiving := oldarchive.Config{
		Store: store, Registry: o.registry, Copies: before.Blobs{Of: blobPort{h, h.copies}}, Bus: before.Bus{Of: h.bus},
		Now: h.clock,
	}
	for _, c := range []oldchange.Consumer{
		oldprojection.NewConsumer(oldstats.Projection(), store, h.clock),
		oldprojection.NewConsumer(oldlinks.Projection(), store, h.clock),
		oldprojection.NewConsumer(o.ownSum(), store, h.clock),
		oldreminders.New(reminding),
		oldarchive.NewConsumer(archiving),
	} {
		o.consumers[c.Name()] = c
	}
	o.archive = oldarchive.New(archiving)
	o.notifier = oldreminders.NewNotifier(reminding)
	o.commands = oldcommand.New(oldcommand.Config{Store: store, Registry: o.registry, Now: h.clock, NewID: h.newID})
	return o
}

// ownSum is the product's own sum: the same function of an item on the other release's engine.
func (o *otherRelease) ownSum() *oldprojection.Projection {
	return oldprojection.NewOwnSum(ownName, ownRevision, func(t *oldentity.Type, it oldentity.Item) oldprojection.Amounts {
		return oldprojection.Amounts(ownAmounts(o.h.registry.ByName(t.Name), before.FromItem(it)))
	})
}

// loop implements [former].
func (o *otherRelease) loop(names []string) handler {
	var consumers []oldchange.Consumer
	for _, name := range names {
		consumers = append(consumers, oldWatched{o.consumers[name], o.h})
	}
	if len(consumers) == 0 {
		return nil
	}
	loop, err := oldconsume.New(oldconsume.Config{
		Registry: o.registry, Consumers: consumers, Parking: before.Blobs{Of: blobPort{o.h, o.h.parking}},
		Log: o.h.logOf("loop"), Now: o.h.clock, InTurn: true,
		Observe: func(consumer string, c oldconsume.Counts) {
			o.h.counted(consumer, consume.Counts{
				Records: c.Records, Done: c.Done, Parked: c.Parked, Unfinished: c.Unfinished, Already: c.Already,
			})
		},
		Wait: o.h.wait,
	})
	if err != nil {
		panic("simulate: " + err.Error()) // the parts above do not fit together
	}
	return loop.Handle
}

// notify implements [former].
func (o *otherRelease) notify(ctx context.Context, payload []byte) error {
	return before.FromError(o.notifier.Handle(ctx, payload))
}

// oldWatched is [history.watching] for a consumer of the other release.
type oldWatched struct {
	oldchange.Consumer
	h *history
}

// Folds implements the other release's Folder.
func (w oldWatched) Folds() bool {
	f, ok := w.Consumer.(oldchange.Folder)
	return ok && f.Folds()
}

// Apply implements the other release's Consumer.
func (w oldWatched) Apply(ctx context.Context, batch []oldchange.Change) []oldchange.Outcome {
	seen := make([]change.Change, len(batch))
	for i, c := range batch {
		seen[i] = change.Change{Ref: entity.Ref(c.Ref), Key: item.Key(c.Key), Version: c.Version, Sequence: c.Sequence}
	}
	outcomes := w.h.watching(oldApplier{w.Consumer, batch}).Apply(ctx, seen)
	out := make([]oldchange.Outcome, len(outcomes))
	for i, o := range outcomes {
		out[i] = oldchange.Outcome{Verdict: oldchange.Verdict(o.Verdict), Err: o.Err, Already: o.Already}
	}
	return out
}

// oldApplier applies a batch of the other release and ignores its input, which is the same batch in this one's types.
type oldApplier struct {
	consumer oldchange.Consumer
	batch    []oldchange.Change
}

// Name implements [change.Consumer].
func (a oldApplier) Name() string { return a.consumer.Name() }

// AcceptsBatches implements [change.BatchConsumer], since the other release's loop is not judged.
func (a oldApplier) AcceptsBatches() {}

// Apply implements [change.Consumer].
func (a oldApplier) Apply(ctx context.Context, _ []change.Change) []change.Outcome {
	outcomes := a.consumer.Apply(ctx, a.batch)
	out := make([]change.Outcome, len(outcomes))
	for i, o := range outcomes {
		out[i] = change.Outcome{Verdict: change.Verdict(o.Verdict), Err: o.Err, Already: o.Already}
	}
	return out
}
