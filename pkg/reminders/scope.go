package reminders

import (
	"maps"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// scope is the offsets that one piece of work answers for. Work never writes a schedule outside its scope, and its
// repetition has the same scope: that is what finds and removes whatever a crash left behind.
type scope map[int64]bool

func (s scope) sorted() []int64 { return slices.Sorted(maps.Keys(s)) }

// add takes in the offsets of an image. Only those of an image that wants reminders count: no worker schedules an
// offset for one that does not.
func (s scope) add(t *entity.Type, image item.Item) {
	if image == nil {
		return
	}
	for _, d := range t.Dues(image) {
		s[d.OffsetMinutes] = true
	}
}

func scopeOf(dues []due) scope {
	s := scope{}
	for _, d := range dues {
		s[d.offset] = true
	}
	return s
}

// among returns the offsets that are in the scope; all of them if it is nil.
func (s scope) among(offsets []int64) []int64 {
	if s == nil {
		return offsets
	}
	return slices.DeleteFunc(offsets, func(offset int64) bool { return !s[offset] })
}
