package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/eventsource"
	"nexus/pkg/reminders"
	schedulelocal "nexus/pkg/schedule/local"
	"nexus/pkg/table"
)

const (
	defaultList = 100
	maxList     = 1000
	// maxParkedPage bounds the parked objects of one answer, which holds their records.
	maxParkedPage = 100
)

// listed is the answer of every list under /dev/. Next is the value of after for the following page; empty at the end.
type listed[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// listParams reads limit and the other names that the path accepts.
func listParams(r *http.Request, most int, known ...string) (limit int, query url.Values, err error) {
	query = r.URL.Query()
	for name, values := range query {
		if (name != "limit" && !slices.Contains(known, name)) || len(values) != 1 {
			return 0, nil, refusal(http.StatusBadRequest, "parameter %.40q is unknown here or repeated", name)
		}
	}
	limit = min(defaultList, most)
	if text := query.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > most {
			return 0, nil, refusal(http.StatusUnprocessableEntity, "limit has to be 1 to %d", most)
		}
	}
	return limit, query, nil
}

// getEvents lists the latest events on the bus, or the latest before a number, the oldest of them first. Next is the
// value of before for older ones.
func (p *Platform) getEvents(w http.ResponseWriter, r *http.Request) error {
	limit, query, err := listParams(r, maxList, "before")
	if err != nil {
		return err
	}
	before := math.MaxInt
	if text := query.Get("before"); text != "" {
		if before, err = strconv.Atoi(text); err != nil || before < 1 {
			return refusal(http.StatusUnprocessableEntity, "before has to be what next said")
		}
	}
	events, first, err := p.bus.Before(before, limit)
	if err != nil {
		return err
	}
	out := listed[eventShown]{Items: []eventShown{}}
	for _, e := range events {
		out.Items = append(out.Items, shownEvent(e))
	}
	if first > 0 {
		out.Next = strconv.Itoa(first)
	}
	return answer(w, out)
}

// scheduleShown is a schedule as it is listed.
type scheduleShown struct {
	Name      string              `json:"name"`
	At        time.Time           `json:"at"`
	State     schedulelocal.State `json:"state"`
	Former    bool                `json:"former,omitempty"` // only its call is left
	Payload   json.RawMessage     `json:"payload"`
	Attempts  int                 `json:"attempts,omitempty"`
	LastError string              `json:"lastError,omitempty"`
}

// getSchedules lists schedules by instant and name, or those in one state.
func (p *Platform) getSchedules(w http.ResponseWriter, r *http.Request) error {
	limit, query, err := listParams(r, maxList, "state", "after")
	if err != nil {
		return err
	}
	state := schedulelocal.State(query.Get("state"))
	states := []schedulelocal.State{schedulelocal.Pending, schedulelocal.Called, schedulelocal.Completed}
	if state != "" && !slices.Contains(states, state) {
		return refusal(http.StatusUnprocessableEntity, "state is one of %s", states)
	}
	places := schedulePlaces(p.scheduler.All())
	if text := query.Get("after"); text != "" {
		after, err := parseSchedulePlace(text)
		if err != nil {
			return refusal(http.StatusUnprocessableEntity, "after has to be what next said")
		}
		places = slices.DeleteFunc(places, func(s schedulePlace) bool { return s.compare(after) <= 0 })
	}
	places = slices.DeleteFunc(places, func(s schedulePlace) bool { return state != "" && s.State != state })
	out := listed[scheduleShown]{Items: []scheduleShown{}}
	for _, e := range places[:min(limit, len(places))] {
		out.Items = append(out.Items, scheduleShown{e.Name, e.At, e.State, e.Former, e.Payload, e.Attempts, e.LastError})
	}
	if limit < len(places) {
		out.Next = places[limit-1].String()
	}
	return answer(w, out)
}

// getBlobs lists names of objects.
func (p *Platform) getBlobs(w http.ResponseWriter, r *http.Request) error {
	limit, query, err := listParams(r, blob.MaxList, "prefix", "after")
	if err != nil {
		return err
	}
	names, err := p.blobs.List(r.Context(), query.Get("prefix"), limit, query.Get("after"))
	if err != nil {
		return blobRefusal(err)
	}
	out := listed[string]{Items: append([]string{}, names...)}
	if len(names) == limit {
		out.Next = names[limit-1]
	}
	return answer(w, out)
}

