package recent

import (
	"slices"
	"sync"

	"nexus/pkg/span"
)

const (
	mostSpans     = 50_000
	mostSpanBytes = 16 << 20
	// spanBytes estimates a span without its attributes.
	spanBytes = 300
	// maxOfTrace bounds the spans of one trace: a record may be delivered again for ever.
	maxOfTrace = 1000
)

// Spans holds the latest spans. It is safe for concurrent use.
type Spans struct {
	mu      sync.Mutex
	ring    ring[*placed]
	byTrace map[string][]*placed
}

// placed is a span with the place that its id is made of.
type placed struct {
	span.Span
	place string
}

// NewSpans returns an empty list.
func NewSpans() *Spans {
	s := &Spans{byTrace: map[string][]*placed{}}
	s.ring = newRing(mostSpans, mostSpanBytes, func(one *placed) {
		left := slices.DeleteFunc(s.byTrace[one.Trace], func(p *placed) bool { return p == one })
		if s.byTrace[one.Trace] = left; len(left) == 0 {
			delete(s.byTrace, one.Trace)
		}
	})
	return s
}

// Add takes a span of a place, gives it its id, and returns it. A repetition at the same place is a span of its own
// that links to the first one. The write happens once: the span replaces what was known of it.
func (s *Spans) Add(one span.Span, place string) (now span.Span, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first *placed
	number := 1
	for _, p := range s.byTrace[one.Trace] {
		if p.Part == one.Part && p.place == place {
			if first == nil {
				first = p
			}
			number++
		}
	}
	if first != nil && place == span.PlaceWrite {
		one.ID = first.ID
		first.Span = one
		return one, true
	}
	one.ID = span.ID(one.Trace, one.Part, span.Again(place, number))
	if len(s.byTrace[one.Trace]) >= maxOfTrace {
		return one, false
	}
	if first != nil {
		one.Links = []string{first.ID}
	}
	size := spanBytes
	for name, value := range one.Attributes {
		size += len(name) + len(value)
	}
	p := &placed{one, place}
	s.byTrace[one.Trace] = append(s.byTrace[one.Trace], p)
	s.ring.add(p, size)
	return one, true
}

// Trace returns the spans of a trace, the earliest first. Truncated says that older spans have left.
func (s *Spans) Trace(trace string) (found []span.Span, truncated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.byTrace[trace] {
		found = append(found, p.Span)
	}
	slices.SortStableFunc(found, func(a, b span.Span) int { return a.Start.Compare(b.Start) })
	return found, s.ring.hasLost()
}
