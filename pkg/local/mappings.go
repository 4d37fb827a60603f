package local

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/blob"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/eventsource"
	"nexus/pkg/port"
	"nexus/pkg/system"
)

// failurePrefix begins the names of given-up batches, as Lambda names them (eventsource.Failure.ObjectKey).
const failurePrefix = "aws/lambda/"

// failureInstant is the form of the instant at the beginning of the last part of such a name.
const failureInstant = "2006-01-02T15.04.05"

// reader is one line of the deployment table at run time: a mapping and the loop of its consumers.
type reader struct {
	system.Reader
	mapping *eventsource.Mapping
	source  *watchedSource
	loop    consume.Config // a redelivery to one consumer makes a loop of its own
	tally   *tally
}

// newReader returns the mapping of the system's reader, and the loop of its consumers.
func (p *Platform) newReader(of system.Reader, kept eventsource.Checkpoints, blobs blob.Store) (*reader, error) {
	of.Line.Window = 0 // an invocation costs nothing here
	r := &reader{Reader: of, tally: newTally(of.Line.Consumers)}
	r.source = newWatchedSource(p.stream, p.watch())
	r.loop = consume.Config{
		Registry: p.registry, Consumers: of.Consumers, Parking: blobs, Log: p.log.With("reader", of.Line.Name),
		// One lane has as many items under way as all lanes of the deployment.
		Width: of.Line.Parallel * consume.DefaultWidth,
		Now:   p.clock.Now, Wait: port.Sleep, Observe: r.tally.observe,
		Gone: p.system.Gone,
	}
	if p.seen != nil {
		r.loop.Settled, r.loop.Clock = p.seen.settled, time.Now
	}
	loop, err := consume.New(r.loop)
	if err != nil {
		return nil, err
	}
	handle := func(ctx context.Context, event []byte) ([]byte, error) {
		defer p.others.begin()()
		return loop.Handle(ctx, event)
	}
	if p.faults != nil {
		handle = p.faults.Deliveries(handle, append([]string{of.Line.Name}, of.Line.Consumers...)...)
	}
	r.mapping, err = eventsource.New(of.Line.Config, eventsource.Wiring{
		Source: r.source, Checkpoints: kept, Handler: handle,
		Destination: keepFailure(blobs, p.log),
		// Records have the machine's time, so it measures their age, independent of the platform's clock.
		Clock: time.Now, After: time.After, Changed: p.backend.changed, NewID: uuid.NewString,
		Hooks: eventsource.Hooks{
			Delivered: func(d eventsource.Delivery) { showDelivery(p.hub, d) },
			Trouble: func(t eventsource.Trouble) {
				p.log.Warn("reader in trouble; it goes on trying", "reader", t.Mapping, "shard", t.Shard, "error", t.Err)
			},
		},
	})
	return r, err
}

// keepFailure stores the batches that a mapping gives up, under Lambda's names.
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

// failureKept is how long a batch that was given up is kept, as by the rule of the bucket in AWS.
const failureKept = 35 * 24 * time.Hour

// endFailures removes the batches that were given up too long ago, by the instants in their names.
func (p *Platform) endFailures(ctx context.Context) error {
	for after := ""; ; {
		names, err := p.blobs.List(ctx, failurePrefix, blob.MaxList, after)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			after = name
			last := path.Base(name)
			at, err := time.Parse(failureInstant, last[:min(len(failureInstant), len(last))])
			if err != nil || p.clock.Now().Before(at.Add(failureKept)) {
				continue // an object that no reader has put is left to the operator
			}
			if err := p.blobs.Delete(ctx, name); err != nil {
				return err
			}
		}
	}
}

// showDelivery shows each record that a reader finished, as Lambda would have delivered it.
func showDelivery(h *hub, d eventsource.Delivery) {
	for _, r := range d.Records[:d.Finished] {
		h.broadcast("change", func() []byte {
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

// redeliver delivers records to the reader's consumers again, or to the named one alone.
func (r *reader) redeliver(ctx context.Context, consumer, from string, times int) (int, error) {
	cfg := r.loop
	if consumer != "" {
		cfg.Consumers = slices.DeleteFunc(slices.Clone(r.Consumers), func(c change.Consumer) bool {
			return c.Name() != consumer
		})
	}
	loop, err := consume.New(cfg)
	if err != nil {
		return 0, err
	}
	return r.mapping.Redeliver(ctx, loop.Handle, from, times)
}

// has reports whether the reader serves the consumer; the empty name means all.
func (r *reader) has(consumer string) bool {
	return consumer == "" || slices.Contains(r.Line.Consumers, consumer)
}

// tally counts the outcomes of the records at each consumer since the start.
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

func (t *tally) countsOf(consumer string) consume.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[consumer]
}
