package httpapi

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// recorder is an http.ResponseWriter that records the answer.
type recorder struct {
	header http.Header
	status int
	sent   http.Header // as it was when the status was written
	body   []byte
}

func (w *recorder) Header() http.Header { return w.header }

// WriteHeader records the first final status; an event cannot carry informational ones.
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

// event returns the answer as Lambda passes it to the API, in payload format 2.0. The format has no header with
// several values: cookies have a separate member, others are joined. A body that is no text is encoded in base64. So is
// a text that would be too long: base64 adds a third to it, and escapes double a text of quotes.
func (w *recorder) event() ([]byte, error) {
	w.WriteHeader(http.StatusOK) // as a server answers for a handler that wrote nothing
	out := strconv.AppendInt([]byte(`{"statusCode":`), int64(w.status), 10)
	out, err := w.appendHeaders(append(out, `,"headers":{`...))
	if err != nil {
		return nil, err
	}
	out = append(out, '}')
	if cookies := w.sent["Set-Cookie"]; len(cookies) > 0 {
		if out, err = appendTexts(append(out, `,"cookies":[`...), cookies); err != nil {
			return nil, fmt.Errorf("cookies: %w", err)
		}
		out = append(out, ']')
	}
	out = append(out, `,"body":`...)
	const asText = `,"isBase64Encoded":false}`
	if utf8.Valid(w.body) {
		text, err := jsontext.AppendQuote(out, w.body)
		if err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
		if len(text)+len(asText) <= MaxAnswer {
			return append(text, asText...), nil
		}
	}
	out = append(base64.StdEncoding.AppendEncode(append(out, '"'), w.body), '"')
	return append(out, `,"isBase64Encoded":true}`...), nil
}

func (w *recorder) appendHeaders(out []byte) ([]byte, error) {
	separator := ""
	for _, name := range slices.Sorted(maps.Keys(w.sent)) {
		if name == "Set-Cookie" || name == "Content-Length" || len(w.sent[name]) == 0 { // the API computes it
			continue
		}
		var err error
		out, err = jsontext.AppendQuote(append(out, separator...), strings.ToLower(name))
		if err == nil {
			out, err = jsontext.AppendQuote(append(out, ':'), strings.Join(w.sent[name], ", "))
		}
		if err != nil {
			return nil, fmt.Errorf("header %q: %w", name, err)
		}
		separator = ","
	}
	return out, nil
}

func appendTexts(out []byte, texts []string) ([]byte, error) {
	for i, text := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = jsontext.AppendQuote(out, text); err != nil {
			return nil, err
		}
	}
	return out, nil
}
