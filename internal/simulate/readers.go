package simulate

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/eventsource"
)

// reader is one event source mapping: consumers, and how far each shard was delivered to them.
type reader struct {
	consumers []string
	filter    eventsource.Filter
	loop      *consume.Loop
	places    map[*shard]int // of the next record
	busy      map[*shard]*worker
}

func newReader(consumers []string, filter eventsource.Filter, loop *consume.Loop) *reader {
	return &reader{consumers, filter, loop, map[*shard]int{}, map[*shard]*worker{}}
}

// giveUpAge is the age at which a mapping sends an undeliverable record to its on-failure destination.
const giveUpAge = 23 * time.Hour

// givenUp is one delivery that was given up: parked by one consumer, or sent to the on-failure destination of a
// reader.
type givenUp struct {
	loop    *consume.Loop
	name    string
	payload []byte
	users   []string
	record  *record
}

// waits reports whether the shard has records for the reader that may be delivered now.
func (r *reader) waits(sh *shard) bool {
	if p := sh.parent; p != nil && (!p.closed || r.places[p] < len(p.records)) {
		return false
	}
	return r.places[sh] < len(sh.records)
}

// deliver begins the delivery of the next records of a shard, up to most. Twice is a delivery beside a running one;
// its answer is ignored.
func (h *history) deliver(r *reader, sh *shard, most int) *worker {
	from := r.places[sh]
	to := min(from+most, len(sh.records))
	var batch []*record
	for _, rec := range sh.records[from:to] {
		if r.filter.Match(rec.arrives) {
			batch = append(batch, rec)
		}
	}
	if len(batch) == 0 {
		r.places[sh] = to
		return nil
	}
	twin := r.busy[sh] != nil
	if twin {
		return h.handleBeside(r, batch)
	}
	w := h.handle(r.loop, describe("%v of %d from %s", r.consumers, len(batch), batch[0].Sequence), batch,
		func(unfinished string) {
			delete(r.busy, sh)
			if h.luck.misfortune(h) && h.luck.one(25) {
				h.happened["answer lost"]++ // and with it the position in the stream: the batch is delivered again
				return
			}
			place := to
			if unfinished != "" {
				place = slices.IndexFunc(sh.records, func(rec *record) bool { return rec.Sequence == unfinished })
			}
			if place < from || place > to {
				h.violate("I8", "", unfinished, "the answer of a batch names a record outside of it")
				return
			}
			r.places[sh] = place
		})
	r.busy[sh] = w
	w.lost = func() { delete(r.busy, sh) }
	return w
}

// handleBeside begins a delivery outside of the reader's own course. Its unfinished records are delivered again: its
// caller repeats it after a crash.
func (h *history) handleBeside(r *reader, batch []*record) *worker {
	again := func(batch []*record) {
		for _, rec := range batch {
			h.oracle.givenUp = append(h.oracle.givenUp, givenUp{
				loop: r.loop, name: describe("%v again, from %s", r.consumers, rec.Sequence), payload: rec.payload(),
				users: []string{rec.user}, record: rec,
			})
		}
	}
	w := h.handle(r.loop, describe("%v once more of %d from %s", r.consumers, len(batch), batch[0].Sequence), batch,
		func(unfinished string) {
			if unfinished != "" {
				again(batch[slices.IndexFunc(batch, func(rec *record) bool { return rec.Sequence == unfinished }):])
			}
		})
	w.lost = func() { again(batch) }
	return w
}

// handle begins a delivery of records through a loop. The answer is the first record that was not finished.
func (h *history) handle(loop *consume.Loop, name string, batch []*record, answered func(unfinished string)) *worker {
	raw := make([]json.RawMessage, len(batch))
	var users []string
	for i, rec := range batch {
		raw[i] = rec.payload()
		users = append(users, rec.user)
	}
	h.operations += int64(len(batch))
	return h.handleRaw(loop, name, raw, users, func(unfinished string) {
		if unfinished != "" && unfinished == batch[0].Sequence {
			h.note("%s is refused", name)
		}
		if answered != nil {
			answered(unfinished)
		}
	})
}

// handleRaw begins a delivery of records in the form in which Lambda delivers them.
func (h *history) handleRaw(
	loop *consume.Loop, name string, raw []json.RawMessage, users []string, answered func(string),
) *worker {
	var answer []byte
	var err error
	w := &worker{kind: delivering, name: name}
	w.finished = func() {
		var said struct {
			Failures []struct {
				ID string `json:"itemIdentifier"`
			} `json:"batchItemFailures"`
		}
		if err == nil {
			err = json.Unmarshal(answer, &said)
		}
		switch {
		case err != nil && w.junk != nil: // it has no number by which to name it
			w.lost()
		case err != nil:
			h.violate("I8", "", name, "the batch loop answers %q: %v", answer, err)
		case len(said.Failures) > 0:
			answered(said.Failures[0].ID)
		default:
			if !consume.Finished(answer) {
				h.violate("I8", "", name, "the batch loop answers %q, which names no record", answer)
			}
			h.checkLeft(w)
			answered("")
		}
	}
	handle := h.handler(w, loop, raw)
	return h.start(w, func(ctx context.Context) { answer, err = handle(ctx, consume.Event(raw)) }, users...)
}

// watching returns the consumer; the history records its outcomes, and checks that an item's changes come one after
// another, unless the consumer accepts several (I8).
func (h *history) watching(c change.Consumer) change.Consumer {
	_, acceptsBatches := c.(change.BatchConsumer)
	return change.Wrap(c, func(ctx context.Context, batch []change.Change) (outcomes []change.Outcome) {
		worker := h.current
		if !acceptsBatches {
			h.enter(worker, c.Name(), batch)
			defer func() { worker.leave(c.Name(), batch, outcomes) }()
		}
		at := worker.at()
		at.consumer = c.Name()
		worker.cursed.begin(h, c.Name(), batch)
		defer func() { *at = post{} }()
		began := h.watch.begun(c.Name())
		outcomes = worker.cursed.outcomes(c.Name(), batch, c.Apply(ctx, batch))
		if len(outcomes) != len(batch) {
			return outcomes
		}
		for i, o := range outcomes {
			if o.Verdict == change.Done && !worker.dead {
				h.oracle.applied(c.Name(), batch[i].Sequence)
				h.watch.applied(c.Name(), batch[i].Sequence, began)
				continue
			}
			worker.failed = true
			if h.tracing {
				h.note("%s of %s at %d: %v", c.Name(), batch[i].Key.SK, batch[i].Version, o.Err)
			}
		}
		return outcomes
	})
}

// handOverAged hands what is too old to the on-failure destination, as a mapping does for whose consumers it kept
// failing.
func (h *history) handOverAged() {
	for _, r := range h.readers {
		for _, sh := range h.stream.shards {
			if r.busy[sh] != nil {
				continue
			}
			for r.waits(sh) && h.now.Sub(sh.records[r.places[sh]].Created) > giveUpAge {
				rec := sh.records[r.places[sh]]
				r.places[sh]++
				if r.filter.Match(rec.arrives) {
					h.oracle.givenUp = append(h.oracle.givenUp, givenUp{
						loop: r.loop, name: describe("%v again, given up at %s", r.consumers, rec.Sequence),
						payload: rec.payload(), users: []string{rec.user}, record: rec,
					})
				}
			}
		}
	}
}
