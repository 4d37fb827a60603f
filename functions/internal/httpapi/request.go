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

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// event is an HTTP request in payload format 2.0 (API Gateway Developer Guide, "Create AWS Lambda proxy integrations for
// HTTP APIs"), as far as it is needed.
type event struct {
	Version         string            `json:"version"`
	RawPath         string            `json:"rawPath"`
	RawQueryString  string            `json:"rawQueryString"`
	Cookies         []string          `json:"cookies"`
	Headers         map[string]string `json:"headers"`
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
	RequestContext  requestContext    `json:"requestContext"`
}

type requestContext struct {
	DomainName string `json:"domainName"`
	Authorizer struct {
		JWT struct {
			Claims struct {
				Subject string `json:"sub"`
			} `json:"claims"`
		} `json:"jwt"`
	} `json:"authorizer"`
	HTTP struct {
		Method   string `json:"method"`
		Protocol string `json:"protocol"`
		SourceIP string `json:"sourceIp"`
	} `json:"http"`
}

const payloadVersion = "2.0"

// IsEvent reports whether the payload is a request of an HTTP API rather than a direct invocation: it has a request
// context, which stands beside the request and not in anything a client sends.
func IsEvent(payload []byte) bool {
	var e struct {
		RequestContext jsontext.Value `json:"requestContext"`
	}
	return json.Unmarshal(payload, &e) == nil && e.RequestContext != nil
}

// decode reads the payload. Names of members are compared exactly: a claim "Sub" is not the subject.
func decode(payload []byte) (*event, error) {
	var e event
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, fmt.Errorf("read event of the HTTP API: %w", err)
	}
	if e.Version != payloadVersion || e.RequestContext.HTTP.Method == "" {
		return nil, fmt.Errorf("event of payload format %q, want a request in %s", e.Version, payloadVersion)
	}
	return &e, nil
}

type subjectKey struct{}

// Subject returns the sub claim of the token that the API's authorizer verified; empty if the route has no authorizer.
func Subject(r *http.Request) string {
	subject, _ := r.Context().Value(subjectKey{}).(string)
	return subject
}

// request makes what net/http's server would have made of the request.
func (e *event) request(ctx context.Context) (*http.Request, error) {
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return nil, fmt.Errorf("body of the event: %w", err)
		}
	}
	// An HTTP API hands the path on percent-decoded, whatever its member is called. It is taken as it stands: parsed once
	// more, a question mark in it would begin a query, and a percent sign would be an error.
	target := &url.URL{Path: e.RawPath, RawQuery: e.RawQueryString}
	r := &http.Request{
		Method: e.RequestContext.HTTP.Method, URL: target, RequestURI: target.RequestURI(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Host: e.RequestContext.DomainName,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		RemoteAddr: net.JoinHostPort(e.RequestContext.HTTP.SourceIP, "0"),
	}
	if len(body) == 0 {
		r.Body = http.NoBody
	}
	// One member for each name; several values of one name were joined by commas, which only their reader may split.
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Del("Host")
	if len(e.Cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(e.Cookies, "; "))
	}
	return r.WithContext(context.WithValue(ctx, subjectKey{}, e.RequestContext.Authorizer.JWT.Claims.Subject)), nil
}
