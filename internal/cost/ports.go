package cost

import (
	"context"

	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/bus"
	busmemory "nexus/pkg/bus/memory"
	pushmemory "nexus/pkg/push/memory"
	schedulememory "nexus/pkg/schedule/memory"
)

// newScheduler returns a scheduler whose calls take time.
func newScheduler(t *tally) *schedulememory.Scheduler {
	return schedulememory.New(func(_, _ string, after bool) error {
		if after {
			t.waits(t.model.ScheduleMilliseconds)
		}
		return nil
	})
}

// newBus returns a bus that counts what is published, and tells of it.
func newBus(t *tally, announced func([]bus.Event)) *busmemory.Bus {
	return busmemory.New(func(events []bus.Event, after bool) error {
		if after {
			t.current.Events += len(events)
			t.waits(t.model.PublishMilliseconds)
			announced(events)
		}
		return nil
	})
}

// newPusher returns a pusher that counts what is published.
func newPusher(t *tally) *pushmemory.Pusher {
	return pushmemory.New(func(context.Context, string, string) error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.current.Hints++
		t.add(t.model.HintMilliseconds)
		return nil
	})
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
