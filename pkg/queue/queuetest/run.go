// Package queuetest is the conformance suite of the queue port. Every adapter runs it, so that the code above the port
// may be tested on any of them.
package queuetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/queue"
)

// Subject is an empty queue.
type Subject struct {
	Queue queue.Queue
	// Work gives the messages to the worker until none is left: the first of each group, again if the worker fails, up to
	// [queue.MaxReceives] times. It returns the dead letters.
	Work func(t *testing.T, worker func(m queue.Message) error) (dead []queue.Message)
}

// Run runs the suite; open returns a new subject for each test.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"a message arrives whole":                               whole,
		"the largest message arrives":                           largest,
		"messages of a group come in their order":               ordered,
		"a message put during the work comes after all others":  putInside,
		"a failing message holds its own group alone":           failing,
		"a message that always fails is a dead letter":          dead,
		"a message with the id of one that waits comes once":    twice,
		"an invalid message is refused":                         invalid,
		"the body is the caller's again after the call":         bodyIsCopied,
		"messages put side by side all arrive":                  concurrent,
		"a cancelled caller gets an error that says so":         cancelled,
		"messages of one body and of several ids are separate":  separate,
		"a message that failed comes before the next one of it": before,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func one(group string, n int) queue.Message {
	return queue.Message{Group: group, ID: fmt.Sprintf("%s-%d", group, n), Body: fmt.Appendf(nil, `{"n":%d}`, n)}
}

func (s Subject) put(t *testing.T, messages ...queue.Message) {
	t.Helper()
	for _, m := range messages {
		require.NoError(t, s.Queue.Put(t.Context(), m))
	}
}

// received returns the messages that a worker got which never fails.
func (s Subject) received(t *testing.T) (got []queue.Message) {
	t.Helper()
	require.Empty(t, s.Work(t, func(m queue.Message) error {
		got = append(got, m)
		return nil
	}))
	return got
}

func whole(t *testing.T, s Subject) {
	m := queue.Message{
		Group: "a-Z_9", ID: "id-1", Body: []byte("\n{ \"a\": \"<b> & ä 😀 \\u2028\",\r\n\t\"n\": [1, null]} "),
	}
	s.put(t, m)
	require.Equal(t, []queue.Message{m}, s.received(t))
	require.Empty(t, s.received(t), "it was done")
}

func largest(t *testing.T, s Subject) {
	m := queue.Message{
		Group: strings.Repeat("g", queue.MaxName), ID: strings.Repeat("i", queue.MaxName),
		Body: []byte(`"` + strings.Repeat("x", queue.MaxBody-2) + `"`),
	}
	s.put(t, m)
	require.Equal(t, []queue.Message{m}, s.received(t))
}

func ordered(t *testing.T, s Subject) {
	var want []queue.Message
	for n := range 12 {
		want = append(want, one("ann", n))
		s.put(t, one("ann", n), one("bob", n))
	}
	got := s.received(t)
	require.Len(t, got, 24)
	require.Equal(t, want, slices.DeleteFunc(got, func(m queue.Message) bool { return m.Group != "ann" }))
}

func putInside(t *testing.T, s Subject) {
	s.put(t, one("ann", 1), one("ann", 2))
	var got []string
	require.Empty(t, s.Work(t, func(m queue.Message) error {
		got = append(got, m.ID)
		if m.ID == "ann-1" {
			return s.Queue.Put(t.Context(), one("ann", 3))
		}
		return nil
	}))
	require.Equal(t, []string{"ann-1", "ann-2", "ann-3"}, got)
}

func failing(t *testing.T, s Subject) {
	s.put(t, one("ann", 1), one("bob", 1))
	var got []string
	require.Empty(t, s.Work(t, func(m queue.Message) error {
		got = append(got, m.ID)
		if m.Group == "ann" && !slices.Contains(got, "bob-1") {
			return context.DeadlineExceeded
		}
		return nil
	}))
	require.Contains(t, got, "bob-1")
	require.Equal(t, "ann-1", got[len(got)-1])
}

func dead(t *testing.T, s Subject) {
	s.put(t, one("ann", 1), one("ann", 2))
	tries := map[string]int{}
	left := s.Work(t, func(m queue.Message) error {
		if tries[m.ID]++; m.ID == "ann-1" {
			return context.DeadlineExceeded
		}
		return nil
	})
	require.Equal(t, []queue.Message{one("ann", 1)}, left)
	require.Equal(t, map[string]int{"ann-1": queue.MaxReceives, "ann-2": 1}, tries)
}

func before(t *testing.T, s Subject) {
	s.put(t, one("ann", 1), one("ann", 2))
	var got []string
	require.Empty(t, s.Work(t, func(m queue.Message) error {
		if got = append(got, m.ID); len(got) == 1 {
			return context.DeadlineExceeded
		}
		return nil
	}))
	require.Equal(t, []string{"ann-1", "ann-1", "ann-2"}, got)
}

func twice(t *testing.T, s Subject) {
	s.put(t, one("ann", 1), one("ann", 1))
	require.Equal(t, []queue.Message{one("ann", 1)}, s.received(t))
}

func separate(t *testing.T, s Subject) {
	other := one("ann", 1)
	other.ID = "other"
	s.put(t, one("ann", 1), other)
	require.Equal(t, []queue.Message{one("ann", 1), other}, s.received(t))
}

func invalid(t *testing.T, s Subject) {
	for _, bad := range []queue.Message{
		{}, {Group: "g", ID: "i"}, {Group: "g g", ID: "i", Body: []byte("{}")}, {Group: "g", Body: []byte("{}")},
		{Group: "g", ID: "i", Body: []byte("{")},
	} {
		require.ErrorIs(t, s.Queue.Put(t.Context(), bad), queue.ErrInvalid)
	}
	require.Empty(t, s.received(t))
}

func bodyIsCopied(t *testing.T, s Subject) {
	m := queue.Message{Group: "g", ID: "i", Body: []byte(`{"a":1}`)}
	s.put(t, m)
	copy(m.Body, `{"b":2}`)
	require.Equal(t, []queue.Message{{Group: "g", ID: "i", Body: []byte(`{"a":1}`)}}, s.received(t))
}

func concurrent(t *testing.T, s Subject) {
	const putters, each = 4, 10
	errs := make([]error, putters)
	var want []queue.Message
	var group sync.WaitGroup
	for p := range putters {
		name := fmt.Sprint("g", p)
		for n := range each {
			want = append(want, one(name, n))
		}
		group.Go(func() {
			for n := range each {
				if errs[p] = s.Queue.Put(context.Background(), one(name, n)); errs[p] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.ElementsMatch(t, want, s.received(t))
}

func cancelled(t *testing.T, s Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Queue.Put(ctx, one("ann", 1))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, queue.ErrUnavailable)
}
