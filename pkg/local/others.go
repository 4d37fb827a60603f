package local

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
)

// others counts the requests, batches and calls that have begun. An erasure waits until those have ended that began
// before: here the clock can jump, so no time says that they have. The zero value is ready.
type others struct {
	mu  sync.Mutex
	now map[chan struct{}]bool
	// written counts the requests to write that have ended.
	written atomic.Int64
}

// begin counts one, until the function that it returns is called.
func (o *others) begin() (done func()) {
	one := make(chan struct{})
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now == nil {
		o.now = map[chan struct{}]bool{}
	}
	o.now[one] = true
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.now, one)
		close(one)
	}
}

// wait returns when all have ended that had begun.
func (o *others) wait(ctx context.Context) error {
	o.mu.Lock()
	var begun []chan struct{}
	for one := range o.now {
		begun = append(begun, one)
	}
	o.mu.Unlock()
	for _, one := range begun {
		select {
		case <-one:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// counting counts the requests to a handler.
func (o *others) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer o.begin()()
		next.ServeHTTP(w, r)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			o.written.Add(1)
		}
	})
}
