package local

import (
	"slices"
	"sync"
	"time"
)

// happening is one event of the platform, as GET /dev/stream shows it.
type happening struct {
	ID   uint64
	Kind string // one of kindsOfStream
	Data []byte // one line of JSON
}

// The kinds of events. A listener that names none gets the first ones.
var (
	kindsByDefault = []string{"change", "schedule", "event", "hint", "walk", "parked", "blob", "clock"}
	kindsOnRequest = []string{"outcome", "span", "rates", "fault"}
)

const (
	// listenerBuffer is how many events a listener may be late before it loses its subscription.
	listenerBuffer = 4096
	// keptHappenings bounds the events that a listener who returns can still have, and keptFor the time for which events
	// are kept without a listener.
	keptHappenings = 4096
	keptFor        = time.Minute
)

// hub passes events of the platform to listeners. It never delays the caller: a listener that is too slow is dropped.
type hub struct {
	mu        sync.Mutex
	listeners map[chan happening][]string // with the kinds that each wants
	wanted    map[string]int              // how many want a kind
	closed    bool

	last  uint64      // id of the last event
	kept  []happening // the latest, for those who return
	until time.Time   // of whom the kinds are still formatted when no listener wants them
	of    []string    // these kinds
}

func newHub() *hub {
	return &hub{listeners: map[chan happening][]string{}, wanted: map[string]int{}}
}

// wants reports whether an event of the kind would be shown to anyone.
func (h *hub) wants(kind string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.isWanted(kind)
}

func (h *hub) isWanted(kind string) bool {
	return h.wanted[kind] > 0 || !h.until.IsZero() && slices.Contains(h.of, kind) && time.Now().Before(h.until)
}

// broadcast passes the event to every listener of its kind; it formats the event only if there is one.
func (h *hub) broadcast(kind string, data func() []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isWanted(kind) {
		return
	}
	h.last++
	what := happening{h.last, kind, data()}
	if h.kept = append(h.kept, what); len(h.kept) > keptHappenings {
		h.kept = h.kept[1:]
	}
	for listener, kinds := range h.listeners {
		if !slices.Contains(kinds, kind) {
			continue
		}
		select {
		case listener <- what:
		default:
			h.dismiss(listener)
		}
	}
}

// subscribe returns a channel of the events of the kinds from now on, and a function that ends it. The channel is
// closed then, when the platform stops, and when the listener is too slow. It is nil while there are too many
// listeners.
//
// After is the last event that the listener has had, 0 for none. Missed are those since then; not all says that some of
// them are gone.
func (h *hub) subscribe(
	kinds []string, after uint64,
) (from <-chan happening, missed []happening, all bool, end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.listeners) >= maxListeners {
		return nil, nil, true, func() {}
	}
	listener := make(chan happening, listenerBuffer)
	if h.closed {
		close(listener)
		return listener, nil, true, func() {}
	}
	all = true
	if after > 0 {
		all = after == h.last || after < h.last && len(h.kept) > 0 && h.kept[0].ID <= after+1
		for _, one := range h.kept {
			if one.ID > after && slices.Contains(kinds, one.Kind) {
				missed = append(missed, one)
			}
		}
	}
	h.listeners[listener] = kinds
	for _, kind := range kinds {
		h.wanted[kind]++
	}
	return listener, missed, all, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.dismiss(listener)
	}
}

func (h *hub) dismiss(listener chan happening) {
	kinds, listening := h.listeners[listener]
	if !listening {
		return
	}
	delete(h.listeners, listener)
	close(listener)
	for _, kind := range kinds {
		h.wanted[kind]--
	}
	h.until, h.of = time.Now().Add(keptFor), kinds
}

// forget drops the events that were kept: some may name a user who is erased.
func (h *hub) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = nil
}

func (h *hub) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for listener := range h.listeners {
		h.dismiss(listener)
	}
}
