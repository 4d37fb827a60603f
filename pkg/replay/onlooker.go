package replay

import (
	"context"
	"encoding/json"
	"fmt"

	"nexus/pkg/change"
	"nexus/pkg/consume"
)

// onlooker records a consumer's errors and the parked records.
type onlooker struct {
	consume.Parking
	parked []consume.Parked
	last   map[string]error // by sequence number
}

// Put implements [consume.Parking].
func (o *onlooker) Put(ctx context.Context, name string, body []byte) error {
	if err := o.Parking.Put(ctx, name, body); err != nil {
		return err
	}
	p, err := consume.ReadParked(body)
	if err != nil {
		return fmt.Errorf("park %s: %w", name, err)
	}
	o.parked = append(o.parked, p)
	return nil
}

// reason says why a record is not finished.
func (o *onlooker) reason(raw json.RawMessage, n consume.Counts) string {
	rec, _ := change.Parse(raw) // its number is enough
	if err := o.last[rec.Sequence]; err != nil {
		return err.Error()
	}
	return fmt.Sprintf("not finished after %d attempts", n.Retried)
}

// watching returns the consumer, whose errors the onlooker records.
func watching(c change.Consumer, o *onlooker) change.Consumer {
	o.last = map[string]error{}
	return change.Wrap(c, func(ctx context.Context, batch []change.Change) []change.Outcome {
		outcomes := c.Apply(ctx, batch)
		for i := range min(len(outcomes), len(batch)) {
			if err := outcomes[i].Err; err != nil {
				o.last[batch[i].Sequence] = err
			}
		}
		return outcomes
	})
}
