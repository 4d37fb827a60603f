package query

import (
	"nexus/pkg/item"
)

// maxPageBytes ends a page of an answer whose items are large.
const maxPageBytes = 1 << 20

// weigh returns the approximate number of bytes of an item.
func weigh(it item.Item) int {
	total := 0
	for name, v := range it {
		total += len(name) + weighValue(v)
	}
	return total
}

func weighValue(v item.Value) int {
	const each = 4 // quotes and a separator
	total := each
	switch v := v.(type) {
	case item.String:
		total += len(v)
	case item.Number:
		total += len(v)
	case item.StringSet:
		for _, m := range v {
			total += len(m) + each
		}
	case item.NumberSet:
		for _, m := range v {
			total += len(m) + each
		}
	case item.List:
		for _, m := range v {
			total += weighValue(m)
		}
	case item.Map:
		total += weigh(item.Item(v))
	}
	return total
}
