package api_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"nexus/pkg/archive"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

func (w *editing) lapsed(it item.Item) bool { return entity.Expired(it, w.clock()) }

// system lets a reminder ring, takes an end off, sweeps, restores, or delivers to archive.
func (w *editing) system() {
	w.deliver()
	var ids, ended []string
	for _, id := range slices.Sorted(maps.Keys(w.items)) {
		ids = append(ids, id)
		if w.items[id].Has(entity.AttrTTL) {
			ended = append(ended, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	id := ids[w.IntN(len(ids))]
	if len(ended) > 0 && w.one(2) {
		id = ended[w.IntN(len(ended))]
	}
	it := w.items[id]
	switch k := w.IntN(100); {
	case w.lapsed(it) && k < 50:
		w.store.Sweep(w.clock(), 0)
	case w.lapsed(it):
		w.restore(id)
	case it.Has(entity.AttrTTL) && k < 50:
		w.takeOff(it)
	case k < 80:
		w.ring(it)
	}
	w.follow()
}

// ring records on the reminder that it rang, as its delivery does.
func (w *editing) ring(it item.Item) {
	after := it.Clone()
	trigger, _ := it.Time(product.AttrTriggerUtc)
	if snooze := it.Map(product.AttrSnoozeState); snooze != nil {
		at, _ := snooze.Time(product.SnoozeOccurrenceUtc)
		after.SetTime(product.AttrFiredOccurrenceUtc, at)
		after.SetTime(product.AttrLastFiredUtc, at)
		delete(after, product.AttrSnoozeState)
		after[entity.AttrStatus] = item.String(product.StatusPending)
	} else if it.Str(entity.AttrStatus) == product.StatusPending {
		after.SetTime(product.AttrFiredOccurrenceUtc, trigger)
		after.SetTime(product.AttrLastFiredUtc, trigger)
		_, err := product.PassTrigger(after, trigger)
		w.NoError(err)
	}
	w.writeBySystem(it, after)
}

func (w *editing) writeBySystem(before, after item.Item) {
	next := w.reminder.NextVersion(entity.BySystem, w.user, before, after, w.clock(), nil)
	unchanged := table.AtVersion(before.Int(entity.AttrVersion))
	_, err := w.store.Update(context.Background(), table.Diff(before, next, unchanged))
	w.NoError(err)
}

// takeOff takes the end off, as a repair does: the reminder stays.
func (w *editing) takeOff(it item.Item) {
	after := it.Clone()
	after.SetTime(entity.AttrRestoredAt, w.clock())
	if !w.flaw.endOffAtItsVersion {
		delete(after, entity.AttrTTL)
		w.writeBySystem(it, after)
		return
	}
	_, err := w.store.Update(context.Background(), table.Update{
		Key: it.Key(), Set: item.Item{entity.AttrRestoredAt: after[entity.AttrRestoredAt]}, Remove: []string{entity.AttrTTL},
		If: table.AtVersion(it.Int(entity.AttrVersion)),
	})
	w.NoError(err)
}

// deliver hands records to archive, in their order.
func (w *editing) deliver() {
	w.follow()
	for len(w.changes) > 0 {
		for _, outcome := range w.archiver.Apply(context.Background(), w.changes[:1]) {
			w.NoError(outcome.Err)
		}
		w.changes = w.changes[1:]
		w.follow()
	}
}

// restore brings a reminder back, swept or not.
func (w *editing) restore(id string) {
	payload, err := json.Marshal(map[string]any{"userId": w.user, "commands": []any{map[string]any{
		"id": w.nextID("restore"), "type": "RestoreArchived", "data": map[string]any{"id": id},
	}}})
	w.NoError(err)
	out, err := w.api.Run(context.Background(), payload)
	w.NoError(err)
	w.Regexp(`"status":(200|404|409|410)`, string(out))
	w.follow()
}

// restoreAny restores something that was swept.
func (w *editing) restoreAny() {
	w.deliver()
	copies, _, err := archive.New(w.archive).List(context.Background(), w.user, 100, nil)
	w.NoError(err)
	var ids []string
	for _, c := range copies {
		if w.items[c.Ref.ID] == nil {
			ids = append(ids, c.Ref.ID)
		}
	}
	if len(ids) > 0 {
		w.restore(ids[w.IntN(len(ids))])
	}
}
