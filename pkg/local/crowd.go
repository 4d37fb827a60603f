package local

import (
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	// smallBody is the size up to which a body is not counted: each is in memory whole while its request is carried out.
	smallBody = 256 << 10
	// maxLarge bounds the concurrent larger ones, and largeWait how long another one waits.
	maxLarge  = 4
	largeWait = 10 * time.Second
	// maxListeners bounds the listeners of GET /dev/stream.
	maxListeners = 32
	// maxIdle bounds the connections that wait for their next request.
	maxIdle = 256
)

// crowded answers that there is no capacity now.
func crowded(w http.ResponseWriter, detail string) {
	w.Header().Set("Retry-After", strconv.Itoa(int(largeWait/time.Second)))
	refuseWith(w, &devProblem{http.StatusServiceUnavailable, detail})
}

// fewLarge admits few concurrent requests with large bodies. A body without a length counts as large.
func fewLarge(next http.Handler) http.Handler {
	room := make(chan struct{}, maxLarge)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if 0 <= r.ContentLength && r.ContentLength <= smallBody {
			next.ServeHTTP(w, r)
			return
		}
		wait := time.NewTimer(largeWait)
		defer wait.Stop()
		select {
		case room <- struct{}{}:
			defer func() {
				// What is left of the body is many times its size, and four more would come on top of it.
				runtime.GC()
				<-room
			}()
			restartBody(r)
			next.ServeHTTP(w, r)
		case <-wait.C:
			crowded(w, "too many large bodies are being taken at once")
		case <-r.Context().Done():
		}
	})
}

// idlers closes the connection that has been idle the longest if there are too many. Its client is the least likely to
// be sending a request at this moment, which it could not safely repeat.
type idlers struct {
	mu      sync.Mutex
	since   int64              // counts the times that a connection became idle
	waiting map[net.Conn]int64 // by since
}

// changed is a [http.Server]'s ConnState.
func (i *idlers) changed(c net.Conn, state http.ConnState) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.waiting, c)
	if state != http.StateIdle {
		return
	}
	if i.waiting == nil {
		i.waiting = map[net.Conn]int64{}
	}
	i.since++
	i.waiting[c] = i.since
	if len(i.waiting) > maxIdle {
		oldest := c
		for other, since := range i.waiting {
			if since < i.waiting[oldest] {
				oldest = other
			}
		}
		delete(i.waiting, oldest)
		_ = oldest.Close() // the client opens another one for its next request
	}
}
