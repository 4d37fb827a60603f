package cost

import (
	"maps"
	"slices"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

// services counts the use of services other than the table, for the replayed users.
type services struct {
	invocations                             map[string]float64 // by function
	records                                 float64            // delivered by the stream
	gbSeconds                               float64
	requests, calls, events, objects, hints float64
	pushes                                  float64
	sent, logged, objectBytes               float64 // bytes
}

func (b biller) servicesOf(taken []*Taken) services {
	s := services{invocations: map[string]float64{}}
	model := b.month.Model
	for _, t := range taken {
		s.requests += float64(t.Requests)
		s.sent += float64(t.ResponseBytes)
		s.events += float64(t.Events)
		s.calls += float64(t.ScheduleCalls)
		s.objects += float64(t.Objects)
		s.hints += float64(t.Hints)
		s.pushes += float64(t.Pushes)
		s.objectBytes += float64(t.ObjectBytes)
		for _, name := range slices.Sorted(maps.Keys(t.Functions)) {
			w, gathered := t.Functions[name], b.gathered(name)
			n := float64(w.Invocations)
			s.invocations[name] += n / gathered
			s.gbSeconds += w.Milliseconds / 1000 * float64(size.For(env.Function(name)).MemoryMB) / 1024
			s.logged += (float64(w.LogBytes)-n*model.RecordLogBytes)/gathered + n*model.RecordLogBytes
			if b.month.reader(name) != nil {
				s.records += n
			}
		}
	}
	s.sent += s.requests * float64(model.HeaderBytes)
	return s
}

// pushed returns the bytes that are sent to push services.
func (s services) pushed(m Model) float64 { return s.pushes * float64(m.PushBytes) }

// gathered returns how many records a reader gets in one invocation on average, because the replay delivers each
// alone. These are the one that opens its window and those that reach the same lane of the same shard until it closes.
// There are more at times of the day when users are awake.
func (b biller) gathered(function string) float64 {
	r := b.month.reader(function)
	if r == nil || r.WindowSeconds == 0 {
		return 1
	}
	records := 0
	for _, t := range b.month.Taken {
		if w := t.Functions[function]; w != nil {
			records += w.Invocations
		}
	}
	seconds := float64(b.month.Load.Days) * day.Seconds()
	perLane := float64(records) * b.month.Times / seconds / float64(b.month.Model.Shards*r.Lanes)
	return min(1+perLane*r.WindowSeconds, float64(r.BatchSize))
}
