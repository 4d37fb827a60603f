package local

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/consume"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
	"nexus/pkg/span"
)

// The ports of the consumers. Each effect goes to the adapter first, and then the hub receives it. done triggers the
// work that follows from an effect, such as reading the schedules again.

type observedScheduler struct {
	schedule.Scheduler
	hub  *hub
	seen *seen
	done func()
}

func (s observedScheduler) Put(ctx context.Context, in schedule.Schedule) error {
	began := time.Now()
	s.seen.asked(ctx, in.Name) // before it is there: it may be called at once
	err := s.Scheduler.Put(ctx, in)
	s.seen.did(ctx, began, span.Span{
		Name: "put schedule", Part: span.PartScheduler,
		Attributes: map[string]string{"nexus.at": item.FormatInstant(in.At)},
	}, in.Name, err)
	s.done() // also after an error: the schedule may be there
	if err == nil {
		s.hub.broadcast("schedule", func() []byte {
			return line(scheduleTold{"put", in.Name, item.FormatInstant(in.At), in.Payload})
		})
	}
	return err
}

func (s observedScheduler) Delete(ctx context.Context, name string) error {
	began := time.Now()
	err := s.Scheduler.Delete(ctx, name)
	s.seen.did(ctx, began, span.Span{Name: "delete schedule", Part: span.PartScheduler}, "delete "+name, err)
	if err == nil {
		s.hub.broadcast("schedule", func() []byte { return line(scheduleTold{Op: "delete", Name: name}) })
	}
	return err
}

type scheduleTold struct {
	Op      string          `json:"op"`
	Name    string          `json:"name"`
	At      string          `json:"at,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

type observedBus struct {
	bus.Bus
	hub  *hub
	seen *seen
	done func()
}

func (b observedBus) Publish(ctx context.Context, events ...bus.Event) error {
	began := time.Now()
	err := b.Bus.Publish(ctx, events...)
	if b.seen != nil {
		b.seen.events.Add(int64(len(events)))
	}
	for _, e := range events {
		b.seen.did(ctx, began, span.Span{
			Name: "publish " + e.Type, Part: span.PartBus, Attributes: map[string]string{"messaging.operation.name": "send"},
		}, deliveryID(e.Detail), err)
	}
	b.done() // also after an error: the events may be there
	if err == nil {
		for _, e := range events {
			b.hub.broadcast("event", func() []byte { return line(shownEvent(e)) })
		}
	}
	return err
}

// eventShown is an event as /dev/ shows it.
type eventShown struct {
	Type   string          `json:"type"`
	Source string          `json:"source"`
	Time   time.Time       `json:"time"`
	Detail json.RawMessage `json:"detail"`
}

func shownEvent(e bus.Event) eventShown {
	return eventShown{e.Type, bus.Source, e.Time.UTC().Truncate(time.Second), e.Detail}
}

// deliveryID returns that of an event's detail: the same in every repetition.
func deliveryID(detail []byte) string {
	var said struct {
		DeliveryID string `json:"deliveryId"`
	}
	_ = json.Unmarshal(detail, &said) // the bus has checked it
	return said.DeliveryID
}

type observedBlobs struct {
	blob.Store
	hub  *hub
	seen *seen
}

func (b observedBlobs) Put(ctx context.Context, name string, body []byte) error {
	began := time.Now()
	err := b.Store.Put(ctx, name, body)
	b.seen.did(ctx, began, span.Span{Name: "put object", Part: "objects"}, name, err)
	if err == nil {
		kind := "blob"
		if strings.HasPrefix(name, consume.ParkedPrefix) || strings.HasPrefix(name, failurePrefix) {
			kind = "parked"
		}
		b.hub.broadcast(kind, func() []byte { return line(blobTold{"put", name, len(body)}) })
	}
	return err
}

func (b observedBlobs) Delete(ctx context.Context, name string) error {
	err := b.Store.Delete(ctx, name)
	if err == nil {
		b.hub.broadcast("blob", func() []byte { return line(blobTold{Op: "delete", Name: name}) })
	}
	return err
}

type blobTold struct {
	Op    string `json:"op"`
	Name  string `json:"name"`
	Bytes int    `json:"bytes,omitempty"`
}

// line returns a value as one line of JSON.
func line(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("local: " + err.Error()) // structs of texts, numbers and JSON that was checked before
	}
	return text
}
