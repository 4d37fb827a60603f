// Package rule reads the events with which a rule of EventBridge calls a function at regular times.
package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// CalledAt returns the instant for which the rule made the call. No two calls of a rule have one.
func CalledAt(payload []byte) (time.Time, error) {
	var event struct{ Time time.Time }
	if err := json.Unmarshal(payload, &event); err != nil {
		return time.Time{}, fmt.Errorf("event of a rule: %w", err)
	}
	if event.Time.IsZero() {
		return time.Time{}, errors.New("event of a rule: it has no time")
	}
	return event.Time, nil
}
