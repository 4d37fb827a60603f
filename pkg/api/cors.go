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

// What pages of other origins may send and see (the CORS protocol of the Fetch standard). The API of the deployment is
// configured with these names, too.

// CORSMaxAge is how long a browser may keep the answer to a preflight.
const CORSMaxAge = 2 * time.Hour

// CORSRequestHeaders are the headers that a page may send.
func CORSRequestHeaders() []string {
	return []string{"Authorization", "Content-Type", headerKey, "If-Match", "If-None-Match"}
}

// CORSExposedHeaders are the headers of an answer that a page may read besides those that it always may.
func CORSExposedHeaders() []string {
	return []string{
		"ETag", "Location", "Retry-After", headerReplayed, headerRequestID, headerTraceID, "Date", headerParts, headerSince,
	}
}

// CORSMethods are the methods that a page may use on some path.
func CORSMethods() []string {
	return []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
}

// CheckOrigin accepts an origin as a browser sends it: a scheme, a host in small letters, and a port unless it is the
// scheme's own. Any origin at all has no sign.
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

// allowOrigin sets what every answer to a page of an allowed origin has, also one that refuses.
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

// isPreflight reports whether a browser asks what a page may send.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight says what a page may send to the route. It carries no token and is answered without one; a page of an
// origin that is not allowed learns from it that it is not.
func (x *exchange) answerPreflight(methods route) {
	h := x.Header()
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", methods.allowed())
		h.Set("Access-Control-Allow-Headers", strings.Join(CORSRequestHeaders(), ", "))
		h.Set("Access-Control-Max-Age", strconv.Itoa(int(CORSMaxAge.Seconds())))
	}
	x.write(http.StatusNoContent, "", nil)
}
