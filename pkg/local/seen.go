package local

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/local/recent"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	schedulelocal "nexus/pkg/schedule/local"
	"nexus/pkg/span"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/text"
)

const (
	// maxTitle bounds the part of a title that a list of changes shows.
	maxTitle = 200
	// maxOrigins bounds the schedules of which it is known which write asked for them.
	maxOrigins = 50_000
)

// seen notes what the parts do, for those who look: each record's outcomes, the spans of traces, and rates. A nil seen
// notes nothing.
type seen struct {
	changes *recent.Changes
	spans   *recent.Spans
	rates   *rates
	hub     *hub
	clock   *clock

	writes, events atomic.Int64 // over HTTP; on the bus

	mu      sync.Mutex
	origins map[string]string // trace of the write that asked for a schedule, by its name
}

func newSeen(h *hub) *seen {
	return &seen{
		changes: recent.NewChanges(), spans: recent.NewSpans(), rates: newRates(), hub: h, origins: map[string]string{},
	}
}

// outcomeTold names a consumer that has ended with a record.
type outcomeTold struct {
	recent.Change
	Consumer string `json:"consumer"`
}

// settled is the hook of the batch loops. It keeps what is needed, and describes it only for those who listen.
func (s *seen) settled(of consume.Settled) {
	if of.State == consume.StateGone {
		return // nothing is kept of the user
	}
	added := s.changes.Add(of, s.read)
	s.rates.settled(of, added.IsNew)
	s.hub.broadcast("outcome", func() []byte { return line(outcomeTold{added.Change(), of.Consumer}) })
	s.hub.broadcast("span", func() []byte { return line(s.spanOf(added.Change(), added.Delivery, added.Delivery.Number)) })
}

// spanOf returns the span of one delivery to a consumer, the number-th of its trace.
func (s *seen) spanOf(c recent.Change, d recent.Delivery, number int) span.Span {
	one := span.Span{
		Trace: c.Trace, Parent: span.ID(c.Trace, span.PartCommand, span.PlaceWrite), Part: d.Consumer, Name: d.Consumer,
		ID: span.ID(c.Trace, d.Consumer, span.Again(d.Consumer, number)), Outcome: string(d.State),
		Start: d.Began, At: s.clock.at(d.Began), Milliseconds: span.Milliseconds(d.Took),
		Attributes: map[string]string{
			"messaging.operation.name": "process", "nexus.record": c.Sequence, "nexus.type": c.Type, "nexus.kind": c.Kind,
			"nexus.attempts": strconv.Itoa(d.Attempts),
		},
	}
	if number > 1 {
		one.Links = []string{span.ID(c.Trace, d.Consumer, d.Consumer)}
	}
	if d.Error != "" {
		one.Attributes["error.message"] = text.Clip(d.Error, maxTitle)
	}
	if d.Began.IsZero() { // it was parked unread
		one.Start, one.At = c.Created, c.At
	}
	return one
}

// trace returns all spans of a trace, the earliest first, and its changes.
func (s *seen) trace(trace string) (spans []span.Span, changes []recent.Change, truncated bool) {
	spans, truncated = s.spans.Trace(trace)
	changes = s.changes.Trace(trace)
	write := span.ID(trace, span.PartCommand, span.PlaceWrite)
	if len(changes) > 0 && !slices.ContainsFunc(spans, func(one span.Span) bool { return one.ID == write }) {
		spans = append(spans, span.Span{
			Trace: trace, ID: write, Name: "write, as its record tells", Part: span.PartCommand,
			Outcome: string(consume.StateDone), Start: changes[0].Created, At: changes[0].Created,
		})
	}
	numbers := map[string]int{}
	for _, c := range changes {
		for _, d := range c.Deliveries {
			numbers[d.Consumer]++
			spans = append(spans, s.spanOf(c, d, numbers[d.Consumer]))
		}
	}
	slices.SortStableFunc(spans, func(a, b span.Span) int { return a.Start.Compare(b.Start) })
	return spans, changes, truncated
}

// read describes a record.
func (s *seen) read(d *change.Decoded) recent.Change {
	c := d.Change
	out := recent.Change{
		User: c.User, Item: c.Ref.ID, Version: c.Version, Sequence: d.Sequence, Trace: c.TraceID(), Created: c.Created,
		At: s.clock.Now(),
	}
	if sk, err := entity.ParseSortKey(d.Key.SK); err == nil {
		out.Type = sk.Prefix
	}
	if d.Err != nil {
		out.User, _ = d.Owner()
		return out
	}
	out.Kind = strings.ToLower(c.Kind.String())
	if row, err := repository.ParseRow(d.Key); err == nil {
		out.Type, out.Title = "VALUES", row.Repository.Date
		if row.Repository.Date != "" {
			out.Type = "PLAN"
		}
		return out
	}
	if timer, err := entity.ParseTimer(d.Key.SK); err == nil {
		out.Item = timer.TaskID
	}
	if c.Type != nil {
		out.Type = c.Type.Name
	}
	image := c.New
	if image == nil {
		image = c.Old
	}
	out.Status, out.Title = image.Str(entity.AttrStatus), text.Clip(image.Str(entity.AttrTitle), maxTitle)
	return out
}

