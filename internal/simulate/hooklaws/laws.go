// Package hooklaws judges webhooks by the rules of their design document alone: it knows nothing of the code that
// sends them. It takes what is visible from outside (writes of the table, records, requests and their answers) in
// the order in which it happened, and names each rule that was broken.
package hooklaws

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// The limits that the document states.
const (
	maxAttempts  = 10
	maxBody      = 20 << 10
	maxEndpoints = 10
	maxPending   = 10_000
	maxKept      = 256
	keptFor      = 30 * 24 * time.Hour
	lateAfter    = 29 * 24 * time.Hour
	formerFor    = 24 * time.Hour
	failingFor   = 5 * 24 * time.Hour
	maxAsked     = time.Hour
	opensAfter   = 5
	longestOpen  = time.Hour
	strayFor     = 10 * time.Minute // that long a lane may outlive its endpoint before a verification removes it
)

// waits[k] is how long the attempt after k failed ones waits. Each may differ by a tenth.
var waits = [maxAttempts]time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Violation is a broken rule. User, Endpoint and Message are empty where the rule names none.
type Violation struct {
	Law, User, Endpoint, Message string
	Text                         string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s (user %s, endpoint %s, message %s)", v.Law, v.Text, v.User, v.Endpoint, v.Message)
}

// Author says who made a write, as far as the rules distinguish it.
type Author int

// The authors of writes.
const (
	Service Author = iota // the consumer or the worker
	User                  // a command, redelivery included
	Expiry                // the TTL service
	Foreign               // an erasure, damage, a restored table: the rules of rows do not hold
)

// Change has the effect of a write on one row. Old or New is nil where there is none. Numbers are int64 or float64.
type Change struct {
	PK, SK   string
	Old, New map[string]any
}

// Write is one write of the table with all its rows: those of a transaction come together.
type Write struct {
	At      time.Time
	By      Author
	Worker  int // the number of the call that writes, if it is the worker's
	Changes []Change
	// HookRead and OutRead are as in a Request.
	HookRead, OutRead int
}

// Record is a change of an item that has reached the stream. Created is the time of the record itself.
type Record struct {
	Sequence  string
	Created   time.Time
	PK, SK    string
	Old, New  map[string]any
	IsExpired bool // the TTL service has removed the item
	order     int
}

// Due is the event of a reminder: its only source that is no record.
type Due struct {
	At               time.Time // of the event, according to itself
	User, DeliveryID string
	ItemID           string
	order            int
}

// Handled says that the consumer has finished a record, or the event of a reminder: its messages are put by now.
type Handled struct {
	At         time.Time
	Sequence   string // of the record, or empty
	DeliveryID string
	Began      int // the moment at which the consumer began ([Judge.Moment])
}

// Request is one that was sent to a receiver, whether or not it arrived. ID pairs it with its answer. To is the address
// to which a connection was made; the zero one if to none.
type Request struct {
	At          time.Time
	Begun       time.Time // when its sender began it: a request may stand still before it arrives
	ID          int
	Worker      int // the number of the call that sends: no two calls of the worker have the same
	Method, URL string
	Header      map[string][]string // names as the standard writes them, in small letters
	Body        []byte
	To          netip.Addr
	// HookRead and OutRead are the moments at which the sender last read the endpoint and the outbox ([Judge.Moment]).
	HookRead, OutRead int
}

// Answer ends a request. Status 0 means that the sender got none.
type Answer struct {
	At         time.Time
	ID         int
	Status     int
	RetryAfter string
}

// Secrets are those of one generation, as the user was told them.
type Secrets struct {
	User, Hook        string
	Generation        int
	Symmetric, Public string // whsec_…, whpk_…
}

// Tried says that a user asked for a message by which to try an endpoint, and was answered its id.
type Tried struct{ User, Hook, ID string }

// Quiet says that all work has come to its end.
type Quiet struct{ At time.Time }

