package local

import (
	"net/http"
	"strconv"
	"strings"
)

// withLineEnds ends each JSON answer with a line feed, for readers at a terminal. A compressed answer stays as it is.
func withLineEnds(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := &lineAnswer{ResponseWriter: w}
		next.ServeHTTP(line, r)
		if line.ends {
			_, _ = w.Write([]byte{'\n'}) // the client may have disconnected
		}
	})
}

// lineAnswer counts the line feed in the length of the answer. Its handler sends a header before the content.
type lineAnswer struct {
	http.ResponseWriter
	ends bool
}

// WriteHeader implements [http.ResponseWriter].
func (a *lineAnswer) WriteHeader(status int) {
	h := a.Header()
	length, err := strconv.Atoi(h.Get("Content-Length"))
	a.ends = err == nil && strings.HasSuffix(h.Get("Content-Type"), "json") && h.Get("Content-Encoding") == ""
	if a.ends {
		h.Set("Content-Length", strconv.Itoa(length+1))
	}
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (a *lineAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
