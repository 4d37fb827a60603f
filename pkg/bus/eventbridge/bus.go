// Package eventbridge publishes events on an Amazon EventBridge bus.
//
// It promises what the port does: Publish returns nil only when EventBridge accepted every entry. It sends entries
// that were refused for a temporary reason again a bounded number of times, and repeats none of the accepted ones. It
// must never drop an entry that the answer does not report as accepted.
package eventbridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"nexus/pkg/bus"
	"nexus/pkg/port"
)

// Bounds of one request (PutEvents): ten entries, and 256 KB in all, the limit that holds in every region.
const (
	maxEntries = 10
	maxBytes   = 256<<10 - 1
)

// Bounds of the repetition after a temporary refusal.
const (
	maxAttempts = 4
	firstPause  = 100 * time.Millisecond // doubles with each attempt
)

// Config names the bus.
type Config struct {
	// BusName is the name or ARN of the bus. Required: without it events would go to the account's default bus.
	BusName string
	// Pause waits between attempts or returns the context's error. Nil waits in real time.
	Pause func(ctx context.Context, d time.Duration) error
}

// Bus is the adapter.
type Bus struct {
	client *eventbridge.Client
	cfg    Config
}

var _ bus.Bus = (*Bus)(nil)

// New returns a bus that works through the client, or an error that names the setting that is missing.
func New(client *eventbridge.Client, cfg Config) (*Bus, error) {
	if cfg.BusName == "" {
		return nil, errors.New("event bus configuration: BusName is missing")
	}
	if cfg.Pause == nil {
		cfg.Pause = port.Sleep
	}
	return &Bus{client: client, cfg: cfg}, nil
}

// Publish implements the port. It sends batch after batch and stops at the first that is not accepted whole.
func (b *Bus) Publish(ctx context.Context, events ...bus.Event) error {
	if err := bus.Check(events); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	sent := 0
	for sent < len(events) {
		batch := firstBatch(events[sent:])
		entries := make([]types.PutEventsRequestEntry, len(batch))
		for i, e := range batch {
			entries[i] = b.entry(e)
		}
		if err := b.send(ctx, entries); err != nil {
			return fmt.Errorf("publish events %d to %d of %d on bus %s: %w", sent+1, sent+len(batch), len(events),
				b.cfg.BusName, err)
		}
		sent += len(batch)
	}
	return nil
}

// firstBatch returns as many of the events, at least one, as fit into a request.
func firstBatch(events []bus.Event) []bus.Event {
	total := 0
	for i, e := range events {
		total += size(e)
		if i == maxEntries || i > 0 && total > maxBytes {
			return events[:i]
		}
	}
	return events
}

// size returns the bytes that EventBridge counts for an entry: the texts and 14 bytes for the time.
func size(e bus.Event) int { return 14 + len(bus.Source) + len(e.Type) + len(e.Detail) }

func (b *Bus) entry(e bus.Event) types.PutEventsRequestEntry {
	return types.PutEventsRequestEntry{
		EventBusName: aws.String(b.cfg.BusName),
		Source:       aws.String(bus.Source),
		DetailType:   aws.String(e.Type),
		Detail:       aws.String(string(e.Detail)),
		Time:         aws.Time(e.Time.UTC().Truncate(time.Second)),
	}
}

// send puts the entries until each is accepted, refused for good, or the attempts are used up.
func (b *Bus) send(ctx context.Context, entries []types.PutEventsRequestEntry) error {
	var refused []error
	for attempt := 1; ; attempt++ {
		out, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries})
		if err != nil {
			return errors.Join(append(refused, fmt.Errorf("%w: %w", sentinel(err), err))...)
		}
		again, failures, err := triage(entries, out)
		if err != nil {
			return err
		}
		refused = append(refused, failures.final...)
		if len(again) == 0 {
			return errors.Join(refused...)
		}
		if attempt == maxAttempts {
			return errors.Join(append(refused, failures.passing...)...)
		}
		if err := b.cfg.Pause(ctx, firstPause<<(attempt-1)); err != nil {
			return errors.Join(append(refused, fmt.Errorf("%w: %w", bus.ErrUnavailable, err))...)
		}
		entries = again
	}
}

type failures struct{ passing, final []error }

// triage returns the entries to send again and the errors of those that were not accepted.
func triage(
	entries []types.PutEventsRequestEntry, out *eventbridge.PutEventsOutput,
) ([]types.PutEventsRequestEntry, failures, error) {
	if len(out.Entries) != len(entries) {
		return nil, failures{}, fmt.Errorf("%w: %d answers to %d entries", bus.ErrUnavailable, len(out.Entries), len(entries))
	}
	var again []types.PutEventsRequestEntry
	var failed failures
	for i, result := range out.Entries {
		// An accepted entry has an id; one with neither id nor code was not acknowledged.
		if aws.ToString(result.EventId) != "" && result.ErrorCode == nil {
			continue
		}
		kind, passing := entryFailure(aws.ToString(result.ErrorCode))
		err := fmt.Errorf("%w: entry %s: %s: %s", kind, aws.ToString(entries[i].DetailType),
			aws.ToString(result.ErrorCode), aws.ToString(result.ErrorMessage))
		if !passing {
			failed.final = append(failed.final, err)
			continue
		}
		failed.passing = append(failed.passing, err)
		again = append(again, entries[i])
	}
	return again, failed, nil
}
