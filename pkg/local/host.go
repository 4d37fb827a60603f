package local

import (
	"net"
	"net/http"
	"strings"
)

// onlyThisMachine refuses requests that were sent to another name than this machine's own, if the platform listens on the
// loopback interface. A page of another site can have its name resolved to 127.0.0.1 and would then read everything here
// as its own; the name it asked for gives it away. An address given to the outside on purpose takes every name.
func onlyThisMachine(address string, next http.Handler) http.Handler {
	if !isLoopback(address) {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			refuseWith(w, &devProblem{http.StatusMisdirectedRequest, "this system serves its own machine alone: ask for localhost or 127.0.0.1"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback takes a host with or without a port.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(strings.TrimSuffix(host, "."), "localhost")
}
