package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The requests and answers that pages of other origins may send and read (the CORS protocol of the Fetch standard).
// The deployment's API is configured with these names, too.

// CORSMaxAge is how long a browser may cache the answer to a preflight.
const CORSMaxAge = 2 * time.Hour

// CORSRequestHeaders returns the headers that a page may send.
func CORSRequestHeaders() []string {
	return []string{"Authorization", "Content-Type", headerKey, "If-Match", "If-None-Match"}
}

// CORSExposedHeaders returns the headers of an answer that a page may read in addition to those that are always
// readable.
func CORSExposedHeaders() []string {
	return []string{
		"ETag", "Location", "Retry-After", headerReplayed, headerRequestID, headerTraceID, "Date", headerParts, headerSince,
		headerPolicy, headerRate, headerEffective,
	}
}

// CORSMethods returns the methods that a page may use on some path.
func CORSMethods() []string {
	return []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
}

// CheckOrigin accepts an origin as a browser sends it: a scheme, a host in small letters, and a port unless it is the
// scheme's own. There is no wildcard.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err == nil && u.Host != "" && u.Path != "" {
		return fmt.Errorf("%q is no origin: it ends with the path %q, and an origin has none", shorten(origin),
			shorten(u.Path))
	}
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Hostname() == "" ||
		origin != u.Scheme+"://"+u.Host ||
		strings.ToLower(origin) != origin || strings.Contains(u.Host, "*") || strings.HasSuffix(u.Host, ":") ||
		u.Port() == map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		return fmt.Errorf("%q is no origin such as https://app.example.com or http://localhost:5173", shorten(origin))
	}
	return nil
}

// allowOrigin sets the headers of every answer to a page of an allowed origin, including refusals.
func (a *API) allowOrigin(h http.Header, r *http.Request) {
	if len(a.cfg.Origins) == 0 {
		return
	}
	h.Add("Vary", "Origin")
	if values := r.Header.Values("Origin"); len(values) == 1 && slices.Contains(a.cfg.Origins, values[0]) {
		h.Set("Access-Control-Allow-Origin", values[0])
		h.Set("Access-Control-Expose-Headers", strings.Join(CORSExposedHeaders(), ", "))
	}
}

// isPreflight reports whether the request is a browser's preflight.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight says what a page may send to the route. A preflight carries no token, so it needs none. Its answer
// shows a page of another origin that it is not allowed.
func (x *exchange) answerPreflight(methods route) {
	h := x.Header()
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", methods.allowed())
		h.Set("Access-Control-Allow-Headers", strings.Join(CORSRequestHeaders(), ", "))
		h.Set("Access-Control-Max-Age", strconv.Itoa(int(CORSMaxAge.Seconds())))
	}
	x.write(http.StatusNoContent, "", nil)
}
