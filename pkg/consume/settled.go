package consume

import (
	"time"

	"nexus/pkg/change"
)

// State names the end of a record at one consumer in one invocation.
type State string

const (
	StateDone       State = "done"
	StateAlready    State = "already" // done in an earlier delivery, as far as the consumer can detect it
	StateGone       State = "gone"    // of a user whose account is gone: done unread
	StateParked     State = "parked"
	StateUnfinished State = "unfinished" // it is delivered again
)

// Settled is one record at one consumer at the end of an invocation.
type Settled struct {
	Consumer string
	// Record shares memory with the event: a receiver that keeps a part of it makes a copy.
	Record *change.Decoded
	State  State
	// Attempts counts the calls of the consumer with the record.
	Attempts int
	// Began is when the first of them began, the zero time if there was none. Took is how long they lasted together; the
	// records of one call have its whole time each.
	Began time.Time
	Took  time.Duration
	// Err is why the record was parked or is unfinished, or why the last attempt but one failed.
	Err error
}

// reportSettled reports each record of the batch.
func (d *batchRun) reportSettled() {
	if d.cfg.Settled == nil {
		return
	}
	for i := range d.records {
		p := &d.records[i]
		s := Settled{
			Consumer: d.consumer.Name(), Record: &d.batch[i], Attempts: p.calls, Began: p.began, Took: p.took, Err: p.last,
		}
		switch {
		case p.parked:
			s.State, s.Err = StateParked, p.poison
		case !p.finished:
			s.State = StateUnfinished
		case p.calls == 0:
			s.State = StateGone
		case p.already:
			s.State = StateAlready
		default:
			s.State = StateDone
		}
		d.cfg.Settled(s)
	}
}

// measure counts a call with the records, and measures it until the function that it returns is called.
func (d *batchRun) measure(wave []int) (end func()) {
	if d.cfg.Settled == nil {
		return func() {}
	}
	began := d.cfg.Clock()
	for _, i := range wave {
		p := &d.records[i]
		p.calls++
		if p.calls == 1 {
			p.began = began
		}
	}
	return func() {
		took := d.cfg.Clock().Sub(began)
		for _, i := range wave {
			d.records[i].took += took
		}
	}
}
