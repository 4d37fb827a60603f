package local

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/consume"
	"nexus/pkg/span"
)

const (
	// ratesKept is how many seconds of rates are kept: ten minutes.
	ratesKept = 600
	// maxTimings bounds the writes of a second whose times are looked at.
	maxTimings = 2000
	// parkedPause is how long a count of parked objects is believed.
	parkedPause = 5 * time.Second
	// maxParkedCounted bounds that count.
	maxParkedCounted = 100_000
)

// rateShown counts the work of a second.
type rateShown struct {
	At        time.Time           `json:"at"` // its end, by the machine's clock
	Writes    int                 `json:"writes"`
	P50       float64             `json:"p50,omitempty"` // milliseconds of the writes
	P99       float64             `json:"p99,omitempty"`
	Records   int                 `json:"records"` // new ones
	Consumers map[string]rateSeen `json:"consumers"`
	Parked    int                 `json:"parked"` // objects in all
	// InFlight and Behind are records under way, and the age of the oldest of them in milliseconds.
	InFlight int   `json:"inFlight"`
	Behind   int64 `json:"behind"`
	Settled  bool  `json:"settled"`
	// Now is the platform's time, and Offset how far it is ahead.
	Now    time.Time `json:"now"`
	Offset string    `json:"offset"`
}

// rateSeen counts the work of one consumer in a second.
type rateSeen struct {
	Done         int     `json:"done"`
	Already      int     `json:"already"`
	Retried      int     `json:"retried"` // failed attempts
	Parked       int     `json:"parked"`
	Unfinished   int     `json:"unfinished"`
	Milliseconds float64 `json:"milliseconds"` // of all records together
}

// rates counts what is done, second by second. It is safe for concurrent use.
type rates struct {
	mu      sync.Mutex
	now     rateShown
	timings []time.Duration
	before  []rateShown
}

func newRates() *rates { return &rates{now: rateShown{Consumers: map[string]rateSeen{}}} }

func (r *rates) settled(of consume.Settled, isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if isNew {
		r.now.Records++
	}
	one := r.now.Consumers[of.Consumer]
	switch of.State {
	case consume.StateDone:
		one.Done++
	case consume.StateAlready:
		one.Already++
	case consume.StateParked:
		one.Parked++
	case consume.StateUnfinished:
		one.Unfinished++
	}
	one.Retried += max(0, of.Attempts-1)
	one.Milliseconds += span.Milliseconds(of.Took)
	r.now.Consumers[of.Consumer] = one
}

func (r *rates) wrote(took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Writes++
	if len(r.timings) < maxTimings {
		r.timings = append(r.timings, took)
	}
}

// end ends the second and returns it.
func (r *rates) end(complete func(*rateShown)) rateShown {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := r.now
	if n := len(r.timings); n > 0 {
		slices.Sort(r.timings)
		done.P50, done.P99 = span.Milliseconds(r.timings[n/2]), span.Milliseconds(r.timings[n*99/100])
	}
	complete(&done)
	if r.before = append(r.before, done); len(r.before) > ratesKept {
		r.before = r.before[1:]
	}
	r.now, r.timings = rateShown{Consumers: map[string]rateSeen{}}, r.timings[:0]
	return done
}

func (r *rates) all() []rateShown {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]rateShown{}, r.before...)
}

// runRates ends each second until the context ends.
func (p *Platform) runRates(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var parked int
	var counted time.Time
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if watched := p.hub.wants("rates"); watched && time.Since(counted) >= parkedPause {
			parked, counted = p.countParked(ctx), time.Now()
		}
		done := p.seen.rates.end(func(r *rateShown) {
			r.At, r.Parked, r.Now, r.Offset = time.Now().UTC(), parked, p.clock.Now(), p.clock.Offset().String()
			for _, reader := range p.readers {
				for _, shard := range reader.mapping.Status() {
					r.InFlight += shard.InFlight
					r.Behind = max(r.Behind, shard.Lag.Milliseconds())
				}
			}
			next, waits := p.scheduler.Next()
			r.Settled = r.InFlight == 0 && r.Records == 0 && (!waits || next.After(r.Now))
		})
		p.hub.broadcast("rates", func() []byte { return line(done) })
	}
}

// countParked counts parked records and given-up batches. An error leaves the count short: it is shown, not decided by.
func (p *Platform) countParked(ctx context.Context) (count int) {
	for _, prefix := range []string{failurePrefix, consume.ParkedPrefix} {
		for after := ""; count < maxParkedCounted; {
			names, err := p.blobs.List(ctx, prefix, blob.MaxList, after)
			count += len(names)
			if err != nil || len(names) < blob.MaxList {
				break
			}
			after = names[len(names)-1]
		}
	}
	return count
}

// getRates answers with the rates of the last ten minutes, the oldest first.
func (p *Platform) getRates(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := listParams(r, maxList); err != nil {
		return err
	}
	return answer(w, listed[rateShown]{Items: p.seen.rates.all()})
}

// consumersOf reads a list of consumers' names, such as stats,links.
func (p *Platform) consumersOf(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	names := strings.Split(text, ",")
	for _, name := range names {
		if !slices.ContainsFunc(p.readers, func(r *reader) bool { return slices.Contains(r.Line.Consumers, name) }) {
			return nil, refusal(http.StatusUnprocessableEntity, "consumer: there is no consumer %.40q", name)
		}
	}
	return names, nil
}
