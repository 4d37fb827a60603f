package query

import "nexus/pkg/entity"

// maxPageBytes ends a page of an answer whose items are large.
const maxPageBytes = 1 << 20

// weigh returns about how many bytes an entry has: a virtual occurrence as many as what it is an occurrence of.
func (e *Entry) weigh() int {
	if !e.Virtual {
		return weigh(e.item)
	}
	if e.of.weight == 0 {
		e.of.weight = weigh(e.of.row)
	}
	return e.of.weight
}

// weigh returns about how many bytes an item has.
func weigh(it entity.Item) int {
	total := 0
	for name, v := range it {
		total += len(name) + weighValue(v)
	}
	return total
}

func weighValue(v entity.Value) int {
	const each = 4 // quotes and a separator
	total := each
	switch v := v.(type) {
	case entity.String:
		total += len(v)
	case entity.Number:
		total += len(v)
	case entity.StringSet:
		for _, m := range v {
			total += len(m) + each
		}
	case entity.NumberSet:
		for _, m := range v {
			total += len(m) + each
		}
	case entity.List:
		for _, m := range v {
			total += weighValue(m)
		}
	case entity.Map:
		total += weigh(entity.Item(v))
	}
	return total
}
