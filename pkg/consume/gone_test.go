package consume_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/consume"
)

// withFence returns the fixture with a fence by hand, and the users that it was asked for.
func withFence(
	t *testing.T, ask func(user string) (bool, error), consumers ...*recordingConsumer,
) (*fixture, *[]string) {
	t.Helper()
	var asked []string
	b := setupWith(t, func(cfg *consume.Config) {
		cfg.Gone = func(_ context.Context, users []string) (map[string]bool, error) {
			asked = append(asked, users...)
			gone := map[string]bool{}
			for _, user := range users {
				var err error
				if gone[user], err = ask(user); err != nil {
					return nil, err
				}
			}
			return gone, nil
		}
	}, consumers...)
	return b, &asked
}

// What cannot be decoded is parked, unless its user is gone: an erasure makes such records itself.
func TestLoop_finishesWhatIsOfAGoneUserUnread(t *testing.T) {
	t.Parallel()
	gone := true
	s := &recordingConsumer{name: "stats"}
	b, asked := withFence(t, func(string) (bool, error) { return gone, nil }, s)
	require.Empty(t, b.handle(t, event("a1", "?", "b1")))
	require.Empty(t, s.done)
	require.Empty(t, b.shelf.names())
	require.Equal(t, []string{"user_1"}, *asked, "once in a batch")
	require.Equal(t, consume.Counts{Records: 3, Done: 3}, b.countsOf("stats"))

	gone = false
	require.Empty(t, b.handle(t, event("a1", "?", "b1")))
	require.Equal(t, []string{"a1", "b1"}, s.done)
	require.Len(t, b.shelf.names(), 1)

	gone = true
	nobody := strings.ReplaceAll(string(event("?")), `"USER#user_1"`, `"SHOP#1"`)
	require.Empty(t, b.handle(t, []byte(nobody)))
	require.Len(t, b.shelf.names(), 2, "of no user, and so parked")
}

func TestLoop_beginsNothingWhileTheFenceCannotBeAsked(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats"}
	b, _ := withFence(t, func(string) (bool, error) { return false, errors.New("store unavailable") }, s)
	require.Equal(t, "100", b.handle(t, event("a1", "b1")))
	require.Empty(t, s.done)
	require.Equal(t, consume.Counts{Records: 2, Unfinished: 2}, b.countsOf("stats"))
}