// add takes a span and shows it.
func (s *seen) add(one span.Span, place string) span.Span {
	now, isNew := s.spans.Add(one, place)
	if isNew {
		s.hub.broadcast("span", func() []byte { return line(now) })
	}
	return now
}

// did takes a span of work that has just ended, under the context's; without one there is none.
func (s *seen) did(ctx context.Context, began time.Time, one span.Span, place string, err error) {
	within, ok := span.From(ctx)
	if s == nil || !ok {
		return
	}
	one.Trace, one.Parent = within.Trace, within.ID
	one.Start, one.At = began, s.clock.at(began)
	one.Milliseconds, one.Outcome = span.Milliseconds(time.Since(began)), string(consume.StateDone)
	if err != nil {
		one.Outcome = "failed"
		if one.Attributes == nil {
			one.Attributes = map[string]string{}
		}
		one.Attributes["error.message"] = text.Clip(err.Error(), maxTitle)
	}
	s.add(one, place)
}

// under lets each consumer work under its span, where it works on one record in a call.
func (s *seen) under(of []system.Reader) {
	if s == nil {
		return
	}
	for _, reader := range of {
		for i, c := range reader.Consumers {
			reader.Consumers[i] = change.Wrap(c, func(ctx context.Context, batch []change.Change) []change.Outcome {
				if len(batch) == 1 {
					one := batch[0]
					ctx = span.With(ctx, func() span.Within { return withinPart(one.TraceID(), c.Name(), c.Name()) })
				}
				return c.Apply(ctx, batch)
			})
		}
	}
}

func withinPart(trace, part, place string) span.Within {
	return span.Within{Trace: trace, ID: span.ID(trace, part, place)}
}

// asked remembers which write asked for a schedule.
func (s *seen) asked(ctx context.Context, name string) {
	within, ok := span.From(ctx)
	if s == nil || !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.origins[name]; known || len(s.origins) < maxOrigins {
		s.origins[name] = within.Trace
	}
}

// calling lets the target of schedules work under the trace of the write that asked for the call. If that was before
// the start, it is the item's last write.
func (s *seen) calling(
	next schedulelocal.Target, registry *entity.Registry, store func() table.Store,
) schedulelocal.Target {
	if s == nil {
		return next
	}
	return func(ctx context.Context, one schedule.Schedule) error {
		s.mu.Lock()
		trace := s.origins[one.Name]
		s.mu.Unlock()
		if trace == "" {
			trace = lastWrite(ctx, registry, store(), one.Payload)
		}
		if trace == "" {
			return next(ctx, one)
		}
		began := time.Now()
		notifying := func() span.Within { return withinPart(trace, span.PartNotify, one.Name) }
		err := next(span.With(ctx, notifying), one)
		asking := func() span.Within { return withinPart(trace, reminders.Name, reminders.Name) }
		s.did(span.With(ctx, asking), began, span.Span{
			Name: "notify", Part: span.PartNotify, Attributes: map[string]string{"faas.trigger": "timer"},
		}, one.Name, err)
		return err
	}
}

// counting counts and shows the writes over HTTP.
func (s *seen) counting(next http.Handler) http.Handler {
	if s == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		began := time.Now()
		told := &statusWriter{w, http.StatusOK}
		next.ServeHTTP(told, r)
		took := time.Since(began)
		trace := w.Header().Get("X-Trace-Id")
		if trace == "" {
			return
		}
		s.rates.wrote(took)
		s.writes.Add(1)
		s.add(span.Span{
			Trace: trace, Name: r.Method + " " + routeOf(r.URL.Path), Part: span.PartCommand, Start: began,
			At: s.clock.at(began), Milliseconds: span.Milliseconds(took), Outcome: string(consume.StateDone),
			Attributes: map[string]string{
				"http.request.method": r.Method, "http.response.status_code": strconv.Itoa(told.status),
			},
		}, span.PlaceWrite)
	})
}

// routeOf returns the path without what names an item.
func routeOf(path string) string {
	parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
	if len(parts) == 3 {
		parts[2] = "{…}"
	}
	return "/" + strings.Join(parts, "/")
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements [http.ResponseWriter].
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// lastWrite returns the trace of the last write of the item that a schedule is for; empty if it cannot be read.
func lastWrite(ctx context.Context, registry *entity.Registry, store table.Store, payload []byte) string {
	var said struct {
		UserID   string `json:"userId"`
		ItemType string `json:"itemType"`
		ItemID   string `json:"itemId"`
	}
	if json.Unmarshal(payload, &said) != nil || entity.CheckUserID(said.UserID) != nil {
		return ""
	}
	typ := registry.ByName(said.ItemType)
	if typ == nil || typ.Name == entity.TypeInstance || entity.CheckID(typ.IDPrefix, said.ItemID) != nil {
		return ""
	}
	row, err := store.Get(ctx, entity.ItemKey(said.UserID, entity.Ref{Type: said.ItemType, ID: said.ItemID}))
	if err != nil || row.Int(entity.AttrVersion) < 1 {
		return ""
	}
	return entity.TraceID(said.UserID, said.ItemID, row.Int(entity.AttrVersion))
}
