package local

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/port"
	"nexus/pkg/replay"
	"nexus/pkg/schedule"
	schedulelocal "nexus/pkg/schedule/local"
)

const (
	// maxReplayBytes bounds the records of one request.
	maxReplayBytes = 64 << 20
	// replayEvents is the number of latest events that are shown with the derived state.
	replayEvents = 1000
	// recordsPause is the wait after a read of the stream that found nothing.
	recordsPause = 20 * time.Millisecond
	// replayMedia is the only accepted type of body: a page of another site cannot send it without a preflight.
	replayMedia = "application/x-ndjson"
)

// getRecords answers with the stream from its beginning to where it ends now, one record a line exactly as Lambda
// receives it: the records that reach a consumer, or with all=true every one.
func (p *Platform) getRecords(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	all := query.Get("all")
	if len(query) > 1 || len(query) == 1 && !query.Has("all") || all != "" && all != "true" && all != "false" {
		return refusal(http.StatusBadRequest, "the one parameter is all, true or false")
	}
	capture := replay.Capture{
		Registry: p.registry, Source: p.backend.newSource(), All: all == "true", Pause: recordsPause, Wait: port.Sleep,
	}
	if p.backend.heads != nil {
		var err error
		if capture.Heads, err = p.backend.heads(r.Context()); err != nil {
			return err
		}
	}
	goOn(w)
	w.Header().Set("Content-Type", replayMedia)
	w.Header().Set("Cache-Control", "no-store")
	out := bufio.NewWriter(w)
	err := capture.Run(r.Context(), func(rec change.Record) error {
		_, err := out.Write(append(change.AppendRecord(nil, rec), '\n'))
		return err
	})
	if err = errors.Join(err, out.Flush()); err != nil {
		p.log.Error("the stream was not read to its end", "error", err)
		panic(http.ErrAbortHandler) // the status is sent: only a cut connection can report the error
	}
	return nil
}

// Replayed is the answer to POST /dev/replay: the outcomes of the records, and the present derived data of their
// users.
type Replayed struct {
	Consumers []replay.Report `json:"consumers"`
	State     replay.State    `json:"state"`
}

// postReplay delivers the body's records, in any of their stored forms, to consumers of this process.
func (p *Platform) postReplay(w http.ResponseWriter, r *http.Request) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != replayMedia {
		return refusal(http.StatusUnsupportedMediaType, "the body has to be %s", replayMedia)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxReplayBytes+1))
	if err != nil {
		return refusal(http.StatusBadRequest, "the body breaks off: %v", err)
	}
	if len(body) > maxReplayBytes {
		return refusal(http.StatusRequestEntityTooLarge, "the body has more than %d bytes: send it in parts", maxReplayBytes)
	}
	records, err := consume.Records(body)
	if err != nil {
		return refusal(http.StatusUnprocessableEntity, "%v", err)
	}
	var names []string
	if list := r.URL.Query().Get("consumer"); list != "" {
		names = strings.Split(list, ",")
	}
	feeder, err := p.feeder().Only(names...)
	if err != nil {
		return refusal(http.StatusUnprocessableEntity, "%v", err)
	}
	out := Replayed{}
	defer p.others.begin()()
	if out.Consumers, err = feeder.Feed(r.Context(), records); err != nil {
		return err
	}
	view := p.view()
	view.Users = replay.UsersOf(records)
	if out.State, err = view.State(r.Context()); err != nil {
		return err
	}
	return answer(w, out)
}

// feeder returns a feeder for the consumers, independent of their readers.
func (p *Platform) feeder() replay.Feeder {
	f := replay.Feeder{
		Registry: p.registry, Readers: p.system.Readers, Parking: p.blobs, Now: p.clock.Now, Wait: port.Sleep,
		Log: p.log.With("part", "replay"), Gone: p.system.Gone, Walks: p.walks.drain,
	}
	if p.seen != nil {
		f.Settled, f.Clock = p.seen.settled, time.Now
	}
	return f
}

// view returns the sources of this platform's derived data.
func (p *Platform) view() replay.View {
	var waiting []schedule.Schedule
	for _, e := range p.scheduler.All() {
		if e.State == schedulelocal.Pending && !e.Former {
			waiting = append(waiting, e.Schedule)
		}
	}
	return replay.View{
		Types:  p.registry.Types(),
		Walker: p.backend.walker, Schedules: waiting, Events: p.bus.Tail(replayEvents), Objects: []blob.Store{p.blobs},
	}
}
