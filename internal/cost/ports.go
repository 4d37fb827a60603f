package cost

import (
	"bytes"
	"container/heap"
	"context"
	"time"

	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/bus"
	"nexus/pkg/schedule"
)

// timetable is the scheduler: it keeps what is scheduled until the clock reaches it, and counts.
type timetable struct {
	tally *tally
	named map[string]schedule.Schedule
	due   appointments
}

var _ schedule.Scheduler = (*timetable)(nil)

func newTimetable(t *tally) *timetable {
	return &timetable{tally: t, named: map[string]schedule.Schedule{}}
}

// Put implements [schedule.Scheduler].
func (s *timetable) Put(_ context.Context, in schedule.Schedule) error {
	if err := in.Check(); err != nil {
		return err
	}
	in.Payload = bytes.Clone(in.Payload)
	s.named[in.Name] = in
	heap.Push(&s.due, appointment{in.At, in.Name})
	s.tally.waits(s.tally.model.ScheduleMilliseconds)
	return nil
}

// Delete implements [schedule.Scheduler].
func (s *timetable) Delete(_ context.Context, name string) error {
	delete(s.named, name)
	s.tally.waits(s.tally.model.ScheduleMilliseconds)
	return nil
}

// next takes the first call that is due by the instant. Its schedule stays, called, until its owner deletes or replaces
// it.
func (s *timetable) next(by time.Time) (schedule.Schedule, bool) {
	for len(s.due) > 0 && !s.due[0].at.After(by) {
		first := heap.Pop(&s.due).(appointment)
		if one, still := s.named[first.name]; still && one.At.Equal(first.at) {
			return one, true
		}
	}
	return schedule.Schedule{}, false
}

// appointments are a heap by instant, then name. One that was replaced or deleted stays until its turn.
type appointments []appointment

type appointment struct {
	at   time.Time
	name string
}

func (a appointments) Len() int      { return len(a) }
func (a appointments) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a appointments) Less(i, j int) bool {
	if !a[i].at.Equal(a[j].at) {
		return a[i].at.Before(a[j].at)
	}
	return a[i].name < a[j].name
}
func (a *appointments) Push(x any) { *a = append(*a, x.(appointment)) }
func (a *appointments) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// events is the bus, on which nobody listens.
type events struct{ tally *tally }

var _ bus.Bus = events{}

// Publish implements [bus.Bus].
func (e events) Publish(_ context.Context, published ...bus.Event) error {
	if err := bus.Check(published); err != nil {
		return err
	}
	e.tally.current.Events += len(published)
	e.tally.waits(e.tally.model.PublishMilliseconds)
	return nil
}

// objects counts what is put.
type objects struct {
	blob.Store
	tally *tally
}

func newObjects(t *tally) objects { return objects{blobmemory.New(nil), t} }

// Put implements [blob.Store].
func (o objects) Put(ctx context.Context, name string, body []byte) error {
	o.tally.current.Objects++
	o.tally.current.ObjectBytes += int64(len(body))
	o.tally.waits(o.tally.model.ObjectMilliseconds)
	return o.Store.Put(ctx, name, body)
}

// Delete implements [blob.Store].
func (o objects) Delete(ctx context.Context, name string) error {
	o.tally.waits(o.tally.model.ObjectMilliseconds)
	return o.Store.Delete(ctx, name)
}
