package main

import (
	"context"
	"net/http"
	"time"

	"nexus/pkg/probe"
)

// callTimeout exceeds the 30 s that a move of the clock may take to become idle at each stop.
const callTimeout = 2 * time.Minute

// client is one user's program.
type client struct {
	base string
	user string
	http *http.Client
}

func newClient(base string) *client {
	return &client{base: base, user: "demo", http: &http.Client{Transport: &http.Transport{}, Timeout: callTimeout}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// object is a decoded JSON object.
type object = probe.Object

func (c *client) probe() *probe.Client {
	return &probe.Client{Base: c.base, Token: c.user, HTTP: c.http}
}

// call makes one request with JSON. It sends a version of 0 or more as If-Match.
func (c *client) call(ctx context.Context, method, path string, body any, version int64) (probe.Answer, error) {
	return c.probe().Call(ctx, method, path, body, version)
}

// fetch makes one request as the user, unless the header sets Authorization: an empty one sends no authentication.
func (c *client) fetch(
	ctx context.Context, method, path string, content []byte, header http.Header,
) (probe.Reply, error) {
	return c.probe().Fetch(ctx, method, path, content, header)
}
