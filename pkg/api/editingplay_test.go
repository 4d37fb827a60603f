package api_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/item"
)

// play plays a history and returns what is wrong with it; "" for nothing.
func (s *server) play(l luck, f flaws) string {
	s.users++
	w := &editing{
		server: s, luck: l, flaw: f, user: fmt.Sprintf("user-%d", s.users), items: map[string]item.Item{},
		edits: map[string]*edit{}, applied: map[string]int{}, fate: map[string]string{},
	}
	w.calm, w.ends = w.one(4), w.one(2)
	for i := range w.devices {
		w.devices[i] = &editingDevice{editing: w, copy: map[string]*copied{}, gone: map[string]int64{}}
	}
	for range 30 + w.IntN(90) {
		w.step()
	}
	for range 60 {
		for _, d := range w.devices {
			d.finish()
			if len(d.outbox) > 0 {
				d.push()
				d.finish()
			}
		}
		if !slices.ContainsFunc(w.devices[:], func(d *editingDevice) bool { return len(d.outbox) > 0 || d.isWaiting() }) {
			break
		}
	}
	w.catchUp()
	if w.one(2) {
		w.pass(100 * time.Hour)
		w.store.Sweep(w.clock(), 0)
		w.catchUp()
	}
	return w.verdict()
}

// step is one of the things that happen.
func (w *editing) step() {
	if w.ends && w.one(20) {
		w.pass(25 * time.Hour)
	}
	switch k := w.IntN(100); {
	case k < 55:
		w.act()
	case k < 72:
		if d := w.devices[w.IntN(2)]; !d.isWaiting() || w.flaw.lateAnswerStored {
			d.pull(w.IntN(2) == 0)
		}
	case k < 84:
		w.system()
	case k < 87:
		w.restoreAny()
	case k < 96:
		w.append()
	case k < 97:
		if len(w.seen) > 0 {
			w.appendAll([]entry{w.seen[w.IntN(len(w.seen))]})
		}
	default:
		w.pass(time.Duration([]int{1, 7, 25, 25, 40}[w.IntN(5)]) * time.Hour)
	}
	w.follow()
	if w.calm {
		w.keepUp()
	}
}

// act lets a device edit, send, or hear.
func (w *editing) act() {
	d := w.devices[w.IntN(2)]
	switch k := w.IntN(55); {
	case k < 20:
		d.edit()
	case k < 32:
		if len(d.outbox) > 0 && d.answer == nil {
			d.push()
		}
	case k < 50:
		d.hear()
	default:
		d.hearLate()
	}
}

func (w *editing) keepUp() {
	w.deliver()
	w.appendAll(w.late)
	w.late = nil
	for _, d := range w.devices {
		if !d.isWaiting() {
			d.pullAll()
		}
	}
}

func (w *editing) catchUp() {
	for range 3 {
		w.deliver()
		w.appendAll(w.late)
		w.late = nil
	}
	for _, d := range w.devices {
		d.pullAll()
	}
}

// verdict compares both devices with what the server serves, and names what was lost, done twice or misnamed.
func (w *editing) verdict() string {
	want := map[string]string{}
	for id, it := range w.items {
		if !w.lapsed(it) {
			want[id] = w.entityOf(it).String()
		}
	}
	for i, d := range w.devices {
		have := map[string]string{}
		for id, it := range d.copy {
			if it.TTL == 0 || it.TTL > w.clock().Unix() {
				have[id] = it.String()
			}
		}
		if !maps.Equal(want, have) {
			return fmt.Sprintf("device %d has %v, want %v", i, have, want)
		}
		if len(d.outbox) > 0 {
			return fmt.Sprintf("device %d cannot send %+v", i, *d.outbox[0])
		}
	}
	if len(w.wrong) > 0 {
		return w.wrong[0]
	}
	for _, logical := range slices.Sorted(maps.Keys(w.edits)) {
		e := w.edits[logical]
		switch n, fate := w.applied[e.logical], w.fate[e.logical]; {
		case n > 1:
			return fmt.Sprintf("%s was done %d times", e.logical, n)
		case n == 1 && fate == refused:
			return e.logical + " was done, and is shown as refused"
		case n == 0 && fate == carriedOut && e.kind != removeReminder && e.kind != completeReminder:
			return e.logical + " is thought to be done, and was lost"
		}
	}
	return ""
}
