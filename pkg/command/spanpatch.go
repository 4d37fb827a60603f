package command

import (
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// mergeSpan merges a patch into an occurrence with times. A patch of an occurrence sets its start, so that its length
// stays unless the patch has an end. An occurrence that changes from times to a day, or back, loses the fields of its
// former kind; without a date it stays on its own.
func mergeSpan(t *entity.Type, before, patch item.Item, date string) (item.Item, []entity.FieldError) {
	base := before.Clone()
	allDay, says := patch[product.AttrIsAllDay].(item.Bool)
	turns := says && bool(allDay) != before.Bool(product.AttrIsAllDay)
	timed := []string{product.AttrStartUtc, product.AttrEndUtc, product.AttrStartTzid, product.AttrEndTzid}
	switch {
	case turns && bool(allDay):
		remove(base, timed...)
		if day, err := item.ParseCompactDate(date); err == nil {
			base[product.AttrStartDate] = item.String(item.FormatDate(day))
		}
	case turns:
		remove(base, product.AttrStartDate, product.AttrEndDate)
	case patch.Has(product.AttrStartUtc) && !patch.Has(product.AttrEndUtc):
		delete(base, product.AttrEndUtc)
	case patch.Has(product.AttrStartDate) && !patch.Has(product.AttrEndDate):
		delete(base, product.AttrEndDate)
	}
	after, wrong := t.Merge(base, patch)
	if !turns && len(wrong) == 0 {
		keepLength(before, after, patch)
	}
	return after, wrong
}

func remove(it item.Item, names ...string) {
	for _, name := range names {
		delete(it, name)
	}
}

// keepLength adjusts the end of a moved occurrence so that its length stays.
func keepLength(before, after, patch item.Item) {
	was, is := product.EventSpan(before), product.EventSpan(after)
	end := is.Start.Add(was.End.Sub(was.Start))
	moved := func(start, end string) bool {
		return before.Has(end) && patch.Has(start) && after.Has(start) && !patch.Has(end)
	}
	switch {
	case moved(product.AttrStartUtc, product.AttrEndUtc):
		after.SetTime(product.AttrEndUtc, end)
	case moved(product.AttrStartDate, product.AttrEndDate):
		after[product.AttrEndDate] = item.String(item.FormatDate(end))
	}
}

// touchesSpan reports whether a patch changes the times of an occurrence.
func touchesSpan(patch item.Item) bool {
	return slices.ContainsFunc(product.SpanFields(), patch.Has)
}