// getBlob answers an object as it is stored.
func (p *Platform) getBlob(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	body, err := p.blobs.Get(r.Context(), name)
	if err != nil {
		return blobRefusal(err)
	}
	media := "application/octet-stream"
	if strings.HasSuffix(name, ".json") || json.Valid(bytes.TrimSpace(body)) {
		media = "application/json"
	}
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(body) // the client may have disconnected
	return nil
}

func blobRefusal(err error) error {
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return refusal(http.StatusNotFound, "there is no such object")
	case errors.Is(err, blob.ErrInvalid):
		return refusal(http.StatusUnprocessableEntity, "%v", err)
	}
	return err
}

// consumerShown counts the outcomes of the records at one consumer since the start.
type consumerShown struct {
	Consumer   string `json:"consumer"`
	Records    int    `json:"records"`
	Done       int    `json:"done"`
	Already    int    `json:"alreadyDone"` // of done, as far as the consumer can detect it
	Parked     int    `json:"parked"`
	Unfinished int    `json:"unfinished"`
	Retried    int    `json:"retried"`
}

type readerShown struct {
	Reader    string                    `json:"reader"`
	Shards    []eventsource.ShardStatus `json:"shards"`
	Consumers []consumerShown           `json:"consumers"`
}

func (r *reader) consumersShown() []consumerShown {
	var out []consumerShown
	for _, c := range r.Consumers {
		n := r.tally.countsOf(c.Name())
		out = append(out, consumerShown{c.Name(), n.Records, n.Done, n.Already, n.Parked, n.Unfinished, n.Retried})
	}
	return out
}

// getLag reports the progress of every reader, consumer and driver. The numbers of consumers and reminders begin with
// the process.
func (p *Platform) getLag(w http.ResponseWriter, r *http.Request) error {
	out := struct {
		Now       time.Time                 `json:"now"`
		Heads     map[string]string         `json:"heads,omitempty"` // by shard; absent with --endpoint
		Readers   []readerShown             `json:"readers"`
		Reminders map[reminders.Outcome]int `json:"reminders"`
		Due       int                       `json:"schedulesDue"`
		NextAt    *time.Time                `json:"nextScheduleAt,omitempty"`
		ExpiryAt  *time.Time                `json:"nextExpiryAt,omitempty"`
	}{Now: p.clock.Now().Truncate(time.Second), Reminders: p.reminded.all(), Due: len(p.scheduler.Due(p.clock.Now()))}
	if p.backend.heads != nil {
		var err error
		if out.Heads, err = p.backend.heads(r.Context()); err != nil {
			return err
		}
	}
	for _, reader := range p.readers {
		out.Readers = append(out.Readers,
			readerShown{reader.mapping.Config().Name, reader.mapping.Status(), reader.consumersShown()})
	}
	if at, any := p.scheduler.Next(); any {
		out.NextAt = &at
	}
	if at, any := p.rows.next(false); any {
		out.ExpiryAt = &at
	}
	return answer(w, out)
}

// getInfo reports the addresses of all parts, for other tools. It includes the engine's only if the options allow it.
func (p *Platform) getInfo(w http.ResponseWriter, _ *http.Request) error {
	endpoint := p.backend.endpoint
	if p.options.Endpoint == "" && !p.options.ShowEndpoint {
		endpoint = ""
	}
	return answer(w, struct {
		URL       string    `json:"url"`
		Store     Store     `json:"store"`
		Endpoint  string    `json:"endpoint,omitempty"`
		Table     string    `json:"table"`
		StreamARN string    `json:"streamArn,omitempty"`
		Indexes   []string  `json:"indexes"`
		DataDir   string    `json:"dataDirectory,omitempty"`
		Ephemeral bool      `json:"ephemeral"`
		StartedAt time.Time `json:"startedAt"` // by the machine's clock
		Missed    int       `json:"missed"`    // reminders more than a day late since then
	}{
		p.URL(), p.options.Store, endpoint, p.backend.tableName, p.backend.stream, indexNames(), p.options.DataDir,
		p.options.Ephemeral || p.options.Store == Memory, p.started.UTC().Truncate(time.Second),
		p.reminded.all()[reminders.Missed],
	})
}

func indexNames() []string {
	var out []string
	for _, index := range table.ProductSchema().Indexes {
		out = append(out, string(index.Name))
	}
	return out
}
