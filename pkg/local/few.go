package local

import "net/http"

// requestCalls is how many calls to the engine that serve requests are under way at once: with more the engine answers
// no faster, because it shares the machine's processors. A consumer makes its calls one after another. If each of them
// stood behind those of all requests, many clients that wait for an effect would delay it.
const requestCalls = 4

// few sends at most as many requests at once as its channel has room for.
type few struct {
	base http.RoundTripper
	room chan struct{}
}

// RoundTrip implements [http.RoundTripper].
func (f few) RoundTrip(request *http.Request) (*http.Response, error) {
	select {
	case f.room <- struct{}{}:
		defer func() { <-f.room }()
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
	return f.base.RoundTrip(request)
}
