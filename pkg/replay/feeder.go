package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/item"
	"nexus/pkg/system"
)

const (
	// batchSize is how many records a consumer receives at a time.
	batchSize = 100
	// maxTries bounds how often a record that a consumer cannot finish is delivered, each time with the batch loop's own
	// attempts.
	maxTries = 3
	// maxTroubles bounds the troubles that a report names of each consumer.
	maxTroubles = 1000
)

// Feeder delivers records to consumers. All fields but Gone, Settled, Clock and Walks are required.
type Feeder struct {
	Registry *entity.Registry
	// Readers have the consumers, and the filters of the mappings that serve them.
	Readers []system.Reader
	Parking consume.Parking
	Now     func() time.Time
	Wait    func(ctx context.Context, d time.Duration) error
	Log     *slog.Logger
	// Gone is that of the batch loop; optional.
	Gone func(ctx context.Context, users []string) (map[string]bool, error)
	// Settled and Clock are those of the batch loop; optional.
	Settled func(s consume.Settled)
	Clock   func() time.Time
	// Walks carries out the walks that the records have set off.
	Walks func(ctx context.Context) error
}

// Report counts the outcomes of the records at one consumer: Records = Done + Parked + Unfinished, and Filtered are
// those that the consumer's mapping does not pass.
type Report struct {
	Consumer   string    `json:"consumer"`
	Records    int       `json:"records"`
	Done       int       `json:"done"`
	Parked     int       `json:"parked"`
	Unfinished int       `json:"unfinished"`
	Filtered   int       `json:"filtered"`
	Troubles   []Trouble `json:"troubles,omitempty"` // the first 1,000
}

// Trouble is a record that was not done.
type Trouble struct {
	Sequence string `json:"sequenceNumber,omitempty"`
	Key      string `json:"key,omitempty"`
	Outcome  string `json:"outcome"` // parked or unfinished
	Reason   string `json:"reason"`
}

// add counts another report of the consumer.
func (r *Report) add(more Report) {
	r.Records += more.Records
	r.Done += more.Done
	r.Parked += more.Parked
	r.Unfinished += more.Unfinished
	r.Filtered += more.Filtered
	r.Troubles = append(r.Troubles, more.Troubles[:min(len(more.Troubles), maxTroubles-len(r.Troubles))]...)
}

// ErrConsumer says that there is no consumer of that name.
var ErrConsumer = errors.New("unknown consumer")

// Only returns the feeder for the consumers named, in that order; for all of them if none is named. An error matches
// [ErrConsumer].
func (f Feeder) Only(names ...string) (Feeder, error) {
	if len(names) == 0 {
		return f, nil
	}
	named := map[string]system.Reader{} // each consumer alone
	for _, r := range f.Readers {
		for _, c := range r.Consumers {
			named[c.Name()] = system.Reader{Line: r.Line, Consumers: []change.Consumer{c}}
		}
	}
	f.Readers = nil
	chosen := map[string]bool{}
	for _, name := range names {
		one, exists := named[name]
		if !exists {
			return f, fmt.Errorf("%w %.40q", ErrConsumer, name)
		}
		if !chosen[name] {
			f.Readers = append(f.Readers, one)
		}
		chosen[name] = true
	}
	return f, nil
}

// Feed delivers the records to each consumer in their order. It reports a record that a consumer cannot finish, and
// continues with the next. Its error concerns no record: the context has ended, or the feeder is incomplete.
func (f Feeder) Feed(ctx context.Context, records []json.RawMessage) ([]Report, error) {
	reports := []Report{}
	for _, r := range f.Readers {
		for _, c := range r.Consumers {
			report, err := f.feedOne(ctx, c, r.Line.Filter, records)
			if err != nil {
				return nil, fmt.Errorf("replay to %s: %w", c.Name(), err)
			}
			reports = append(reports, report)
		}
	}
	if f.Walks != nil {
		if err := f.Walks(ctx); err != nil {
			return nil, fmt.Errorf("replay of walks: %w", err)
		}
	}
	return reports, nil
}

// feedOne delivers the records that the filter passes to a consumer.
func (f Feeder) feedOne(
	ctx context.Context, c change.Consumer, passes eventsource.Filter, records []json.RawMessage,
) (Report, error) {
	o := &onlooker{Parking: f.Parking}
	var counted consume.Counts
	loop, err := consume.New(consume.Config{
		Registry: f.Registry, Consumers: []change.Consumer{watching(c, o)}, Parking: o, Log: f.Log, Now: f.Now, Wait: f.Wait,
		Spread: consume.InTurn, Gone: f.Gone, Observe: func(_ string, n consume.Counts) { counted = n },
		Settled: f.Settled, Clock: f.Clock,
	})
	if err != nil {
		return Report{}, err
	}
	report := Report{Consumer: c.Name(), Filtered: len(records)}
	records = slices.DeleteFunc(slices.Clone(records), func(raw json.RawMessage) bool {
		rec, err := change.Parse(raw)
		return err == nil && !passes.Match(rec)
	})
	report.Filtered -= len(records)
	for tries := 0; len(records) > 0; {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		batch := records[:min(batchSize, len(records))]
		o.parked = o.parked[:0]
		left, err := handle(ctx, loop, batch)
		if err != nil {
			return report, err
		}
		finished := len(batch) - len(left)
		if tries++; finished > 0 {
			tries = 1
		}
		report.Records += finished
		for _, p := range o.parked { // those after an unfinished record are delivered again, and are parked again
			if slices.ContainsFunc(batch[:finished], func(raw json.RawMessage) bool { return string(raw) == string(p.Record) }) {
				report.Parked++
				report.trouble("parked", p.Record, p.Reason)
			}
		}
		records = records[finished:]
		if len(left) > 0 && tries == maxTries {
			report.Records++
			report.Unfinished++
			report.trouble("unfinished", left[0], o.reason(left[0], counted))
			records, tries = records[1:], 0
		}
	}
	report.Done = report.Records - report.Parked - report.Unfinished
	return report, nil
}

// handle returns the part of the batch that the loop did not finish.
func handle(ctx context.Context, loop *consume.Loop, batch []json.RawMessage) ([]json.RawMessage, error) {
	body, err := loop.Handle(ctx, consume.Event(batch))
	if err != nil {
		return nil, err
	}
	var said struct {
		Failures []struct {
			ID string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return nil, fmt.Errorf("read the loop's answer: %w", err)
	}
	if len(said.Failures) == 0 {
		return nil, nil
	}
	i := slices.IndexFunc(batch, func(raw json.RawMessage) bool {
		rec, _ := change.Parse(raw) // what can be read of it is enough
		return rec.Sequence == said.Failures[0].ID
	})
	if i < 0 {
		return nil, fmt.Errorf("the loop names record %q, which is not in the batch", said.Failures[0].ID)
	}
	return batch[i:], nil
}

func (r *Report) trouble(outcome string, raw json.RawMessage, reason string) {
	if len(r.Troubles) == maxTroubles {
		return
	}
	rec, _ := change.Parse(raw) // what can be read of it is shown
	key := ""
	if (rec.Key != item.Key{}) {
		key = rec.Key.String()
	}
	r.Troubles = append(r.Troubles, Trouble{rec.Sequence, key, outcome, reason})
}

// UsersOf returns the users of the records, as far as they can be read.
func UsersOf(records []json.RawMessage) map[string]bool {
	users := map[string]bool{}
	for _, raw := range records {
		rec, _ := change.Parse(raw) // what can be read of it is enough
		if user, err := entity.ParseUserPK(rec.Key.PK); err == nil {
			users[user] = true
		}
	}
	return users
}
