package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// imports sends a calendar under a key; the status is 0 without an answer.
func (c client) imports(ctx context.Context, text, key string) (status int, body []byte, replayed bool) {
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, c.system.url()+"/v1/calendar/import",
		strings.NewReader(text))
	require.NoError(c.system.t, err)
	out.Header.Set("Content-Type", "text/calendar")
	out.Header.Set("Authorization", "Bearer "+c.user)
	out.Header.Set("Idempotency-Key", key)
	in, err := c.http.Do(out)
	if err != nil {
		return 0, nil, false // the other end was killed
	}
	body, err = io.ReadAll(in.Body)
	if in.Body.Close() != nil || err != nil {
		return 0, nil, false
	}
	return in.StatusCode, body, in.Header.Get("Idempotency-Replayed") != ""
}

// A process is killed in the middle of an import. The client repeats the request as soon as the next process is there.
func TestImport_goesOnAtOnceAfterAKill(t *testing.T) {
	t.Parallel()
	const components, rounds = 300, 2
	s := onDirectory(t)
	cut := 0
	for round := range rounds {
		c := s.client(fmt.Sprint("importer", round))
		var text strings.Builder
		text.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\n")
		first := time.Date(2032, 1, 1, 9, 0, 0, 0, time.UTC)
		for i := range components {
			fmt.Fprintf(&text, "BEGIN:VEVENT\r\nUID:%d@example.com\r\nDTSTAMP:20260301T120000Z\r\nDTSTART:%s\r\n"+
				"SUMMARY:event %d\r\nEND:VEVENT\r\n",
				i, first.Add(time.Duration(i)*time.Hour).Format("20060102T150405Z"), i)
		}
		text.WriteString("END:VCALENDAR\r\n")
		dying, stop := context.WithCancel(t.Context())
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			_, _, _ = c.imports(dying, text.String(), "k")
		}()
		window := request{
			method: http.MethodGet, path: "/v1/agenda?from=2032-01-01T00:00:00Z&to=2032-03-01T00:00:00Z&limit=1",
		}
		require.Eventually(t, func() bool {
			got, err := c.call(t.Context(), window)
			items, _ := got.object()["items"].([]any)
			return err == nil && len(items) > 0
		}, persistence, time.Millisecond)
		s.kill()
		stop()
		<-answered
		s.start()

		began := time.Now()
		status, body, replayed := c.imports(t.Context(), text.String(), "k")
		took := time.Since(began)
		require.Equal(t, http.StatusOK, status, "%s", body)
		if !replayed {
			cut++
		}
		again, same, replayed := c.imports(t.Context(), text.String(), "k")
		require.Equal(t, http.StatusOK, again)
		require.True(t, replayed)
		require.Equal(t, string(body), string(same))
		events := 0
		for cursor := ""; ; {
			page := c.get(strings.Replace(window.path, "limit=1", "limit=100", 1) + cursor)
			for _, item := range page["items"].([]any) {
				require.EqualValues(t, "1", fmt.Sprint(item.(map[string]any)["version"]), "written once")
				events++
			}
			next, more := page["nextCursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		require.Equal(t, components, events)
		t.Logf("killed, and answered %s after the next process began: %s", took.Round(time.Millisecond), body)
	}
	require.Positive(t, cut, "no import was met in the middle")
	s.waitUntilIdle()
	_, differences := s.recount()
	require.Empty(t, differences)
}
