package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"nexus/pkg/api"
)

// request makes the request that net/http's server would have made. Its claims are those of the token that the API's
// authorizer verified; they are empty if the route has no authorizer.
func (e *event) request(ctx context.Context) (*http.Request, error) {
	body := []byte(e.body)
	if e.inBase64 {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.body); err != nil {
			return nil, fmt.Errorf("body of the event: %w", err)
		}
	}
	// An HTTP API passes the path percent-decoded. It is used unchanged: a second parsing would treat a question mark in
	// it as the beginning of a query, and a percent sign as an error.
	target := &url.URL{Path: e.path, RawQuery: e.query}
	r := &http.Request{
		Method: e.method, URL: target, RequestURI: target.RequestURI(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Host: e.domain,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		RemoteAddr: net.JoinHostPort(e.source, "0"),
	}
	if len(body) == 0 {
		r.Body = http.NoBody
	}
	// One member for each name; several values of one name were joined by commas, which only the header's reader may
	// split.
	for name, value := range e.headers {
		r.Header.Set(name, value)
	}
	r.Header.Del("Host")
	if len(e.cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(e.cookies, "; "))
	}
	ctx = api.WithAddresses(ctx, api.Addresses{
		Command: strings.TrimSuffix(e.addresses.Command, "/"), Query: strings.TrimSuffix(e.addresses.Query, "/"),
	})
	return r.WithContext(api.WithClaims(ctx, e.claims)), nil
}

// unescaped returns a path percent-decoded: a function URL passes it as the client sent it, which an HTTP API does not.
// So an escaped slash divides it at both. A path that cannot be decoded stays as it is, and leads nowhere.
func unescaped(path string) string {
	if decoded, err := url.PathUnescape(path); err == nil {
		return decoded
	}
	return path
}
