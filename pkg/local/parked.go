package local

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/replay"
	"nexus/pkg/text"
)

// maxReason bounds the part of a reason that a filter names.
const maxReason = 200

// ParkedFilter selects parked objects. A zero field selects all.
type ParkedFilter struct {
	Consumer string `json:"consumer,omitempty"` // or the reader that gave a batch up
	User     string `json:"user,omitempty"`
	Reason   string `json:"reason,omitempty"` // a part of it, or the reason of a group
	Object   string `json:"object,omitempty"` // this one alone
}

// checkFilter returns an error that names the field that is wrong.
func (p *Platform) checkFilter(f ParkedFilter) error {
	if f.User != "" {
		if err := entity.CheckUserID(f.User); err != nil {
			return refusal(http.StatusUnprocessableEntity, "user: %v", err)
		}
	}
	isKnown := f.Consumer == "" || slices.ContainsFunc(p.readers, func(r *reader) bool {
		return r.Line.Name == f.Consumer || slices.Contains(r.Line.Consumers, f.Consumer)
	})
	if !isKnown {
		return refusal(http.StatusUnprocessableEntity, "consumer: there is no consumer %.40q", f.Consumer)
	}
	if len(f.Reason) > maxReason {
		return refusal(http.StatusUnprocessableEntity, "reason: at most %d bytes", maxReason)
	}
	return nil
}

// prefixes are the beginnings of the names that can match, in the order of names.
func (f ParkedFilter) prefixes() []string {
	failures, parked := failurePrefix, consume.ParkedPrefix
	switch {
	case f.Object != "":
		return []string{f.Object}
	case f.Consumer == "":
		return []string{failures, parked}
	}
	parked += f.Consumer + "/"
	if f.User != "" {
		return []string{parked + f.User + "/"} // a batch that was given up is of several users
	}
	return []string{failures + f.Consumer + "/", parked}
}

// parkedObject is a parked record, or a batch that was given up, as it is read.
type parkedObject struct {
	Name     string
	Body     []byte
	Consumer string
	User     string
	Reason   string
	At       time.Time
	records  []json.RawMessage
}

func readParkedObject(name string, body []byte) parkedObject {
	o := parkedObject{Name: name, Body: body}
	rest, isFailure := strings.CutPrefix(name, failurePrefix)
	if !isFailure {
		rest = strings.TrimPrefix(name, consume.ParkedPrefix)
	}
	o.Consumer, rest, _ = strings.Cut(rest, "/")
	if first, _, more := strings.Cut(rest, "/"); !isFailure && more && !strings.HasPrefix(first, ".") {
		o.User = first
	}
	if p, err := consume.ReadParked(body); err == nil {
		o.Reason, o.At = p.Reason, p.ParkedAt
	} else {
		o.Reason = "the mapping gave the batch up"
		var said struct {
			Timestamp time.Time `json:"timestamp"`
		}
		_ = json.Unmarshal(body, &said) // what can be read of it is shown
		o.At = said.Timestamp
	}
	o.records, _ = consume.Records(body) // without records it cannot be delivered, and says so then
	return o
}

func (f ParkedFilter) matches(o parkedObject) bool {
	return (f.Consumer == "" || o.Consumer == f.Consumer) && (f.User == "" || o.User == f.User) &&
		(strings.Contains(o.Reason, f.Reason) || kindOfReason(o.Reason) == f.Reason) && (f.Object == "" || o.Name == f.Object)
}

// eachParked calls visit for each object that matches, in the order of names, after a name, until it returns false.
func (p *Platform) eachParked(
	ctx context.Context, f ParkedFilter, after string, visit func(parkedObject) (bool, error),
) error {
	for _, prefix := range f.prefixes() {
		for from := after; ; {
			names, err := p.blobs.List(ctx, prefix, blob.MaxList, from)
			if err != nil {
				return blobRefusal(err)
			}
			for _, name := range names {
				body, err := p.blobs.Get(ctx, name)
				if errors.Is(err, blob.ErrNotFound) {
					continue // removed since it was listed
				}
				if err != nil {
					return err
				}
				o := readParkedObject(name, body)
				if !f.matches(o) {
					continue
				}
				if goesOn, err := visit(o); err != nil || !goesOn {
					return err
				}
			}
			if len(names) < blob.MaxList {
				break
			}
			from = names[len(names)-1]
		}
	}
	return nil
}

// Redriven is one line of the answer to POST /dev/parked/redrive or discard: exactly one member is there, and the last
// line has summary or error.
type Redriven struct {
	Object  *RedrivenObject  `json:"object,omitempty"`
	Summary *RedrivenSummary `json:"summary,omitempty"`
	Error   string           `json:"error,omitempty"`
}

// RedrivenObject names the outcome of one parked object, real or tried.
type RedrivenObject struct {
	Name     string `json:"name"`
	Consumer string `json:"consumer"`
	User     string `json:"user,omitempty"`
	Outcome  string `json:"outcome"` // done, parked, unfinished, unknown or discarded
	Reason   string `json:"reason,omitempty"`
}

// RedrivenSummary counts the objects: Matched is the sum of the others.
type RedrivenSummary struct {
	DryRun     bool `json:"dryRun,omitempty"`
	Matched    int  `json:"matched"`
	Done       int  `json:"done"`
	Parked     int  `json:"parked"`
	Unfinished int  `json:"unfinished"`
	Unknown    int  `json:"unknown"` // there is no such consumer, or no record for it in the object
	Discarded  int  `json:"discarded"`
}

