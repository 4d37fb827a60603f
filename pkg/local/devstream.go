package local

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// heartbeat is the interval of signals on a quiet stream.
const heartbeat = 15 * time.Second

// getStream sends events of the platform as server-sent events, from now on or from the event in Last-Event-ID: each
// record that a reader finished (change), each effect (schedule, event, hint, walk, parked, blob), and the moves of the
// clock. With kinds it sends those: also what became of each record at each consumer (outcome), each part of a trace
// (span), and once a second how much was done (rates).
//
// A listener that is too slow receives lost and is disconnected, so that it delays no one. One that returns too late
// receives gap: events between are gone.
func (p *Platform) getStream(w http.ResponseWriter, r *http.Request) error {
	kinds := kindsByDefault
	if text := r.URL.Query().Get("kinds"); text != "" {
		kinds = strings.Split(text, ",")
		slices.Sort(kinds)
		kinds = slices.Compact(kinds)
		for _, kind := range kinds {
			if !slices.Contains(kindsByDefault, kind) && !slices.Contains(kindsOnRequest, kind) {
				return refusal(http.StatusUnprocessableEntity, "kinds has %.40q; there are %s", kind,
					strings.Join(slices.Concat(kindsByDefault, kindsOnRequest), ", "))
			}
		}
	}
	var after uint64
	if text := r.Header.Get("Last-Event-ID"); text != "" {
		var err error
		if after, err = strconv.ParseUint(text, 10, 64); err != nil {
			return refusal(http.StatusUnprocessableEntity, "Last-Event-ID has to be the id of an event")
		}
	}
	happenings, missed, all, end := p.hub.subscribe(kinds, after)
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
	if !all {
		text += "event: gap\ndata: {}\n\n"
	}
	for _, what := range missed {
		text += what.text()
	}
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
			text = what.text()
		case <-beat.C:
			text = ": alive\n\n"
		case <-r.Context().Done():
			return nil
		}
	}
}

func (h happening) text() string {
	return fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", h.ID, h.Kind, h.Data)
}
