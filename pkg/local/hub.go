package local

import "sync"

// happening is one event of the platform, as GET /dev/stream shows it.
type happening struct {
	Kind string // change, schedule, event, hint, parked, blob, clock
	Data []byte // one line of JSON
}

// listenerBuffer is how many events a listener may be late before it loses its subscription.
const listenerBuffer = 4096

// hub passes events of the platform to listeners. It never delays the caller: a listener that is too slow is dropped.
type hub struct {
	mu        sync.Mutex
	listeners map[chan happening]struct{}
	closed    bool
}

func newHub() *hub { return &hub{listeners: map[chan happening]struct{}{}} }

// broadcast passes the event to every listener; it formats the event only if there is one.
func (h *hub) broadcast(kind string, data func() []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.listeners) == 0 {
		return
	}
	what := happening{kind, data()}
	for listener := range h.listeners {
		select {
		case listener <- what:
		default:
			h.dismiss(listener)
		}
	}
}

// subscribe returns a channel of the events from now on, and a function that ends it. The channel is closed then, when
// the platform stops, and when the listener is too slow. It is nil while there are too many listeners.
func (h *hub) subscribe() (<-chan happening, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.listeners) >= maxListeners {
		return nil, func() {}
	}
	listener := make(chan happening, listenerBuffer)
	if h.closed {
		close(listener)
		return listener, func() {}
	}
	h.listeners[listener] = struct{}{}
	return listener, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.dismiss(listener)
	}
}

func (h *hub) dismiss(listener chan happening) {
	if _, listening := h.listeners[listener]; listening {
		delete(h.listeners, listener)
		close(listener)
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for listener := range h.listeners {
		h.dismiss(listener)
	}
}
