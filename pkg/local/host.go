package local

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"

	"nexus/pkg/api"
)

// doors decide which requests the platform accepts. A request of this machine comes over the loopback interface and
// uses one of its names. Every other request must use a name on the list, and never reaches the local-only paths.
//
// The name matters, because a page of another site can have its own name resolved to 127.0.0.1. It would then read
// everything here as its own; the requested name reveals it.
type doors struct{ names []string }

// outer guards the whole surface.
func (d doors) outer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isOwn(r) && !d.named(r.Host) {
			refuseWith(w, &devProblem{http.StatusMisdirectedRequest, d.wanted()})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// innerPolicy prevents a browser from treating an answer as a page, or showing it in one.
const innerPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// inner guards the local-only paths, independent of the names on the list.
func (doors) inner(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", innerPolicy)
		if !isOwn(r) {
			refuseWith(w,
				&devProblem{http.StatusForbidden, "the path serves this machine alone: ask from it, for localhost or 127.0.0.1"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (d doors) wanted() string {
	if len(d.names) == 0 {
		return "this system serves its own machine alone: ask for localhost or 127.0.0.1"
	}
	return "this system serves the hosts that --allow-host names"
}

func (d doors) named(hostport string) bool {
	host := hostOf(hostport)
	return slices.ContainsFunc(d.names, func(name string) bool { return strings.EqualFold(hostOf(name), host) })
}

// isOwn reports whether the request was sent on this machine to one of its own names.
func isOwn(r *http.Request) bool { return isLoopback(r.RemoteAddr) && isLoopback(r.Host) }

// hostOf takes a host with or without a port, and returns it without the port, brackets and the dot of the root.
func hostOf(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return strings.TrimSuffix(host, ".")
}

// isLoopback takes a host with or without a port.
func isLoopback(hostport string) bool {
	host := hostOf(hostport)
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// exposedToken returns the secret of one start, for a platform that other machines reach.
func exposedToken() string { return rand.Text() }

// bearerWithToken authenticates if other machines reach the platform: the bearer token is the user id, a dot and the
// secret.
func bearerWithToken(secret string) func(*http.Request) (string, bool) {
	return func(r *http.Request) (string, bool) {
		bearer, ok := api.Bearer(r)
		at := strings.LastIndexByte(bearer, '.')
		if !ok || at < 0 || subtle.ConstantTimeCompare([]byte(bearer[at+1:]), []byte(secret)) != 1 {
			return "", false
		}
		return bearer[:at], true // the API refuses an invalid user id
	}
}
