package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// callTimeout exceeds the 30 s that a move of the clock may take to become idle at each stop.
	callTimeout = 2 * time.Minute
	// maxAnswerBytes bounds the bytes of an answer that are read.
	maxAnswerBytes = 16 << 20
)

// client is one user's program: plain HTTP, without generated code.
type client struct {
	base string
	user string
	http *http.Client
}

func newClient(base string) *client {
	return &client{base: base, user: "demo", http: &http.Client{Transport: &http.Transport{}, Timeout: callTimeout}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// answer is a decoded answer. Body is nil without a body.
type answer struct {
	status int
	body   object
}

// object is a decoded JSON object. Its methods return zero values for absent members.
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

// reply is an undecoded answer.
type reply struct {
	status int
	header http.Header
	text   string
}

// call makes one request with JSON. It sends a version of 0 or more as If-Match.
func (c *client) call(ctx context.Context, method, path string, body any, version int64) (answer, error) {
	var content []byte
	header := http.Header{}
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
		}
		header.Set("Content-Type", "application/json")
	}
	if version >= 0 {
		header.Set("If-Match", strconv.Quote(strconv.FormatInt(version, 10)))
	}
	got, err := c.fetch(ctx, method, path, content, header)
	if err != nil {
		return answer{}, err
	}
	out := answer{status: got.status}
	if out.body, err = decoded(got.text); err != nil {
		return answer{}, fmt.Errorf("%s %s: answer %.200q: %w", method, path, got.text, err)
	}
	return out, nil
}

// decoded returns nil for no text.
func decoded(text string) (object, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var body object
	err := decoder.Decode(&body)
	return body, err
}

// fetch makes one request as the user, unless the header sets Authorization: an empty one sends no authentication.
func (c *client) fetch(ctx context.Context, method, path string, content []byte, header http.Header) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(content))
	if err != nil {
		return reply{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.user)
	maps.Copy(request.Header, header)
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return reply{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return reply{response.StatusCode, response.Header, string(text)}, nil
}
