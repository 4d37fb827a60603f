package eventsource

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// errTimeout is the cause of a handler's context that ended at its own deadline.
var errTimeout = errors.New("function timed out")

// invoke calls the handler with the event of d's records, records in d how it ended, and calls the observer.
func (m *Mapping) invoke(ctx context.Context, handler Handler, d Delivery, event []byte) Delivery {
	d.Mapping, d.RequestID = m.config.Name, m.wiring.NewID()
	began := m.wiring.Clock()
	answer, err := m.call(ctx, handler, event)
	if err == nil {
		d.Finished, err = finished(answer, d.Records)
	}
	d.Err, d.Took = err, m.wiring.Clock().Sub(began)
	if m.wiring.Hooks.Delivered != nil {
		m.wiring.Hooks.Delivered(d)
	}
	return d
}

// call makes an error of everything that makes a Lambda invocation fail: an error, a panic, a timeout. Go cannot stop
// a handler that ignores its context, so call waits for it.
func (m *Mapping) call(ctx context.Context, handler Handler, event []byte) (answer []byte, err error) {
	if m.config.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, m.config.Timeout, errTimeout)
		defer cancel()
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handler panicked: %v\n%s", p, debug.Stack())
		}
	}()
	answer, err = handler(ctx, event)
	if err == nil && context.Cause(ctx) == errTimeout {
		err = fmt.Errorf("after %s: %w", m.config.Timeout, errTimeout)
	}
	return answer, err
}
