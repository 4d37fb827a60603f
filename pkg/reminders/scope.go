package reminders

import (
	"maps"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// scope is the set of offsets for which one piece of work is responsible. Work never writes a schedule outside its
// scope, and its repetition has the same scope: so the repetition finds and removes everything that a crash left.
type scope map[int64]bool

func (s scope) sorted() []int64 { return slices.Sorted(maps.Keys(s)) }

// add adds the offsets of an image. It ignores an image without reminders: no worker schedules an offset for it.
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
