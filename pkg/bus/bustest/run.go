// Package bustest is the conformance suite of the bus port. Every adapter runs it, so that the code above the port may
// be tested on any of them.
package bustest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/bus"
)

// Subject is an empty bus with a listener that receives everything.
type Subject struct {
	Bus bus.Bus
	// Received returns the events on the bus, in any order.
	Received func(t *testing.T) []bus.Event
}

// Run runs the suite; open returns a new subject for each test.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"an event arrives whole":                            whole,
		"publishing nothing is done":                        nothing,
		"more events than one request takes all arrive":     many,
		"events too large for one request together arrive":  large,
		"the largest event arrives":                         largest,
		"one invalid event keeps the valid ones back":       invalid,
		"the detail is the caller's again after publishing": detailIsCopied,
		"concurrent publishers lose nothing":                concurrent,
		"a cancelled caller gets an error that says so":     cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func numbered(n, size int) []bus.Event {
	events := make([]bus.Event, n)
	for i := range events {
		detail := fmt.Sprintf(`{"deliveryId":"%d","fill":%q}`, i, strings.Repeat("x", size))
		events[i] = bus.Event{
			Type: fmt.Sprintf("Kind%d", i%3), Detail: []byte(detail), Time: noon.Add(time.Duration(i) * time.Second),
		}
	}
	return events
}

// text returns an event in a form that all faithful copies share.
func text(t *testing.T, e bus.Event) string {
	t.Helper()
	var detail any
	require.NoError(t, json.Unmarshal(e.Detail, &detail))
	canonical, err := json.Marshal(detail)
	require.NoError(t, err)
	return fmt.Sprintf("%s %s %s", e.Time.UTC().Truncate(time.Second).Format(time.RFC3339), e.Type, canonical)
}

// heard requires that each event arrived at least once and nothing else did.
func heard(t *testing.T, want, got []bus.Event) {
	t.Helper()
	texts := func(events []bus.Event) []string {
		out := make([]string, 0, len(events))
		for _, e := range events {
			out = append(out, text(t, e))
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	require.Equal(t, texts(want), texts(got))
}

func whole(t *testing.T, s Subject) {
	e := bus.Event{
		Type: "ReminderDue",
		Detail: []byte(
			"\n{ \"title\": \"<b> & ä 😀 \\u2028 \\\"quoted\\\"\",\r\n\t\"n\": 1.5, \"nested\": {\"a\": [1, null, true]} } "),
		Time: noon.Add(1500 * time.Millisecond).In(time.FixedZone("west", -7*3600)),
	}
	require.NoError(t, s.Bus.Publish(t.Context(), e))
	heard(t, []bus.Event{e}, s.Received(t))
}

func nothing(t *testing.T, s Subject) {
	require.NoError(t, s.Bus.Publish(t.Context()))
	require.Empty(t, s.Received(t))
}

func many(t *testing.T, s Subject) {
	events := numbered(23, 10)
	require.NoError(t, s.Bus.Publish(t.Context(), events...))
	heard(t, events, s.Received(t))
}

func large(t *testing.T, s Subject) {
	events := numbered(7, 100_000)
	require.NoError(t, s.Bus.Publish(t.Context(), events...))
	heard(t, events, s.Received(t))
}

func largest(t *testing.T, s Subject) {
	e := bus.Event{Type: strings.Repeat("T", bus.MaxType), Time: noon}
	e.Detail = []byte(`{"a":"` + strings.Repeat("x", bus.MaxDetail-8) + `"}`)
	require.Len(t, e.Detail, bus.MaxDetail)
	require.NoError(t, s.Bus.Publish(t.Context(), e, e))
	heard(t, []bus.Event{e}, s.Received(t))
}

func invalid(t *testing.T, s Subject) {
	good := numbered(12, 1)
	for _, bad := range []bus.Event{
		{}, {Type: "A", Detail: []byte("{}")}, {Type: "A", Detail: []byte("[]"), Time: noon},
		{Detail: []byte("{}"), Time: noon},
	} {
		require.ErrorIs(t, s.Bus.Publish(t.Context(), append(slices.Clone(good), bad)...), bus.ErrInvalid)
	}
	require.Empty(t, s.Received(t))
}

func detailIsCopied(t *testing.T, s Subject) {
	e := bus.Event{Type: "A", Detail: []byte(`{"a":1}`), Time: noon}
	require.NoError(t, s.Bus.Publish(t.Context(), e))
	copy(e.Detail, `{"b":2}`)
	heard(t, []bus.Event{{Type: "A", Detail: []byte(`{"a":1}`), Time: noon}}, s.Received(t))
}

func concurrent(t *testing.T, s Subject) {
	const publishers, each = 4, 12
	events := numbered(publishers*each, 20)
	errs := make([]error, publishers)
	var group sync.WaitGroup
	for p := range publishers {
		group.Go(func() { errs[p] = s.Bus.Publish(context.Background(), events[p*each:(p+1)*each]...) })
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	heard(t, events, s.Received(t))
}

func cancelled(t *testing.T, s Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Bus.Publish(ctx, numbered(1, 1)...)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, bus.ErrUnavailable)
}
