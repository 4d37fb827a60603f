package simulate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/account"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const (
	// maxDying bounds the runs of `nexus erase --again` that die, each after less than maxLived calls of the table.
	maxDying = 3
	maxLived = 60
)

var errDied = fmt.Errorf("the process died: %w", table.ErrUnavailable)

// restoredTable is a table that was restored to an instant, and is not yet used.
type restoredTable struct {
	*memory.Store
	now  time.Time
	left int // calls until the process that works on it dies; negative for never
}

// restored returns the table as it was before one of the records, or before the first record of a later instant: no
// transaction is cut.
func (h *history) restored(at int) *restoredTable {
	for at > 0 && at < len(h.stream.log) && h.stream.log[at].Created.Equal(h.stream.log[at-1].Created) {
		at++
	}
	rows := map[item.Key]item.Item{}
	for _, rec := range h.stream.log[:at] {
		if rows[rec.Key] = rec.New; rec.New == nil {
			delete(rows, rec.Key)
		}
	}
	t := &restoredTable{now: h.now, left: -1}
	t.Store = memory.New(func() time.Time { return t.now }, memory.Options{Fault: func(memory.Call) error {
		if t.left > 0 {
			t.left--
		}
		if t.left == 0 {
			return errDied
		}
		return nil
	}})
	if err := t.Load(noContext, slices.Collect(maps.Values(rows))); err != nil {
		h.violate("port", "", "", "%v", err)
	}
	return t
}

// restoreTable restores the table beside the present one, to any instant of the last weeks, and runs what an operator
// runs before such a table is used. Some runs die.
func (h *history) restoreTable() {
	h.absorb(nil)
	if len(h.stream.log) == 0 || h.leaver.isPast {
		return
	}
	h.happened["table restored"]++
	t := h.restored(h.luck.IntN(len(h.stream.log)))
	before := h.rowsByUser(t)
	ports := h.fenced(system.Ports{
		Store: func(string) table.Store { return t }, Now: func() time.Time { return t.now }, NewID: h.newID,
		Scheduler: h.schedules, Lister: h.schedules,
	})
	ports.Erasing = &system.Erasing{
		Archive: blobPort{h, h.copies}, Parking: blobPort{h, h.parking}, Snapshots: indexPort{h.finder.objects, h},
		Bus: busmemory.New(nil),
		Wait: func(_ context.Context, d time.Duration) error {
			t.now = t.now.Add(d)
			return nil
		},
		Patience: account.Patience, EdgeTime: account.EdgeTime, Rate: account.Rate,
	}
	defer h.keepNote(account.ErasedPrefix + h.leaver.name)()
	again := h.assemble(ports, ownSum()).Eraser
	for n, err := 0, errDied; err != nil; n++ {
		if t.left = 1 + h.luck.IntN(maxLived); n == maxDying {
			t.left = -1
		}
		var sum account.Again
		sum, err = again.Again(noContext, t)
		h.note("the restored table is erased again: %+v, %v", sum, err)
		if err != nil && (n == maxDying || !errors.Is(err, errDied)) {
			h.violate("E1", "", "erase --again", "is answered %v", err)
			return
		}
	}
	t.left = -1
	h.checkRestoredTable(t, before)
}

// keepNote returns what puts an object back as it is now: the restored table is never used, and what was noted of it is
// not true of the present one.
func (h *history) keepNote(object string) func() {
	body, err := h.copies.Get(noContext, object)
	return func() {
		if err == nil {
			err = h.copies.Put(noContext, object, body)
		}
		if err != nil {
			h.violate("E1", "", object, "%v", err)
		}
	}
}

// checkRestoredTable checks a restored table once it was erased again: of whom is erased nothing is left (E1), and no
// row of another user has changed (E3).
func (h *history) checkRestoredTable(t *restoredTable, before map[string]map[item.Key]string) {
	l := h.leaver
	h.checkTraces(t)
	after := h.rowsByUser(t)
	for _, user := range userNames {
		if user != l.user && !maps.Equal(before[user], after[user]) {
			h.violate("E3", user, "restored table", "has other rows after an erasure of %s", l.user)
		}
	}
	state, err := h.assemble(h.fenced(system.Ports{
		Store: func(string) table.Store { return t }, Now: func() time.Time { return t.now },
	})).Fence.Fresh(noContext, l.user)
	if err != nil || state != account.Erased {
		h.violate("E1", l.user, l.name, "is %q in a table that was restored and erased again: %v", state, err)
	}
}

// rowsByUser returns the rows of a table, each as a text.
func (h *history) rowsByUser(of table.Walker) map[string]map[item.Key]string {
	rows := map[string]map[item.Key]string{}
	err := of.Walk(noContext, 0, 1, func(row item.Item) error {
		user := userOf(row.Key())
		if rows[user] == nil {
			rows[user] = map[item.Key]string{}
		}
		rows[user][row.Key()] = string(change.AppendItem(nil, row))
		return nil
	})
	if err != nil {
		h.violate("port", "", "", "%v", err)
	}
	return rows
}

// endStranger has the erased user's id come back, 40 days after: it is a stranger's, whom the erasure of before leaves
// alone (E3).
func (h *history) endStranger() {
	l := h.leaver
	if l == nil || l.erased.IsZero() || h.violation != nil {
		return
	}
	if h.checkTraces(h.store); h.violation != nil {
		return
	}
	h.now = maxTime(h.now, l.erased.Add(tombstone+time.Duration(h.luck.IntN(20*24))*time.Hour))
	h.settling = true
	defer func() { h.settling = false }()
	h.endPeriods()
	if l.isBack = true; h.luck.one(2) {
		h.store.Sweep(h.now, 0)
	}
	h.absorb(nil)
	h.happened["stranger with the id of an erased user"]++
	state, _, err := h.system.Fence.State(noContext, l.user)
	if err != nil || state != account.Present {
		h.violate("E3", l.user, l.name, "is a stranger's id, and %q: %v", state, err)
		return
	}
	note := h.registry.ByName(product.TypeNote)
	_, err = h.direct.Commands.Do(noContext, command.Request{
		User: l.user, Command: command.Create{Type: note, Fields: document(`{"title":"s","body":"b"}`)},
	})
	before := h.rowsByUser(h.store)
	if err == nil {
		_, err = h.system.Eraser.Run(noContext)
	}
	if err == nil {
		_, err = h.system.Eraser.Again(noContext, h.store)
	}
	if err == nil && !maps.Equal(before[l.user], h.rowsByUser(h.store)[l.user]) {
		h.violate("E3", l.user, l.name, "has lost rows of a stranger to the erasure of before")
	}
	if err == nil {
		_, err = h.system.Accounts.Leave(noContext, l.user)
	}
	if err != nil {
		h.violate("E3", l.user, l.name, "is a stranger's id: %v", err)
	}
}
