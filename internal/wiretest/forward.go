package wiretest

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Forward returns a handler that forwards requests to a service at an address, through the transport; nil is the
// default one. A request that cannot be forwarded is answered with bad gateway.
func Forward(t testing.TB, address string, transport http.RoundTripper) http.Handler {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatalf("forward to %q: %v", address, err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = transport
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	return proxy
}
