package local

import (
	"fmt"
	"net/http"
	"time"
)

// heartbeat is the interval of signals on a quiet stream.
const heartbeat = 15 * time.Second

// getStream sends events of the platform as server-sent events, from now on: each record that a reader finished
// (change), each effect (schedule, event, hint, parked, blob), and the moves of the clock. A listener that is too slow
// receives lost and is disconnected, so that it delays no one.
func (p *Platform) getStream(w http.ResponseWriter, r *http.Request) error {
	happenings, end := p.hub.subscribe()
	defer end()
	if happenings == nil {
		crowded(w, fmt.Sprintf("%d listen already", maxListeners))
		return nil
	}
	goOn(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	text := ": listening\n\n"
	for {
		if _, err := fmt.Fprint(w, text); err != nil {
			return nil // the client has disconnected
		}
		if err := out.Flush(); err != nil {
			return nil // the client has disconnected
		}
		select {
		case what, ok := <-happenings:
			if !ok {
				fmt.Fprint(w, "event: lost\ndata: {}\n\n")
				return nil
			}
			text = fmt.Sprintf("event: %s\ndata: %s\n\n", what.Kind, what.Data)
		case <-beat.C:
			text = ": alive\n\n"
		case <-r.Context().Done():
			return nil
		}
	}
}
