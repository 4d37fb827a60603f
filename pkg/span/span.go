// Package span names the parts of a trace: what one write of an item set in motion, from the request to the last event.
//
// A span's ids are derived, never carried along. The trace id is that of the write, which everyone who has the record
// knows. The span's id is made of the trace id, the part that worked, and the place where it worked. So parts that know
// nothing of each other, or that work twice, name the same tree.
//
// It promises that the same work has the same id in every process. It must never hold a user, a title or a key in a
// span: what a span tells may leave the machine.
package span

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// idBytes is the length of a span's id (W3C Trace Context §3.2.2.4).
const idBytes = 8

// The parts that are no consumers, and the place of the write.
const (
	PartCommand   = "command"
	PartScheduler = "scheduler"
	PartNotify    = "notify"
	PartBus       = "bus"

	PlaceWrite = "write"
)

// Span is one piece of work.
type Span struct {
	Trace  string   `json:"traceId"`
	ID     string   `json:"spanId"`
	Parent string   `json:"parentId,omitempty"`
	Links  []string `json:"links,omitempty"` // spans of the same trace that this one repeats
	Name   string   `json:"name"`
	Part   string   `json:"part"`
	// Start is by the machine's clock, At by the platform's.
	Start        time.Time         `json:"start"`
	At           time.Time         `json:"at"`
	Milliseconds float64           `json:"milliseconds"`
	Attributes   map[string]string `json:"attributes,omitempty"`
	Outcome      string            `json:"outcome"` // done, already, gone, parked, unfinished or failed
}

// ID returns the id of the span: the first 16 digits of
//
//	printf '%s#%s#%s' TRACE PART PLACE | sha256sum
func ID(trace, part, place string) string {
	sum := sha256.Sum256([]byte(trace + "#" + part + "#" + place))
	return hex.EncodeToString(sum[:idBytes])
}

// Again returns the place of a repetition; the first one is number 2.
func Again(place string, number int) string {
	if number < 2 {
		return place
	}
	return place + "#" + strconv.Itoa(number)
}

// Recorder takes spans that have ended. It is safe for concurrent use, and returns at once.
type Recorder interface {
	Record(s Span)
}

// Milliseconds returns a duration in the unit of spans.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Within is the span under which work is done.
type Within struct{ Trace, ID string }

type withinKey struct{}

// With returns a context for work under a span, which is named only if someone asks.
func With(ctx context.Context, of func() Within) context.Context {
	return context.WithValue(ctx, withinKey{}, of)
}

// From returns the span under which the context's work is done; not ok if none was named.
func From(ctx context.Context) (w Within, ok bool) {
	of, ok := ctx.Value(withinKey{}).(func() Within)
	if !ok {
		return w, false
	}
	w = of()
	return w, w.Trace != ""
}
