package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// callTimeout is above the 30 s that a move of the clock may take to settle at each stop.
	callTimeout = 2 * time.Minute
	// maxAnswerBytes bounds what is read of an answer.
	maxAnswerBytes = 16 << 20
)

// client is one user's program: plain HTTP, as anybody could write it.
type client struct {
	base string
	user string
	http *http.Client
}

func newClient(base string) *client {
	return &client{base: base, user: "demo", http: &http.Client{Transport: &http.Transport{}, Timeout: callTimeout}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// answer is what came back. Body is nil where there is none.
type answer struct {
	status int
	body   object
}

// object is a JSON object as it was decoded. Its methods give zero values for what is not there.
type object map[string]any

func (o object) str(name string) string {
	s, _ := o[name].(string)
	return s
}

func (o object) int(name string) int64 {
	n, _ := o[name].(json.Number)
	i, _ := n.Int64()
	return i
}

func (o object) object(name string) object {
	m, _ := o[name].(map[string]any)
	return m
}

func (o object) time(name string) time.Time {
	t, _ := time.Parse(time.RFC3339, o.str(name))
	return t
}

// list returns the members that are objects.
func (o object) list(name string) []object {
	values, _ := o[name].([]any)
	var out []object
	for _, v := range values {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// call makes one request. A version of 0 or more goes into If-Match.
func (c *client) call(ctx context.Context, method, path string, body any, version int64) (answer, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.user)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if version >= 0 {
		request.Header.Set("If-Match", strconv.Quote(strconv.FormatInt(version, 10)))
	}
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	out := answer{status: response.StatusCode}
	if len(bytes.TrimSpace(text)) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&out.body); err != nil {
			return answer{}, fmt.Errorf("%s %s: answer %.200q: %w", method, path, text, err)
		}
	}
	return out, nil
}
