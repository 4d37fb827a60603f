package push_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/push"
)

func TestChannel_isThatOfTheClaimAlone(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]string{
		"ann":                                  "/user/ann",
		"0F4c-9":                               "/user/0F4c-9",
		"8f14e45f-ceea-467f-a0e6-1b1f5c0b9d3e": "/user/8f14e45f-ceea-467f-a0e6-1b1f5c0b9d3e",
		strings.Repeat("a", 50):                "/user/" + strings.Repeat("a", 50),
		"":                                     "",
		"*":                                    "",
		"ann/*":                                "",
		"ann_b":                                "",
		"-ann":                                 "",
		"ann-":                                 "",
		"änn":                                  "",
		strings.Repeat("a", 51):                "",
	} {
		channel, ok := push.Channel(user)
		require.Equal(t, want, channel, "%q", user)
		require.Equal(t, want != "", ok, "%q", user)
	}
}

func TestChannel_isNoOtherUsersClaim(t *testing.T) {
	t.Parallel()
	// A digest may look like a segment. A user who has that text as claim is another one.
	for i := range 200 {
		claim := "auth0|" + strings.Repeat("x", i)
		user, ok := api.UserOfSubject(claim)
		require.True(t, ok)
		_, ok = push.Channel(user)
		require.False(t, ok, user)
	}
	_, ok := push.Channel("sub-abc")
	require.False(t, ok)
}

func TestEvent_isTheTokenAlone(t *testing.T) {
	t.Parallel()
	channel, event, err := push.Event("ann", `a"b`)
	require.NoError(t, err)
	require.Equal(t, "/user/ann", channel)
	require.JSONEq(t, `{"next":"a\"b"}`, string(event))

	_, _, err = push.Event("ann_b", "t")
	require.ErrorIs(t, err, push.ErrInvalid)
}

func TestPlaceOf_isWhereTheDocumentConnects(t *testing.T) {
	t.Parallel()
	require.Equal(t, push.Place{URL: "wss://r.example/event/realtime", Host: "h.example"},
		push.PlaceOf("r.example", "h.example"))
}
