package load_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// radicale is a CalDAV server, as Debian packages it, with the calendars of the measured users.
type radicale struct {
	base string
	*subject
}

// weekReport asks as calendar programs do for the events of a week (RFC 4791, paragraph 7.8): those stored, and each
// series as its rule. No occurrence is made, and tasks are not among them.
const weekReport = `<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<D:prop><D:getetag/><C:calendar-data/></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">
<C:time-range start="%s" end="%s"/>
</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`

// startRadicale starts the server, with each user's calendar as the system exports it. It skips the benchmark where the
// program is missing.
func startRadicale(b *testing.B, s *subject) radicale {
	b.Helper()
	program, err := exec.LookPath("radicale")
	if err != nil {
		b.Skip("NOT MEASURED: this machine has no radicale, Debian's package of that name")
	}
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp4", "127.0.0.1:0")
	require.NoError(b, err)
	address := listener.Addr().String()
	require.NoError(b, listener.Close())
	run := exec.CommandContext(b.Context(), program, "--config", "", "--server-hosts", address, "--auth-type", "none",
		"--storage-filesystem-folder", b.TempDir(), "--logging-level", "error")
	var said bytes.Buffer
	run.Stdout, run.Stderr = &said, &said
	require.NoError(b, run.Start())
	b.Cleanup(func() {
		require.NoError(b, run.Process.Kill())
		_ = run.Wait() // it says that the process was killed
	})
	require.Eventually(b, func() bool {
		connection, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", address)
		return err == nil && connection.Close() == nil
	}, 20*time.Second, 50*time.Millisecond, "radicale does not listen")
	r := radicale{"http://" + address, s}
	for _, user := range s.users {
		calendar, err := s.do(b.Context(), user, http.MethodGet, "/v1/calendar.ics", nil)
		require.NoError(b, err)
		_, err = r.call(b.Context(), user, http.MethodPut, "text/calendar", calendar, http.StatusCreated)
		require.NoError(b, err, "%s", said.String())
		answer, err := r.weekOf(b.Context(), user)
		require.NoError(b, err)
		require.Contains(b, string(answer), "BEGIN:VEVENT")
	}
	return r
}

// week asks for the measured week of some user.
func (r radicale) week(ctx context.Context, chance *rand.Rand) error {
	_, err := r.weekOf(ctx, r.users[chance.IntN(len(r.users))])
	return err
}

func (r radicale) weekOf(ctx context.Context, user string) ([]byte, error) {
	const form = "20060102T150405Z"
	report := fmt.Sprintf(weekReport, r.monday.Format(form), r.monday.Add(week).Format(form))
	return r.call(ctx, user, "REPORT", "application/xml", []byte(report), http.StatusMultiStatus)
}

// call sends a request to a user's calendar and returns the whole answer, which must have the status.
func (r radicale) call(ctx context.Context, user, method, kind string, body []byte, want int) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, method, r.base+"/"+user+"/calendar/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.SetBasicAuth(user, "any")
	q.Header.Set("Content-Type", kind)
	q.Header.Set("Depth", "1")
	res, err := r.http.Do(q)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != want {
		err = fmt.Errorf("%s of %s: %w %d: %.300s", method, user, errStatus, res.StatusCode, text)
	}
	return text, errors.Join(err, res.Body.Close())
}
