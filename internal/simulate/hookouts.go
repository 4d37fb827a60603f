package simulate

import (
	"strconv"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
)

// out is a row of the outbox.
type out struct {
	user, hook, item, message string
	version                   int64
	since, moved              int // the positions at which it was put, and changed last
}

// isFull reports whether a message may be ended because too many wait: more did since its worker began, and none that
// is older and that the worker saw waits on.
func (k *hookLog) isFull(e *endpoint, sk entity.SortKey) bool {
	w := k.h.writer
	if w == nil || k.waiting(e.id) <= k.room && e.crowded < w.hooksSeen {
		return false
	}
	id := strings.Join(sk.Components, "#")
	for key, o := range k.outs {
		if o.hook == e.id && max(o.since, o.moved) <= w.outsSeen && strings.TrimPrefix(key.SK, outbox.Outs()) < id {
			return false
		}
	}
	return true
}

// waiting returns how many rows of the outbox an endpoint has.
func (k *hookLog) waiting(hook string) (n int) {
	for _, o := range k.outs {
		if o.hook == hook {
			n++
		}
	}
	return n
}

// takeOut takes in a change of a row of the outbox.
func (k *hookLog) takeOut(s *userState, r *record, sk entity.SortKey) {
	if e := k.endpoints[sk.Components[0]]; e != nil && k.waiting(e.id) > k.room {
		e.crowded = k.count
	}
	switch {
	case r.New == nil:
		delete(k.outs, r.Key)
	case r.Old == nil:
		version, err := strconv.ParseInt(sk.Components[2], 10, 64)
		if err != nil || r.New.Has("body") {
			k.h.violate("W1", s.user, r.Key.SK, "is no row of the outbox: %v", err)
		}
		o := &out{user: s.user, hook: sk.Components[0], message: sk.Components[3], version: version, since: k.count}
		if m := k.messages[o.message]; m != nil && k.events[m.event] != nil {
			o.item = k.events[m.event].item
		}
		k.outs[r.Key] = o
	default:
		k.outs[r.Key].moved = k.count
	}
}
