package reminders_test

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// watchRows holds every delivery, in the very moment it is put, against the item and the zone of that moment: nothing
// is published whose item had changed before its delivery. And a delivery that is sent stays sent, and no cursor goes
// back.
func (w *fixture) watchRows(c memory.Call) {
	if c.Stage != memory.After || c.Err != nil || c.Op != "Transact" && c.Op != "Update" {
		return
	}
	for _, key := range c.Keys {
		isFence, isCursor := strings.HasPrefix(key.SK, entity.RowFired), isCursorKey(key)
		if !isFence && !isCursor {
			continue
		}
		w.fault.pause(func() {
			row, err := w.store.Get(w.Context(), key)
			require.NoError(w, err)
			before := w.states[key]
			w.states[key] = row.Str("state")
			switch {
			case isCursor:
				w.revisions[key]++
				require.Equal(w, w.revisions[key], row.Int("revision"), "two workers wrote one page of %s", key)
			case before == "":
				require.True(w, w.wants(row), "the item does not want %s", key)
			case before == "sent":
				require.Equal(w, "sent", row.Str("state"))
			}
		})
	}
}

// wants says whether the delivery's item is due then, in the user's zone as it is now.
func (w *fixture) wants(delivery item.Item) bool {
	typ := w.registry.ByName(delivery.Str("itemType"))
	it, err := w.store.Get(w.Context(), w.key(delivery.Str("itemId")))
	return err == nil && slices.ContainsFunc(w.instants(typ, it), func(due instant) bool {
		return due.offset == delivery.Int("offsetMinutes") && at(due.occurrence) == delivery.Str("occurrenceUtc") &&
			at(due.due) == delivery.Str("dueUtc")
	})
}

// requireExact holds the outside against the table: the invariants I4 and I5 of docs/correctness.md.
func (w *fixture) requireExact() {
	w.Helper()
	meta, err := w.store.Get(w.Context(), entity.MetaKey(user))
	if err != nil {
		require.ErrorIs(w, err, table.ErrNotFound)
	}
	expected := map[string]instant{}
	for _, typ := range w.registry.Types() {
		if typ.Dues == nil {
			continue
		}
		for _, it := range w.rows(entity.ItemPrefix(typ.Name)) {
			id := it.Str(typ.IDAttr)
			desired, err := reminders.Desired(w.state(typ, it, meta), w.now)
			require.NoError(w, err)
			for name, in := range w.nextOf(typ, it) {
				expected[name] = in
			}
			for _, s := range desired {
				have, exists := w.scheduler.Entry(s.Name)
				require.True(w, exists, "%s has no schedule", id)
				require.Equal(w, string(s.Payload), string(have.Payload))
				require.False(w, have.Called)
				in, ok := expected[s.Name]
				require.True(w, ok, "%s is not to have a schedule at %s", id, s.At)
				call := callingOf(w.T, have.Schedule)
				require.Equal(w, at(in.due)+" of "+at(in.occurrence), call.DueUtc+" of "+call.OccurrenceUtc, "%s -%d",
					id, in.offset)
			}
		}
	}
	require.Len(w, w.scheduler.Entries(), len(expected), "schedules %v, expected %v", w.schedules(), expected)

	deliveries := map[string]bool{}
	for _, row := range w.rows(entity.ItemPrefix(entity.RowFired)) {
		require.Equal(w, "sent", row.Str("state"), "%s", row.Key())
		deliveries[row.Str("deliveryId")] = true
	}
	first := map[string]reminders.ReminderDue{}
	for _, e := range w.bus.details(w.T) {
		require.True(w, deliveries[e.DeliveryID], "published without a delivery: %v", e)
		if before, again := first[e.DeliveryID]; again {
			require.Equal(w, before, e)
		}
		first[e.DeliveryID] = e
	}
	require.Len(w, first, len(deliveries))
	require.LessOrEqual(w, w.counts[reminders.Delivered], len(deliveries))
}

// state gathers what there is of an item.
func (w *fixture) state(typ *entity.Type, it, meta item.Item) reminders.State {
	id := it.Str(typ.IDAttr)
	s := reminders.State{User: user, Type: typ, ID: id, Item: it, Meta: meta}
	s.Deliveries = w.rows(entity.DeliveryPrefix(id))
	switch typ.Name {
	case entity.TypeMaster:
		s.Instances = w.rows(entity.InstancePrefix(id))
	case entity.TypeInstance:
		s.Master, _ = w.store.Get(w.Context(), w.key(it.Str(product.AttrMasterID)))
	}
	return s
}

// requireNothingLost says of the items that are left that everything asked for in time was delivered.
func (w *fixture) requireNothingLost() {
	w.Helper()
	require.Zero(w, w.counts[reminders.Missed])
	for _, typ := range w.registry.Types() {
		if typ.Dues == nil {
			continue
		}
		for _, it := range w.rows(entity.ItemPrefix(typ.Name)) {
			last, _ := it.Time(product.AttrLastFiredUtc)
			for _, in := range w.instants(typ, it) {
				if in.due.After(w.now) || in.due.Before(in.asked) || !in.snooze && !in.due.After(last) {
					continue
				}
				_, err := w.store.Get(w.Context(), entity.DeliveryKey(user, it.Str(typ.IDAttr), in.offset, in.occurrence, in.due))
				require.NoError(w, err, "lost: %s due %s", it.Key(), in.due)
			}
		}
	}
}
