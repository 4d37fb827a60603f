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
)

// The ports of the consumers. Each effect goes to the adapter first, and then the hub receives it. done triggers the
// work that follows from an effect, such as reading the schedules again.

type observedScheduler struct {
	schedule.Scheduler
	hub  *hub
	done func()
}

func (s observedScheduler) Put(ctx context.Context, in schedule.Schedule) error {
	err := s.Scheduler.Put(ctx, in)
	s.done() // also after an error: the schedule may be there
	if err == nil {
		s.hub.broadcast("schedule", func() []byte {
			return line(scheduleTold{"put", in.Name, item.FormatInstant(in.At), in.Payload})
		})
	}
	return err
}

func (s observedScheduler) Delete(ctx context.Context, name string) error {
	err := s.Scheduler.Delete(ctx, name)
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
	done func()
}

func (b observedBus) Publish(ctx context.Context, events ...bus.Event) error {
	err := b.Bus.Publish(ctx, events...)
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

type observedBlobs struct {
	blob.Store
	hub *hub
}

func (b observedBlobs) Put(ctx context.Context, name string, body []byte) error {
	err := b.Store.Put(ctx, name, body)
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
