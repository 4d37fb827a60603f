package query

import (
	"fmt"
	"sync"
	"time"
)

// BusyError says that a user has asked for something costly too often (429).
type BusyError struct{ RetryAfter time.Duration }

func (e *BusyError) Error() string { return fmt.Sprintf("too often; again in %s", e.RetryAfter) }

// brake bounds how often each user gets something in a minute of the clock. It counts in the memory of one process and
// forgets all users at the minute's end: a brake, no promise.
type brake struct {
	most   int
	mu     sync.Mutex
	minute time.Time
	taken  map[string]int
}

// take counts one request, or returns a [*BusyError].
func (b *brake) take(user string, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(b.minute) || b.taken == nil {
		b.minute, b.taken = minute, map[string]int{}
	}
	if b.taken[user] == b.most {
		return &BusyError{b.minute.Add(time.Minute).Sub(now)}
	}
	b.taken[user]++
	return nil
}
