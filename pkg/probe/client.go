// Package probe looks at a deployment from outside, as a user's program does: plain HTTP with JSON, without generated
// code. The command line and the canary share it.
//
// It promises that a failed step says what was asked and what came instead. It must never use another way into the
// system than its users have.
package probe

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

// maxAnswerBytes bounds the bytes of an answer that are read.
const maxAnswerBytes = 16 << 20

// Client is one user's program.
type Client struct {
	Base  string // address of the API, without a path
	Token string // the user's bearer token
	HTTP  *http.Client
}

// Answer is a decoded answer. Body is nil without a body.
type Answer struct {
	Status int
	Body   Object
}

// Object is a decoded JSON object. Its methods return zero values for absent members.
type Object map[string]any

// Str returns a text.
func (o Object) Str(name string) string {
	s, _ := o[name].(string)
	return s
}

// Int returns a whole number.
func (o Object) Int(name string) int64 {
	n, _ := o[name].(json.Number)
	i, _ := n.Int64()
	return i
}

// Object returns an object.
func (o Object) Object(name string) Object {
	m, _ := o[name].(map[string]any)
	return m
}

// Time returns an instant.
func (o Object) Time(name string) time.Time {
	t, _ := time.Parse(time.RFC3339, o.Str(name))
	return t
}

// List returns the members that are objects.
func (o Object) List(name string) []Object {
	values, _ := o[name].([]any)
	var out []Object
	for _, v := range values {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// Reply is an undecoded answer.
type Reply struct {
	Status int
	Header http.Header
	Text   string
}

// Call makes one request with JSON. It sends a version of 0 or more as If-Match.
func (c *Client) Call(ctx context.Context, method, path string, body any, version int64) (Answer, error) {
	var content []byte
	header := http.Header{}
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return Answer{}, fmt.Errorf("%s %s: %w", method, path, err)
		}
		header.Set("Content-Type", "application/json")
	}
	if version >= 0 {
		header.Set("If-Match", strconv.Quote(strconv.FormatInt(version, 10)))
	}
	got, err := c.Fetch(ctx, method, path, content, header)
	if err != nil {
		return Answer{}, err
	}
	out := Answer{Status: got.Status}
	if out.Body, err = Decoded(got.Text); err != nil {
		return Answer{}, fmt.Errorf("%s %s: answer %.200q: %w", method, path, got.Text, err)
	}
	return out, nil
}

// Decoded returns the object that a text is, nil for no text.
func Decoded(text string) (Object, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var body Object
	err := decoder.Decode(&body)
	return body, err
}

// Fetch makes one request as the user, unless the header sets Authorization: an empty one sends no authentication.
func (c *Client) Fetch(ctx context.Context, method, path string, content []byte, header http.Header) (Reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(content))
	if err != nil {
		return Reply{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	maps.Copy(request.Header, header)
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return Reply{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return Reply{response.StatusCode, response.Header, string(text)}, nil
}
