package endpoint

import (
	"crypto/subtle"
	"net/http"
	"slices"

	"nexus/pkg/api"
	"nexus/pkg/deploy/edge"
	"nexus/pkg/deploy/env"
)

// misdirected is the problem of a request that has not passed the edge. It is no 403: a client drops what it wrote for
// some of those, and all clients would get this one if CloudFront and the functions had different secrets.
const misdirected = `{"type":"about:blank","title":"Misdirected Request","status":421,` +
	`"detail":"This is not the address of the service."}`

// Front returns what the function serves requests with. In a stage with an edge that refuses each request which has not
// passed it; otherwise it is the handler itself. Observe receives what is refused.
func Front(s env.Settings, observe func(api.Observation), next http.Handler) http.Handler {
	secrets := s.EdgeSecrets()
	if len(secrets) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := []byte(r.Header.Get(edge.Header))
		r.Header.Del(edge.Header)
		if !slices.ContainsFunc(secrets, func(secret string) bool {
			return subtle.ConstantTimeCompare(sent, []byte(secret)) == 1
		}) {
			observe(api.Observation{Status: http.StatusMisdirectedRequest})
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusMisdirectedRequest)
			_, _ = w.Write([]byte(misdirected))
			return
		}
		next.ServeHTTP(w, r)
	})
}
