package cost

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// request is a client's request.
type request struct {
	activity     Activity
	function     string
	user         string
	method, path string
	body         map[string]any
	version      int64 // If-Match; none if 0
}

// response is the part of an answer that the replay uses.
type response struct {
	ID      string
	Version int64
}

var errRefused = errors.New("the request was refused")

// send gets a request answered and carries out everything that follows from it. The id is that of the member named.
func (w *world) send(ctx context.Context, in request, idMember string) (response, error) {
	w.tally.begin(in.activity)
	var answered answer
	err := w.tally.invoke(in.function, func() error {
		r, err := in.http(ctx)
		if err != nil {
			return err
		}
		w.surfaces[in.function].ServeHTTP(&answered, r)
		return nil
	})
	if err != nil {
		return response{}, err
	}
	if answered.status >= http.StatusBadRequest {
		return response{}, fmt.Errorf("%s: %s %s: %w: %d %s", in.activity.Name, in.method, in.path, errRefused,
			answered.status, answered.body.Bytes())
	}
	w.tally.current.Requests++
	w.tally.current.ResponseBytes += int64(answered.body.Len())
	if err := w.deliver(ctx); err != nil {
		return response{}, err
	}
	if idMember == "" {
		return response{}, nil
	}
	body, err := answered.plain()
	if err != nil {
		return response{}, err
	}
	return read(body, idMember)
}

func (in request) http(ctx context.Context) (*http.Request, error) {
	var content []byte
	if in.body != nil {
		var err error
		if content, err = json.Marshal(in.body); err != nil {
			return nil, fmt.Errorf("body of %s: %w", in.path, err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, in.method, in.path, bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", in.path, err)
	}
	r.RequestURI, r.Host = in.path, "localhost"
	r.Header.Set("Authorization", "Bearer "+in.user)
	r.Header.Set("Accept-Encoding", "gzip") // as every browser does
	if in.body != nil {
		r.Header.Set("Content-Type", "application/json")
		if in.method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}
	if in.version > 0 {
		r.Header.Set("If-Match", `"`+strconv.FormatInt(in.version, 10)+`"`)
	}
	return r, nil
}

func read(body []byte, idMember string) (response, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return response{}, fmt.Errorf("read the answer: %w", err)
	}
	var out response
	for name, into := range map[string]any{idMember: &out.ID, "version": &out.Version} {
		if err := json.Unmarshal(members[name], into); err != nil {
			return response{}, fmt.Errorf("%s of the answer: %w", name, err)
		}
	}
	return out, nil
}

// answer is a ResponseWriter that records.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(body []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.body.Write(body)
}

// plain returns the body without its encoding.
func (a *answer) plain() ([]byte, error) {
	if a.header.Get("Content-Encoding") != "gzip" {
		return a.body.Bytes(), nil
	}
	reader, err := gzip.NewReader(&a.body)
	if err != nil {
		return nil, fmt.Errorf("compressed answer: %w", err)
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("compressed answer: %w", err)
	}
	return body, nil
}
