package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// requireRefused checks the documented form of a 429 of the policy, and returns how long to wait.
func requireRefused(t *testing.T, got answer, name, policy string) time.Duration {
	t.Helper()
	body := got.object()
	require.Equal(t, http.StatusTooManyRequests, got.status, "%s", got)
	require.Equal(t, "/problems/rate-limited", body["type"], "%s", got)
	require.Equal(t, policy, got.header.Get("RateLimit-Policy"))
	var left, full int
	_, err := fmt.Sscanf(got.header.Get("RateLimit"), strconv.Quote(name)+";r=%d;t=%d", &left, &full)
	require.NoError(t, err, "%s", got.header.Get("RateLimit"))
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, seconds, 1)
	require.LessOrEqual(t, seconds, full)
	again, err := wholeNumber(body, "retryAfter")
	require.NoError(t, err)
	require.EqualValues(t, seconds, again)
	return time.Duration(seconds) * time.Second
}

// Each rate is used up and refused with the fields of the draft, and passes after the time that the refusal says.
func TestDev_refusesWhatExceedsARateUntilTheTimeItSays(t *testing.T) {
	t.Parallel()
	s := ephemeral(t, "--limit", "user=30", "--limit", "feed=3")
	for name, c := range map[string]struct {
		policy string
		use    func(n int) request
		user   string
		// waits is how often a user has to wait as told until there is room.
		waits int
	}{
		"user": {`"user";q=30;w=60`, func(int) request { return request{method: http.MethodGet, path: "/v1/me"} }, "busy", 1},
		"zone": {`"zone";q=1;w=60`, func(n int) request {
			return request{method: http.MethodPatch, path: "/v1/me", match: matching(int64(min(n, 1))),
				body: map[string]any{"defaultTzid": []string{"Asia/Tokyo", "Europe/Berlin"}[n%2]}}
		}, "traveller", 1},
		"feed": {`"feed";q=3;w=3600`, func(int) request {
			feed := s.client("reader").do(http.StatusOK, request{method: http.MethodPut, path: "/v1/me/feed"}).object()
			return request{method: http.MethodGet, path: feed["path"].(string)}
		}, "", 60},
	} {
		one := c.use(0)
		use := func(n int) request {
			if name == "feed" {
				return one // of one address
			}
			return c.use(n)
		}
		user := s.client(c.user)
		var got answer
		n := 0
		for ; n < mostUses*3; n++ {
			var err error
			got, err = user.call(t.Context(), use(n))
			require.NoError(t, err)
			if got.status == http.StatusTooManyRequests {
				break
			}
			require.Less(t, got.status, 300, "%s", got)
		}
		waited := 0
		for wait := requireRefused(t, got, name, c.policy); waited < c.waits; waited++ {
			s.advance(wait)
			var err error
			if got, err = user.call(t.Context(), use(n)); got.status != http.StatusTooManyRequests {
				require.NoError(t, err)
				break
			}
			wait = requireRefused(t, got, name, c.policy)
		}
		require.Less(t, got.status, 300, "%s after %d waits: %s", name, waited+1, got)
	}
}

// Whether a request counts is drawn by the instance alone. A client that chooses its request ids, and sends those again
// that passed, gets no more through than one that does not.
func TestDev_countsRequestsWhateverIDsTheyHave(t *testing.T) {
	t.Parallel()
	const (
		users, points = 8, 60
		mean          = 70 // requests of a user until the seventh that asks: each counts ten
	)
	s := ephemeral(t, "--limit", "user="+strconv.Itoa(points))
	passed := []string{"1"} // ids of requests of the first users that did not ask
	for kind, id := range map[string]func(n int) string{
		"none":              func(int) string { return "" },
		"the same":          func(int) string { return "00000000-0000-4000-8000-000000000000" },
		"those that passed": func(n int) string { return passed[n%len(passed)] },
	} {
		total := 0
		for u := range users {
			c := s.client(fmt.Sprintf("%x-%d", kind, u))
			for n := 0; ; n++ {
				require.Less(t, n, 20*mean, "%s: never refused", kind)
				got, err := c.withID(t.Context(), id(n))
				require.NoError(t, err)
				if got.status == http.StatusTooManyRequests {
					break
				}
				if got.header.Get("RateLimit") == "" && id(n) != "" {
					passed = append(passed, id(n))
				}
				total++
			}
		}
		t.Logf("ids %s: %d requests of %d users passed", kind, total, users)
		require.InDelta(t, users*mean, total, 0.6*users*mean, kind)
	}
}

// withID makes a request that has no effect, under an id that the client chose.
func (c client) withID(ctx context.Context, id string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.system.url()+"/v1/notes/note_none", http.NoBody)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+c.user)
	if id != "" {
		for _, name := range []string{"X-Request-Id", "X-Amzn-Trace-Id", "X-Trace-Id", "Idempotency-Key"} {
			r.Header.Set(name, id)
		}
	}
	in, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	return answer{status: in.StatusCode, header: in.Header}, in.Body.Close()
}
