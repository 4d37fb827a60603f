// Package message reads the events that an event source mapping of SQS makes of messages (AWS Lambda Developer Guide,
// "Using Lambda with Amazon SQS").
//
// It promises that a message is given to the worker as it was put, and that an invocation whose worker fails fails as a
// whole: SQS then delivers its messages again. It must never answer with a part of a batch: the mapping's batches have
// one message.
package message

import (
	"context"
	"encoding/json"
	"fmt"

	"nexus/functions/internal/boot"
)

// event has the members of the mapping's event that are used.
type event struct {
	Records []struct {
		MessageID string `json:"messageId"`
		Body      string `json:"body"`
	}
}

// Handler returns a handler that gives the body of each message to the worker.
func Handler(worker func(ctx context.Context, body []byte) error) boot.Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		var e event
		if err := json.Unmarshal(payload, &e); err != nil {
			return nil, fmt.Errorf("event of a queue: %w", err)
		}
		if len(e.Records) == 0 {
			return nil, &boot.Refusal{Message: "the event has no messages"}
		}
		for _, m := range e.Records {
			if err := worker(ctx, []byte(m.Body)); err != nil {
				return nil, fmt.Errorf("message %s: %w", m.MessageID, err)
			}
		}
		return []byte("{}"), nil
	}
}
