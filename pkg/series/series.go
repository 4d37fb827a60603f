package series

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
)

// Rule tells when the occurrences of one version of a MASTER are. It is immutable.
type Rule struct {
	rule  *recurrence.Series
	first entity.Span // of the first occurrence, as stored
}

// Compile returns the rule of a master. An error means that it cannot be compiled: a damaged row, since commands never
// store one.
func Compile(master item.Item) (Rule, error) {
	rule, err := product.CompileMaster(master)
	if err != nil {
		return Rule{}, fmt.Errorf("series %s: %w", master.Key(), err)
	}
	return Rule{rule, product.EventSpan(master)}, nil
}

// Series returns the series of the master that the rule is of, in the reader's zone, which matters only if it floats.
// It ignores instances of other masters.
func (r Rule) Series(master item.Item, zone *time.Location, instances ...item.Item) *Series {
	s := &Series{master: master, rule: r.rule.In(zone), zone: zone, first: r.first}
	for _, it := range instances {
		s.add(it)
	}
	return s
}

// Series is a MASTER with its exceptions, seen in one zone. It is immutable.
type Series struct {
	master     item.Item
	rule       *recurrence.Series // in instants of the zone
	zone       *time.Location     // in which floating times are read
	first      entity.Span        // of the first occurrence, as stored
	exceptions map[string]item.Item
	idle       []item.Item
	// undone has the versions of the rows of undone exceptions, by date.
	undone map[string]int64
}

// New compiles the rule of a master and returns the series; see [Compile] and [Rule.Series].
func New(master item.Item, zone *time.Location, instances ...item.Item) (*Series, error) {
	rule, err := Compile(master)
	if err != nil {
		return nil, err
	}
	return rule.Series(master, zone, instances...), nil
}

// With returns the series with these instances added; it ignores those for a date that already has one.
func (s *Series) With(instances ...item.Item) *Series {
	more := *s
	more.exceptions, more.idle, more.undone = maps.Clone(s.exceptions), slices.Clone(s.idle), maps.Clone(s.undone)
	for _, it := range instances {
		more.add(it)
	}
	return &more
}

func (s *Series) add(it item.Item) {
	masterID, date, err := entity.ParseInstanceID(it.Str(product.AttrEventID))
	if err != nil || masterID != s.ID() {
		return
	}
	if !it.Has(product.AttrModifiedFields) {
		if s.undone == nil {
			s.undone = map[string]int64{}
		}
		s.undone[date] = it.Int(entity.AttrVersion)
		return
	}
	if _, ok := s.original(date); !ok {
		s.idle = append(s.idle, it)
		return
	}
	if s.exceptions == nil {
		s.exceptions = map[string]item.Item{}
	}
	s.exceptions[date] = it
}

// ID returns the master's id.
func (s *Series) ID() string { return s.master.Str(product.AttrMasterID) }

// Master returns the row.
func (s *Series) Master() item.Item { return s.master }

// Rule returns the occurrences without exceptions, as instants in the zone.
func (s *Series) Rule() *recurrence.Series { return s.rule }

// Idle returns the exceptions for a date that the series no longer has. Users do not see them.
func (s *Series) Idle() []item.Item { return s.idle }

// original returns the occurrence of the rule on a date YYYYMMDD.
func (s *Series) original(date string) (recurrence.Occurrence, bool) {
	day, err := item.ParseCompactDate(date)
	if err != nil {
		return recurrence.Occurrence{}, false
	}
	return s.rule.On(day)
}

// slack exceeds every change of any zone's clocks and every difference between two zones.
const slack = 26 * time.Hour

// Overlapping returns the occurrences that overlap [from, to), or start in it, in the order of their starts.
// Exceptions count at their new time, cancelled ones do not.
func (s *Series) Overlapping(from, to time.Time) []Occurrence {
	var out []Occurrence
	keep := func(o Occurrence) {
		if o.Start.Before(to) && (!o.Start.Before(from) || o.End.After(from)) {
			out = append(out, o)
		}
	}
	var buffer [8]recurrence.Occurrence
	for _, original := range s.rule.Overlapping(buffer[:0], from, to, s.Reach()) {
		if o := s.virtual(original); !s.IsException(o.Date) {
			keep(o)
		}
	}
	if len(s.exceptions) == 0 {
		return out
	}
	for date := range s.exceptions {
		if o, ok := s.On(date); ok && !o.Cancelled() {
			keep(o)
		}
	}
	slices.SortFunc(out, compare)
	return out
}

// Reach returns how long before a window an occurrence may start and still overlap it.
func (s *Series) Reach() time.Duration {
	length := s.first.End.Sub(s.first.Start)
	if length > 0 && s.first.Floating {
		length += slack
	}
	return length
}

// IsException reports whether an exception is in the place of the rule's occurrence of a date YYYYMMDD.
func (s *Series) IsException(date string) bool {
	_, ok := s.exceptions[date]
	return ok
}

// On returns the occurrence of a date YYYYMMDD, the local date that the rule gives it, even after a move or a
// cancellation.
func (s *Series) On(date string) (Occurrence, bool) {
	original, ok := s.original(date)
	if !ok {
		return Occurrence{}, false
	}
	exception, ok := s.exceptions[date]
	if !ok {
		return s.virtual(original), true
	}
	return s.excepted(original, exception), true
}
