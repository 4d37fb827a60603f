package local

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/blob"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/port"
)

// failurePrefix begins the names of what was given up, as Lambda names it (eventsource.Failure.ObjectKey).
const failurePrefix = "aws/lambda/"

// reader is one line of the deployment table at work: a mapping and the loop of its consumers.
type reader struct {
	mapping   *eventsource.Mapping
	source    *watchedSource
	consumers []change.Consumer
	loop      consume.Config // of the loop; a redelivery to one consumer makes one of its own
	tally     *tally
}

// readersConfig is what all readers are made of.
type readersConfig struct {
	registry    *entity.Registry
	projections []string // another product's
	backend     *backend
	consumers   []change.Consumer
	checkpoints eventsource.Checkpoints
	blobs       blob.Store
	now         func() time.Time // the platform's
	watch       func(shard string, records []change.Record)
	hub         *hub
	log         *slog.Logger
}

// newReaders returns the readers of the deployment table.
func newReaders(cfg readersConfig) ([]*reader, error) {
	var all []*reader
	placed := map[string]bool{}
	for _, row := range readers.Table(cfg.registry, cfg.projections...) {
		row.Window = 0 // an invocation costs nothing here
		r, err := newReader(cfg, row)
		if err != nil {
			return nil, fmt.Errorf("reader %s: %w", row.Name, err)
		}
		for _, c := range r.consumers {
			placed[c.Name()] = true
		}
		all = append(all, r)
	}
	for _, c := range cfg.consumers {
		if !placed[c.Name()] {
			return nil, fmt.Errorf("consumer %s has no reader in the deployment table", c.Name())
		}
	}
	return all, nil
}

func newReader(cfg readersConfig, row readers.Reader) (*reader, error) {
	r := &reader{source: newWatchedSource(cfg.backend.newSource(), cfg.watch), tally: newTally(row.Consumers)}
	for _, name := range row.Consumers {
		i := slices.IndexFunc(cfg.consumers, func(c change.Consumer) bool { return c.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no consumer %q", name)
		}
		r.consumers = append(r.consumers, cfg.consumers[i])
	}
	r.loop = consume.Config{
		Registry: cfg.registry, Consumers: r.consumers, Parking: cfg.blobs, Log: cfg.log.With("reader", row.Name),
		Now: cfg.now, Wait: port.Sleep, Observe: r.tally.observe,
	}
	loop, err := consume.New(r.loop)
	if err != nil {
		return nil, err
	}
	r.mapping, err = eventsource.New(row.Config, eventsource.Wiring{
		Source: r.source, Checkpoints: cfg.checkpoints, Handler: loop.Handle,
		Destination: keepFailure(cfg.blobs, cfg.log),
		// Records are dated by the machine's clock, so their age is told by it, wherever the platform's clock was moved.
		Clock: time.Now, After: time.After, Changed: cfg.backend.changed, NewID: uuid.NewString,
		Hooks: eventsource.Hooks{
			Delivered: func(d eventsource.Delivery) { tellDelivery(cfg.hub, d) },
			Trouble: func(t eventsource.Trouble) {
				cfg.log.Warn("reader in trouble; it goes on trying", "reader", t.Mapping, "shard", t.Shard, "error", t.Err)
			},
		},
	})
	return r, err
}

// keepFailure stores what a mapping gives up where Lambda would.
func keepFailure(blobs blob.Store, log *slog.Logger) eventsource.Destination {
	return func(ctx context.Context, f eventsource.Failure) error {
		body, err := f.Object()
		if err != nil {
			return err
		}
		if err := blobs.Put(ctx, f.ObjectKey(), body); err != nil {
			return fmt.Errorf("keep failure of %s: %w", f.Mapping, err)
		}
		log.Error("records given up", "reader", f.Mapping, "records", len(f.Records), "object", f.ObjectKey(),
			"error", f.Cause)
		return nil
	}
}

// tellDelivery shows each record that a reader finished, as Lambda would have delivered it.
func tellDelivery(h *hub, d eventsource.Delivery) {
	for _, r := range d.Records[:d.Finished] {
		h.tell("change", func() []byte {
			var text strings.Builder
			text.WriteString(`{"reader":`)
			text.Write(line(d.Mapping))
			if d.Again {
				text.WriteString(`,"again":true`)
			}
			text.WriteString(`,"record":`)
			text.Write(change.AppendRecord(nil, r))
			text.WriteString(`}`)
			return []byte(text.String())
		})
	}
}

// redeliver brings records to the reader's consumers again, or to the named one alone.
func (r *reader) redeliver(ctx context.Context, consumer, from string, times int) (int, error) {
	cfg := r.loop
	if consumer != "" {
		cfg.Consumers = slices.DeleteFunc(slices.Clone(r.consumers), func(c change.Consumer) bool {
			return c.Name() != consumer
		})
	}
	loop, err := consume.New(cfg)
	if err != nil {
		return 0, err
	}
	return r.mapping.Redeliver(ctx, loop.Handle, from, times)
}

// has says whether the reader serves the consumer; the empty name stands for all.
func (r *reader) has(consumer string) bool {
	return consumer == "" || slices.ContainsFunc(r.consumers, func(c change.Consumer) bool { return c.Name() == consumer })
}

// tally counts what became of the records at each consumer since the start.
type tally struct {
	mu     sync.Mutex
	counts map[string]consume.Counts
}

func newTally(consumers []string) *tally {
	t := &tally{counts: map[string]consume.Counts{}}
	for _, name := range consumers {
		t.counts[name] = consume.Counts{}
	}
	return t
}

func (t *tally) observe(consumer string, c consume.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.counts[consumer]
	sum.Records += c.Records
	sum.Done += c.Done
	sum.Already += c.Already
	sum.Parked += c.Parked
	sum.Unfinished += c.Unfinished
	sum.Retried += c.Retried
	t.counts[consumer] = sum
}

func (t *tally) of(consumer string) consume.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[consumer]
}
