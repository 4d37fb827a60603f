// Package pushtest is the conformance suite of the push port. Every adapter runs it, so that the code above the port
// may be tested on any of them.
package pushtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/push"
)

// Subject is a service to which the users ann, bob and ann-2 listen, each on its own channel.
type Subject struct {
	Pusher push.Pusher
	// Heard returns the events that a listener on the channel got, in any order. Every hint that was sent without an
	// error has arrived.
	Heard func(t *testing.T, channel string) []string
}

// Run runs the suite; open returns a new subject for each test.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"a hint is the token, on the user's channel":   whole,
		"no other user hears it":                       separate,
		"hints side by side all arrive":                concurrent,
		"a user without a channel is refused":          refused,
		"a caller without time gets an error, no hint": cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func whole(t *testing.T, s Subject) {
	require.NoError(t, s.Pusher.Hint(t.Context(), "ann", "AbC_-09"))
	require.Equal(t, []string{`{"next":"AbC_-09"}`}, s.Heard(t, "/user/ann"))
}

func separate(t *testing.T, s Subject) {
	require.NoError(t, s.Pusher.Hint(t.Context(), "bob", "one"))
	require.NoError(t, s.Pusher.Hint(t.Context(), "ann-2", "two"))
	require.Empty(t, s.Heard(t, "/user/ann"))
	require.Equal(t, []string{`{"next":"one"}`}, s.Heard(t, "/user/bob"))
	require.Equal(t, []string{`{"next":"two"}`}, s.Heard(t, "/user/ann-2"))
}

func concurrent(t *testing.T, s Subject) {
	const senders = 8
	errs, want := make([]error, senders), make([]string, senders)
	var group sync.WaitGroup
	for i := range senders {
		want[i] = fmt.Sprintf(`{"next":"%d"}`, i)
		group.Go(func() { errs[i] = s.Pusher.Hint(context.Background(), "ann", fmt.Sprint(i)) })
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.ElementsMatch(t, want, slices.Compact(slices.Sorted(slices.Values(s.Heard(t, "/user/ann")))))
}

func refused(t *testing.T, s Subject) {
	for _, user := range []string{"", "*", "ann/*", "ann_b", "-ann", "sub-abc"} {
		require.ErrorIs(t, s.Pusher.Hint(t.Context(), user, "t"), push.ErrInvalid, "%q", user)
	}
	for _, channel := range []string{"/user/ann", "/user/bob", "/user/ann-2"} {
		require.Empty(t, s.Heard(t, channel))
	}
}

func cancelled(t *testing.T, s Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Pusher.Hint(ctx, "ann", "t")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, push.ErrUnavailable)
	require.Empty(t, s.Heard(t, "/user/ann"))
}
