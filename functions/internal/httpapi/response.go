package httpapi

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// response is an answer in payload format 2.0. The format has no header with several values: cookies have a place of
// their own, others are joined.
type response struct {
	StatusCode      int               `json:"statusCode"`
	Headers         map[string]string `json:"headers"`
	Cookies         []string          `json:"cookies,omitempty"`
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}

// recorder is the http.ResponseWriter that keeps the answer.
type recorder struct {
	header http.Header
	status int
	sent   http.Header // as it stood when the status was written
	body   []byte
}

func (w *recorder) Header() http.Header { return w.header }

// WriteHeader keeps the first final status; informational ones have nobody to go to.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, b...)
	return len(b), nil
}

// event returns the answer as Lambda hands it to the API. A body that is no text travels in base64.
func (w *recorder) event() ([]byte, error) {
	w.WriteHeader(http.StatusOK) // what a server answers for a handler that wrote nothing
	out := response{StatusCode: w.status, Headers: map[string]string{}, Body: string(w.body)}
	for name, values := range w.sent {
		switch {
		case name == "Set-Cookie":
			out.Cookies = slices.Clone(values)
		case name == "Content-Length": // the API counts for itself
		case len(values) > 0:
			out.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
		}
	}
	if !utf8.Valid(w.body) {
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(w.body), true
	}
	return json.Marshal(out, json.Deterministic(true))
}
