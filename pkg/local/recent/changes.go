package recent

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/item"
	"nexus/pkg/span"
	"nexus/pkg/text"
)

const (
	mostChanges     = 50_000
	mostChangeBytes = 48 << 20
	// changeBytes and deliveryBytes estimate a change without its record, and a delivery without its error.
	changeBytes, deliveryBytes = 900, 250
	// maxDeliveries bounds the deliveries of a record that are held one by one; outcomes count all.
	maxDeliveries = 200
	// maxErrorBytes bounds the part of an error that is held.
	maxErrorBytes = 500
)

// Change is a record of the stream with its outcomes.
type Change struct {
	Position uint64    `json:"position"` // in the order in which the consumers were done with them first
	User     string    `json:"user"`
	Type     string    `json:"type,omitempty"` // of the item, or VALUES or PLAN; of a row its prefix; empty if unreadable
	Item     string    `json:"item,omitempty"`
	Kind     string    `json:"kind,omitempty"` // inserted, modified, removed or expired
	Version  int64     `json:"version,omitempty"`
	Status   string    `json:"status,omitempty"` // of the newer image
	Title    string    `json:"title,omitempty"`  // of the newer image; of a plan its day
	Sequence string    `json:"sequence"`
	Trace    string    `json:"traceId,omitempty"`
	Created  time.Time `json:"created"` // the stream's time of the write
	At       time.Time `json:"at"`      // the platform's time when a consumer was done with it first
	// Outcomes are by consumer.
	Outcomes map[string]Outcome `json:"outcomes"`
	// Record is the record as it was delivered.
	Record []byte `json:"-"`
	// Deliveries are the latest ones, of all consumers, in their order.
	Deliveries []Delivery `json:"-"`
}

// Outcome sums up the deliveries of a record to a consumer.
type Outcome struct {
	Verdict      consume.State `json:"verdict"`
	Deliveries   int           `json:"deliveries"` // how often it was delivered
	Attempts     int           `json:"attempts"`   // in all deliveries
	Milliseconds float64       `json:"milliseconds"`
	Error        string        `json:"error,omitempty"` // the last one, also of an attempt after which another succeeded
}

// Delivery is one delivery of a record to a consumer.
type Delivery struct {
	Consumer string
	Number   int // 1 for the first
	State    consume.State
	Attempts int
	Began    time.Time
	Took     time.Duration
	Error    string
}

// entry is a change as it is held: outcomes by consumer are few, and so a list.
type entry struct {
	change    Change // without outcomes
	place     place
	consumers []outcomeOf
}

type outcomeOf struct {
	consumer string
	Outcome
}

// place names a record. Two shards may have the same number.
type place struct {
	sequence string
	key      item.Key
}

// Changes holds the latest changes. It is safe for concurrent use.
type Changes struct {
	mu      sync.Mutex
	ring    ring[*entry]
	at      map[place]*entry
	byTrace map[string][]*entry
}

// NewChanges returns an empty list.
func NewChanges() *Changes {
	c := &Changes{at: map[place]*entry{}, byTrace: map[string][]*entry{}}
	c.ring = newRing(mostChanges, mostChangeBytes, c.drop)
	return c
}

// drop removes an entry from the indexes.
func (c *Changes) drop(one *entry) {
	delete(c.at, one.place)
	trace := one.change.Trace
	left := slices.DeleteFunc(c.byTrace[trace], func(e *entry) bool { return e == one })
	if c.byTrace[trace] = left; len(left) == 0 {
		delete(c.byTrace, trace)
	}
}

// Added is a record at a consumer, as [Changes.Add] has taken it.
type Added struct {
	IsNew    bool // the record
	Delivery Delivery
	list     *Changes
	entry    *entry
}

// Change returns the change as it is now.
func (a Added) Change() Change {
	a.list.mu.Lock()
	defer a.list.mu.Unlock()
	return a.entry.shown()
}

