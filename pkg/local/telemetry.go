package local

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"nexus/pkg/span"
	"nexus/pkg/span/otlp"
)

const (
	// telemetryPause is how long spans are gathered for one request, and telemetryBatch how many at most.
	telemetryPause = time.Second
	telemetryBatch = 512
	// telemetryBound bounds a request to the collector.
	telemetryBound = 5 * time.Second
)

// exportSpans sends the spans to the collector until the context ends. What it does not take is lost, and said once: it
// never delays the system.
func (p *Platform) exportSpans(ctx context.Context) {
	address := strings.TrimSuffix(p.options.Collector, "/") + otlp.Path
	client := &http.Client{Transport: &http.Transport{}, Timeout: telemetryBound}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(telemetryPause)
	defer tick.Stop()
	happenings, _, _, end := p.hub.subscribe([]string{"span"}, 0)
	defer func() { end() }()
	var waiting []span.Span
	said := false
	send := func() {
		if len(waiting) == 0 {
			return
		}
		err := post(ctx, client, address, otlp.Encode("nexus", waiting))
		waiting = waiting[:0]
		if err != nil && !said && ctx.Err() == nil {
			said = true
			p.log.Warn("the collector takes no spans; what it does not take is lost", "error", err)
		}
	}
	for {
		select {
		case what, ok := <-happenings:
			if !ok { // it was too slow, or there were too many listeners
				if ctx.Err() != nil || p.hub.isClosed() {
					return
				}
				waitFor(ctx, telemetryPause, nil, nil, nil)
				happenings, _, _, end = p.hub.subscribe([]string{"span"}, 0)
				continue
			}
			var one span.Span
			if json.Unmarshal(what.Data, &one) == nil {
				waiting = append(waiting, one)
			}
			if len(waiting) >= telemetryBatch {
				send()
			}
		case <-tick.C:
			send()
			if happenings == nil { // there were too many listeners
				happenings, _, _, end = p.hub.subscribe([]string{"span"}, 0)
			}
		case <-ctx.Done():
			return
		}
	}
}

func post(ctx context.Context, client *http.Client, address string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", otlp.Media)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxDevBody))
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		return refusal(response.StatusCode, "the collector answered %s", response.Status)
	}
	return err
}
