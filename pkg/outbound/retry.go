package outbound

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter returns the wait that an answer asks for, in both forms of the header (RFC 9110 §10.2.3); 0 for none.
func RetryAfter(answer *http.Response, now time.Time) time.Duration {
	text := answer.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
