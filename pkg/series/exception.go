package series

import (
	"maps"
	"slices"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/wallclock"
)

// Exceptions returns the occurrences that a row changed or cancelled, in the order of their dates.
func (s *Series) Exceptions() []Occurrence {
	out := make([]Occurrence, 0, len(s.exceptions))
	for _, date := range slices.Sorted(maps.Keys(s.exceptions)) {
		if o, ok := s.On(date); ok {
			out = append(out, o)
		}
	}
	return out
}

// Plain returns the occurrence of a date YYYYMMDD without its exception.
func (s *Series) Plain(date string) (Occurrence, bool) {
	original, ok := s.original(date)
	if !ok {
		return Occurrence{}, false
	}
	return s.virtual(original), true
}

// IsSkipped reports whether the clocks skip the rule's time on the occurrence's date, so that no start can express it.
func (s *Series) IsSkipped(o Occurrence) bool {
	zone, err := wallclock.LoadLocation(s.master.Str(product.AttrStartTzid))
	return !s.first.Floating && err == nil && !item.Wall(o.Original.Start, zone).Equal(o.Original.Wall)
}

// RuleGives reports whether the rule itself gives the occurrence, rather than rdate alone.
func (s *Series) RuleGives(date string) bool {
	if !slices.Contains(s.master.Strings(product.AttrRDate), date) {
		return s.has(s.master, date)
	}
	without := s.master.Clone()
	delete(without, product.AttrRDate)
	return s.has(without, date)
}

func (s *Series) has(master item.Item, date string) bool {
	day, err := item.ParseCompactDate(date)
	if err != nil {
		return false
	}
	rule, err := product.CompileMaster(master)
	if err != nil {
		return false
	}
	_, ok := rule.On(day)
	return ok
}

// RestOfRule returns the rule for a series that continues from a split at the occurrence: with the rest of COUNT from
// the occurrence on. The rule must give the occurrence itself.
func (s *Series) RestOfRule(o Occurrence) string {
	text := s.master.Str(product.AttrRRule)
	rule, err := recurrence.Parse(text)
	if err != nil || rule.Count() == 0 {
		return text
	}
	return rule.WithCount(max(rule.Count()-s.rule.Counted(o.Original.Wall), 1)).String()
}