// Tolerance says what the rules concede to a system of several clocks, and to one with less room.
type Tolerance struct {
	Clock time.Duration // by how much two clocks differ
	Stale time.Duration // how old that may be what a worker has read when it sends
	Room  int           // pending messages of an endpoint; 10,000 if it is 0
}

// Judge keeps what it has seen. The zero value is not ready: see New.
type Judge struct {
	tolerance Tolerance
	hooks     map[hookKey]*hook
	messages  map[messageKey]*message
	byID      map[string]*message
	records   map[string][]*Record // by user and item
	sequences map[string]*Record
	dues      []Due
	open      map[int]*attempt
	secrets   map[hookKey][]Secrets
	unsigned  []unsigned
	tried     []Tried
	gone      map[string]bool
	workers   map[workerKey]*worker
	seen      int // observations
	found     []Violation
}

type hookKey struct{ user, id string }

type messageKey struct {
	hookKey
	rest string // of the sort key: time, version, id
}

// New returns a judge that has seen nothing.
func New(t Tolerance) *Judge {
	if t.Room == 0 {
		t.Room = maxPending
	}
	return &Judge{
		tolerance: t,
		hooks:     map[hookKey]*hook{},
		messages:  map[messageKey]*message{},
		byID:      map[string]*message{},
		records:   map[string][]*Record{},
		sequences: map[string]*Record{},
		open:      map[int]*attempt{},
		secrets:   map[hookKey][]Secrets{},
		gone:      map[string]bool{},
		workers:   map[workerKey]*worker{},
	}
}

// See takes the next observation: a Write, Record, Due, Handled, Request, Answer, Secrets, Tried or Quiet.
func (j *Judge) See(observation any) {
	j.seen++
	switch o := observation.(type) {
	case Write:
		j.write(o)
	case Record:
		j.record(o)
	case Due:
		if !slices.ContainsFunc(j.dues, func(d Due) bool { return d.DeliveryID == o.DeliveryID }) { // it may come again
			o.order = j.seen
			j.dues = append(j.dues, o)
		}
	case Handled:
		j.handled(o)
	case Request:
		j.request(o)
	case Answer:
		j.answer(o)
	case Secrets:
		key := hookKey{o.User, o.Hook}
		if !slices.Contains(j.secrets[key], o) {
			j.secrets[key] = append(j.secrets[key], o)
		}
	case Tried:
		j.tried = append(j.tried, o)
	case Quiet:
		j.quiet(o)
	default:
		panic(fmt.Sprintf("hooklaws: no observation: %T", observation))
	}
}

// Moment returns the number of observations until now.
func (j *Judge) Moment() int { return j.seen }

// Leave says that a user is being erased: what is missing of that user is no violation from now on.
func (j *Judge) Leave(user string) { j.gone[user] = true }

// Violations returns what was found so far.
func (j *Judge) Violations() []Violation { return j.found }

func (j *Judge) breach(law string, key hookKey, id, format string, args ...any) {
	j.found = append(j.found, Violation{law, key.user, key.id, id, fmt.Sprintf(format, args...)})
}

// split returns the user of a partition key, the kind of the row and the rest of its sort key.
func split(pk, sk string) (user, kind, rest string) {
	_, user, _ = strings.Cut(pk, "#")
	kind, rest, _ = strings.Cut(sk, "#")
	return user, kind, rest
}

func text(row map[string]any, name string) string {
	s, _ := row[name].(string)
	return s
}

func number(v any) int {
	switch n := v.(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	case int:
		return n
	}
	return 0
}

// instant reads a time as a row has it: seconds since 1970, or the text of RFC 3339. Zero if there is none.
func instant(v any) time.Time {
	switch t := v.(type) {
	case string:
		at, _ := time.Parse(time.RFC3339, t)
		return at
	case nil:
		return time.Time{}
	}
	switch n := number(v); {
	case n > 1e11: // the lease is in milliseconds
		return time.UnixMilli(int64(n)).UTC()
	case n > 0:
		return time.Unix(int64(n), 0).UTC()
	}
	return time.Time{}
}