// Add takes what became of a record at a consumer; a record that is new here is read.
func (c *Changes) Add(s consume.Settled, read func(*change.Decoded) Change) (added Added) {
	at := place{s.Record.Sequence, s.Record.Key}
	c.mu.Lock()
	defer c.mu.Unlock()
	added.list, added.entry = c, c.at[at]
	if added.entry == nil {
		added.entry, added.IsNew = &entry{change: read(s.Record), place: at, consumers: make([]outcomeOf, 0, 6)}, true
		one := &added.entry.change
		one.Record = bytes.Clone(s.Record.Raw)
		one.Deliveries = make([]Delivery, 0, 6)
		c.at[at] = added.entry
		if one.Trace != "" {
			c.byTrace[one.Trace] = append(c.byTrace[one.Trace], added.entry)
		}
		one.Position = c.ring.add(added.entry, changeBytes+len(one.Record))
	}
	e := added.entry
	i := slices.IndexFunc(e.consumers, func(o outcomeOf) bool { return o.consumer == s.Consumer })
	if i < 0 {
		i = len(e.consumers)
		e.consumers = append(e.consumers, outcomeOf{consumer: s.Consumer})
	}
	of := &e.consumers[i]
	of.Verdict, of.Deliveries, of.Attempts = s.State, of.Deliveries+1, of.Attempts+s.Attempts
	of.Milliseconds = span.Milliseconds(s.Took)
	added.Delivery = Delivery{
		Consumer: s.Consumer, Number: of.Deliveries, State: s.State, Attempts: s.Attempts, Began: s.Began, Took: s.Took,
	}
	if s.Err != nil {
		added.Delivery.Error = text.Clip(s.Err.Error(), maxErrorBytes)
		of.Error = added.Delivery.Error
	}
	if len(e.change.Deliveries) < maxDeliveries {
		e.change.Deliveries = append(e.change.Deliveries, added.Delivery)
		c.ring.grow(e.change.Position, deliveryBytes+2*len(added.Delivery.Error))
	}
	return added
}

func (e *entry) shown() Change {
	out := e.change
	out.Deliveries = slices.Clone(e.change.Deliveries)
	out.Outcomes = make(map[string]Outcome, len(e.consumers))
	for _, o := range e.consumers {
		out.Outcomes[o.consumer] = o.Outcome
	}
	return out
}

// Filter selects changes. A zero field selects all.
type Filter struct {
	User, Item, Type, Trace, Sequence string
	// Consumer has an outcome. Verdicts are those that one of its outcomes has, or any consumer's if Consumer is empty.
	Consumer string
	Verdicts []consume.State
	// Retried selects those that took more than one attempt in a delivery, or one that failed.
	Retried  bool
	From, To time.Time // of At; To is exclusive
	Before   uint64    // position
}

func (f Filter) matches(e *entry) bool {
	c := &e.change
	switch {
	case e.place == place{}: // forgotten
		return false
	case f.User != "" && c.User != f.User, f.Item != "" && c.Item != f.Item, f.Type != "" && c.Type != f.Type,
		f.Trace != "" && c.Trace != f.Trace, f.Sequence != "" && c.Sequence != f.Sequence,
		!f.From.IsZero() && c.At.Before(f.From), !f.To.IsZero() && !c.At.Before(f.To):
		return false
	case f.Consumer == "" && len(f.Verdicts) == 0 && !f.Retried:
		return true
	}
	return slices.ContainsFunc(e.consumers, func(o outcomeOf) bool {
		return (f.Consumer == "" || o.consumer == f.Consumer) &&
			(len(f.Verdicts) == 0 && !f.Retried || slices.Contains(f.Verdicts, o.Verdict) ||
				f.Retried && o.Attempts > o.Deliveries)
	})
}

// Find returns the newest changes that match, the newest first, and at most limit. More says that an older one matches,
// and truncated that something older has left and may have matched.
func (c *Changes) Find(f Filter, limit int) (found []Change, more, truncated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := len(c.ring.values)
	if f.Before > 0 {
		from = min(from, int(max(f.Before, c.ring.first)-c.ring.first))
	}
	for i := from - 1; i >= 0; i-- {
		one := c.ring.values[i]
		if !f.matches(one) {
			continue
		}
		if len(found) == limit {
			return found, true, false
		}
		found = append(found, one.shown())
	}
	return found, false, c.ring.hasLost()
}

// Trace returns the changes of a trace, in the order in which they came.
func (c *Changes) Trace(trace string) (found []Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.byTrace[trace] {
		found = append(found, e.shown())
	}
	return found
}

// Forget drops the changes of a user.
func (c *Changes) Forget(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, one := range c.ring.values {
		if one.change.User == user {
			c.drop(one)
			c.ring.values[i] = &entry{}
		}
	}
}
