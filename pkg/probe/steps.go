package probe

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/port"
)

// betweenLooks is the pause between two reads of derived data.
const betweenLooks = 200 * time.Millisecond

// Send makes one request with JSON and requires the status in the answer. It sends a version of 0 or more as If-Match.
func (c *Client) Send(ctx context.Context, status int, method, path string, body any, version int64) (Object, error) {
	got, err := c.Call(ctx, method, path, body, version)
	if err == nil && got.Status != status {
		err = fmt.Errorf("%s %s: status %d, expected %d: %s %v", method, path, got.Status, status, got.Body.Str("detail"),
			got.Body["errors"])
	}
	return got.Body, err
}

// Await looks until something is so, and reports whether it became so within the time. The first error ends it.
func Await(ctx context.Context, within time.Duration, isSo func() (bool, error)) (bool, error) {
	inTime, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		arrived, err := isSo()
		if err != nil || arrived {
			return arrived && err == nil, err
		}
		if port.Sleep(inTime, betweenLooks) != nil {
			return false, ctx.Err()
		}
	}
}

// Titles returns the titles of the items, in their order.
func Titles(items []Object) []string {
	var out []string
	for _, it := range items {
		out = append(out, it.Str("title"))
	}
	return out
}
