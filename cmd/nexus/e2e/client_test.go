package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// callBound bounds one call over HTTP; POST /dev/settle may take 30 s by contract.
	callBound = 45 * time.Second
	// persistence is how long a client goes on trying while there is no answer.
	persistence = 60 * time.Second
	// retryPause is the wait between two tries.
	retryPause = 15 * time.Millisecond
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 32 << 20
)

// newHTTP returns a client with connections of its own, closed when the test ends.
func newHTTP(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, Timeout: callBound,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// request is one call as a client makes it.
type request struct {
	method, path string
	body         any    // JSON; nil for none
	match        string // If-Match, see matching
	key          string // Idempotency-Key
}

// matching is the entity tag of a version.
func matching(version int64) string { return strconv.Quote(strconv.FormatInt(version, 10)) }

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %.600s", a.status, a.body) }

// object is the body as a JSON object with exact numbers; nil if it is none.
func (a answer) object() map[string]any {
	var out map[string]any
	if decode(a.body, &out) != nil {
		return nil
	}
	return out
}

func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(into)
}

// client is one user's program.
type client struct {
	system *system
	http   *http.Client
	user   string
}

func (s *system) client(user string) client {
	return client{system: s, http: newHTTP(s.t), user: user}
}

// anonymous is a client of no user. All calls share its connections: the system keeps few idle ones.
func (s *system) anonymous() client {
	s.connects.Do(func() { s.connections = newHTTP(s.t) })
	return client{system: s, http: s.connections}
}

// call makes the request once.
func (c client) call(ctx context.Context, r request) (answer, error) {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return answer{}, err
		}
		body = bytes.NewReader(text)
	}
	out, err := http.NewRequestWithContext(ctx, r.method, c.system.url()+r.path, body)
	if err != nil {
		return answer{}, err
	}
	if r.body != nil {
		out.Header.Set("Content-Type", "application/json")
	}
	if c.user != "" {
		out.Header.Set("Authorization", "Bearer "+c.user)
	}
	if r.match != "" {
		out.Header.Set("If-Match", r.match)
	}
	if r.key != "" {
		out.Header.Set("Idempotency-Key", r.key)
	}
	in, err := c.http.Do(out)
	if err != nil {
		return answer{}, err
	}
	content, err := io.ReadAll(io.LimitReader(in.Body, maxAnswer))
	return answer{in.StatusCode, in.Header, content}, errors.Join(err, in.Body.Close())
}

// insist repeats the request as it is until an answer comes that does not ask to try again. It returns the number of
// tries.
func (c client) insist(ctx context.Context, r request) (got answer, tries int, err error) {
	ctx, cancel := context.WithTimeout(ctx, persistence)
	defer cancel()
	for {
		tries++
		got, err = c.call(ctx, r)
		if err == nil && got.status != http.StatusServiceUnavailable {
			return got, tries, nil
		}
		timer := time.NewTimer(retryPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return answer{}, tries,
				fmt.Errorf("%s %s: no answer within %s: last %s: %w", r.method, r.path, persistence, got, err)
		}
	}
}

// do makes the request and requires the status.
func (c client) do(status int, r request) answer {
	c.system.t.Helper()
	got, err := c.call(c.system.t.Context(), r)
	require.NoError(c.system.t, err)
	require.Equal(c.system.t, status, got.status, "%s %s: %s", r.method, r.path, got)
	return got
}

// create makes an entity and returns it.
func (c client) create(collection string, fields map[string]any) map[string]any {
	c.system.t.Helper()
	return c.do(http.StatusCreated, request{method: http.MethodPost, path: "/v1/" + collection, body: fields}).object()
}

// get returns the object at the path.
func (c client) get(path string) map[string]any {
	c.system.t.Helper()
	return c.do(http.StatusOK, request{method: http.MethodGet, path: path}).object()
}

// wholeNumber is a member that is a whole number.
func wholeNumber(object map[string]any, name string) (int64, error) {
	n, ok := object[name].(json.Number)
	if !ok {
		return 0, fmt.Errorf("member %s is %T, no number", name, object[name])
	}
	return n.Int64()
}
