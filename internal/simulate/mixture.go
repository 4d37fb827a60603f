package simulate

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"

	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/command"
	"nexus/pkg/consume"
	"nexus/pkg/insights"
	"nexus/pkg/reminders"
)

// former is the release before this one, at work on the ports of a history.
type former interface {
	// loop returns what handles the batches of the consumers.
	loop(consumers []string) handler
	notify(ctx context.Context, payload []byte) error
	// do returns what carries out a command; false for one that the release has other rules for.
	do(r command.Request) (run func(ctx context.Context) (command.Result, error), takes bool)
}

// handler handles the event of one batch, as [consume.Loop.Handle] does.
type handler func(ctx context.Context, event []byte) ([]byte, error)

// newFormer makes the release before this one. It is nil unless the program was built with it (package beside).
var newFormer func(h *history) former

// mixture decides which release does a piece of work. Each function has a separate course, because functions may be
// deployed in any order: the release before, both during a deployment, this release, both during a rollback, and so
// on.
type mixture struct {
	former  former // nil for this release alone
	luck    *rand.Rand
	source  *rand.PCG
	seed    uint64
	courses map[string][]phase
	loops   map[*consume.Loop]formerLoop
}

type formerLoop struct {
	function string
	handle   handler
}

// phase is a part of a course.
type phase struct {
	until int // the step at which it is over
	share int // of a hundred pieces of work, those of the release before
}

// shares are the phases of a course in their order.
var shares = [...]int{100, 50, 0, 50}

// Names of functions other than the readers of the deployment table.
const (
	projecting  = "projections"
	effecting   = "effects"
	announcing  = "notify"
	ordering    = "command"
	maxSteady   = 40 // steps of a phase
	mixtureSalt = 0x6d697874757265
)

func newMixture(h *history) *mixture {
	m := &mixture{loops: map[*consume.Loop]formerLoop{}}
	if newFormer == nil {
		return m
	}
	m.former, m.seed = newFormer(h), h.spec.Seed^mixtureSalt
	m.source = rand.NewPCG(m.seed, 0)
	m.luck = rand.New(m.source)
	m.courses = map[string][]phase{}
	for _, function := range []string{projecting, effecting, announcing, ordering} {
		from := m.luck.IntN(len(shares))
		for at := 0; at <= h.spec.Steps; from++ {
			at += 1 + m.luck.IntN(maxSteady)
			m.courses[function] = append(m.courses[function], phase{at, shares[from%len(shares)]})
		}
		m.source.Seed(m.seed, uint64(len(m.courses))<<32) // so that a shorter history begins as a longer one
	}
	return m
}

// step begins to draw for a step, as [luck.step] does.
func (m *mixture) step(n int) {
	if m.former != nil {
		m.source.Seed(m.seed, uint64(n)+1)
	}
}

// takes reports whether the release before does the next piece of work of the function.
func (m *mixture) takes(h *history, w *worker, function string) bool {
	switch {
	case m.former == nil:
		return false
	case function == projecting && len(h.damaged) > 0: // it panics over some rows that were damaged from outside
		return false
	case function == projecting && h.luck.crowd > 0: // it knows no rows that a repair of so many has staged
		return false
	}
	share := 0
	for _, p := range m.courses[function] {
		if share = p.share; h.step < p.until {
			break
		}
	}
	if w.isFormer = m.luck.IntN(100) < share; w.isFormer {
		w.name += " (before)"
		h.happened["before: "+function]++
	}
	return w.isFormer
}

// join has the release before make a loop of the same consumers.
func (m *mixture) join(loop *consume.Loop, consumers []change.Consumer) {
	if m.former == nil {
		return
	}
	var names []string
	for _, c := range consumers {
		if c.Name() != changes.Name && c.Name() != insights.Name { // that release keeps no change logs and no insights
			names = append(names, c.Name())
		}
	}
	if len(names) == 0 {
		return
	}
	function := projecting
	if slices.Contains(names, reminders.Name) || slices.Contains(names, "archive") {
		function = effecting
	}
	if handle := m.former.loop(names); handle != nil {
		m.loops[loop] = formerLoop{function, handle}
	}
}

// handler is the loop, or that of the release before. That release's projections tell no change log and no insights.
func (h *history) handler(w *worker, loop *consume.Loop, raw []json.RawMessage) handler {
	if other := h.mixture.loops[loop]; h.mixture.takes(h, w, other.function) {
		if other.function == projecting {
			h.swallow(raw)
		}
		return other.handle
	}
	return loop.Handle
}

// notify is the notifier, or that of the release before.
func (h *history) notify(w *worker) func(ctx context.Context, payload []byte) error {
	if h.mixture.takes(h, w, announcing) {
		return h.mixture.former.notify
	}
	return h.system.Notifier.Handle
}

// command carries out a request by this release, or by the one before.
func (h *history) command(w *worker, r command.Request) func(ctx context.Context) (command.Result, error) {
	this := func(ctx context.Context) (command.Result, error) { return h.system.Commands.Do(ctx, r) }
	if r.Command == nil || h.mixture.former == nil {
		return this
	}
	run, isTaken := h.mixture.former.do(r)
	if isTaken && h.mixture.takes(h, w, ordering) {
		return run
	}
	return this
}