func (s *RedrivenSummary) add(outcome string) {
	s.Matched++
	switch outcome {
	case "done":
		s.Done++
	case "parked":
		s.Parked++
	case "unfinished":
		s.Unfinished++
	case "discarded":
		s.Discarded++
	default:
		s.Unknown++
	}
}

// deliver delivers an object's records to its consumer, or to those of its reader.
func (p *Platform) deliver(ctx context.Context, feeder replay.Feeder, o parkedObject,
	feed func(replay.Feeder, []json.RawMessage) ([]replay.Report, error),
) (RedrivenObject, error) {
	told := RedrivenObject{Name: o.Name, Consumer: o.Consumer, User: o.User, Outcome: "unknown"}
	names := []string{o.Consumer}
	for _, r := range p.readers {
		if r.mapping.Config().Name == o.Consumer {
			names = r.Line.Consumers
		}
	}
	only, err := feeder.Only(names...)
	if errors.Is(err, replay.ErrConsumer) {
		told.Reason = err.Error()
		return told, nil
	}
	if len(o.records) == 0 {
		told.Reason = consume.ErrNoRecords.Error()
		return told, nil
	}
	reports, err := feed(only, o.records)
	if err != nil {
		return told, err
	}
	told.Outcome = "done"
	passed := 0
	for _, r := range reports {
		passed += r.Records
	}
	if passed == 0 {
		told.Outcome, told.Reason = "unknown", "the mapping passes no record of it"
		return told, nil
	}
	for _, r := range reports {
		for _, t := range r.Troubles {
			if told.Outcome != "unfinished" {
				told.Outcome, told.Reason = t.Outcome, r.Consumer+": "+t.Reason
			}
		}
	}
	return told, ctx.Err()
}

// redrive delivers a parked object again, and deletes it if that has succeeded.
func (p *Platform) redrive(ctx context.Context, feeder replay.Feeder, o parkedObject) (RedrivenObject, error) {
	defer p.others.begin()()
	told, err := p.deliver(ctx, feeder, o, func(f replay.Feeder, records []json.RawMessage) ([]replay.Report, error) {
		return f.Feed(ctx, records)
	})
	if err == nil && told.Outcome == "done" {
		err = p.watchedBlobs().Delete(ctx, o.Name)
	}
	return told, err
}

// try tells what a delivery would do, in an empty system in memory.
func (p *Platform) try(ctx context.Context, o parkedObject) (RedrivenObject, error) {
	empty := replay.NewSystem(replay.Config{Registry: p.registry, Begin: p.clock.Now()})
	told, err := p.deliver(ctx, empty.Feeder, o,
		func(f replay.Feeder, records []json.RawMessage) ([]replay.Report, error) {
			for _, raw := range records {
				if _, err := change.Parse(raw); err != nil { // it has no image to take in
					return f.Feed(ctx, records)
				}
			}
			return empty.Replay(ctx, f, records)
		})
	return told, err
}

// watchedBlobs are the objects, of which listeners are told.
func (p *Platform) watchedBlobs() observedBlobs { return observedBlobs{p.blobs, p.hub, nil} }

// ParkedGroup counts the objects that are parked for one consumer and for one reason.
type ParkedGroup struct {
	Consumer string    `json:"consumer"`
	Reason   string    `json:"reason"` // its first line, without what differs from record to record
	Count    int       `json:"count"`
	Users    int       `json:"users"`
	Oldest   time.Time `json:"oldest"`
	Newest   time.Time `json:"newest"`
	Example  string    `json:"example"` // the name of an object

	users map[string]bool
}

// groupParked groups what matches by consumer and reason, the largest group first.
func (p *Platform) groupParked(ctx context.Context, f ParkedFilter) (groups []*ParkedGroup, err error) {
	known := map[[2]string]*ParkedGroup{}
	err = p.eachParked(ctx, f, "", func(o parkedObject) (bool, error) {
		key := [2]string{o.Consumer, kindOfReason(o.Reason)}
		g := known[key]
		if g == nil {
			g = &ParkedGroup{
				Consumer: key[0], Reason: key[1], Oldest: o.At, Newest: o.At, Example: o.Name, users: map[string]bool{},
			}
			known[key] = g
			groups = append(groups, g)
		}
		g.Count++
		g.users[o.User] = true
		g.Users = len(g.users)
		if o.At.Before(g.Oldest) {
			g.Oldest = o.At
		}
		if o.At.After(g.Newest) {
			g.Newest = o.At
		}
		return true, nil
	})
	slices.SortStableFunc(groups, func(a, b *ParkedGroup) int { return b.Count - a.Count })
	return groups, err
}

// ofOneRecord matches what differs from record to record in a reason: keys, ids and numbers.
var ofOneRecord = regexp.MustCompile(`\b([A-Z_]+#)[^\s:]+|\b[a-z]+_[0-9a-f]{8}-[0-9a-f-]{27}\b|\b\d+\b`)

// kindOfReason returns the first line of a reason up to what is quoted in it, with "…" in place of keys, ids and
// numbers: those differ from record to record.
func kindOfReason(reason string) string {
	first, _, _ := strings.Cut(reason, "\n")
	if at := strings.IndexByte(first, '"'); at > 0 {
		first = first[:at]
	}
	return text.Clip(strings.TrimSpace(ofOneRecord.ReplaceAllString(first, "${1}…")), maxReason-len("…"))
}

// errCount says that a number that someone typed is not that of the objects.
func errCount(want, is int) error {
	return refusal(http.StatusConflict, "count is %d, and %d objects match: nothing was discarded", want, is)
}
