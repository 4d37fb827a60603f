package local

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/local/recent"
	"nexus/pkg/span"
)

// changeShown is a change as it is listed, with its record if that was asked for.
type changeShown struct {
	recent.Change
	Record json.RawMessage `json:"record,omitempty"`
}

// changesShown is GET /dev/changes. Truncated says that changes have left that may have been asked for.
type changesShown struct {
	listed[changeShown]
	Truncated bool `json:"truncated,omitempty"`
}

// verdicts are the outcomes that a filter may name, beside retried.
var verdicts = []consume.State{
	consume.StateDone, consume.StateAlready, consume.StateParked, consume.StateUnfinished,
}

// getChanges lists the latest records of the stream with their outcomes, the newest first.
func (p *Platform) getChanges(w http.ResponseWriter, r *http.Request) error {
	limit, query, err := listParams(r, maxList, "user", "item", "type", "consumer", "outcome", "trace", "sequence", "from",
		"to", "after", "records")
	if err != nil {
		return err
	}
	filter, err := p.changesFilter(query)
	if err != nil {
		return err
	}
	records := query.Get("records")
	if records != "" && records != "true" && records != "false" {
		return refusal(http.StatusUnprocessableEntity, "records is true or false")
	}
	found, more, truncated := p.seen.changes.Find(filter, limit)
	out := changesShown{listed[changeShown]{Items: []changeShown{}}, truncated}
	for _, one := range found {
		shown := changeShown{Change: one}
		if records == "true" && json.Valid(one.Record) {
			shown.Record = one.Record
		}
		out.Items = append(out.Items, shown)
	}
	if more {
		out.Next = strconv.FormatUint(found[len(found)-1].Position, 10)
	}
	return answer(w, out)
}

func (p *Platform) changesFilter(query url.Values) (f recent.Filter, err error) {
	f = recent.Filter{
		User: query.Get("user"), Item: query.Get("item"), Type: query.Get("type"), Trace: query.Get("trace"),
		Sequence: query.Get("sequence"), Consumer: query.Get("consumer"),
	}
	if _, err := p.consumersOf(f.Consumer); err != nil {
		return f, err
	}
	if f.Sequence != "" && !change.IsSequence(f.Sequence) {
		return f, refusal(http.StatusUnprocessableEntity, "sequence: want 1 to 40 digits")
	}
	if text := query.Get("outcome"); text != "" {
		for name := range strings.SplitSeq(text, ",") {
			switch {
			case name == "retried":
				f.Retried = true
			case slices.Contains(verdicts, consume.State(name)):
				f.Verdicts = append(f.Verdicts, consume.State(name))
			default:
				return f, refusal(http.StatusUnprocessableEntity, "outcome: %.40q is none of %v and retried", name, verdicts)
			}
		}
	}
	for _, bound := range []struct {
		name string
		into *time.Time
	}{{"from", &f.From}, {"to", &f.To}} {
		if text := query.Get(bound.name); text != "" {
			if *bound.into, err = item.ParseInstant(text); err != nil {
				return f, refusal(http.StatusUnprocessableEntity, "%s: %v", bound.name, err)
			}
		}
	}
	if text := query.Get("after"); text != "" {
		if f.Before, err = strconv.ParseUint(text, 10, 64); err != nil || f.Before == 0 {
			return f, refusal(http.StatusUnprocessableEntity, "after has to be what next said")
		}
	}
	return f, nil
}

var traceID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// getTrace answers with the spans of a trace, the earliest first, and the changes that belong to it.
func (p *Platform) getTrace(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := listParams(r, maxList); err != nil {
		return err
	}
	trace := r.PathValue("trace")
	if !traceID.MatchString(trace) {
		return refusal(http.StatusUnprocessableEntity, "a trace id is 32 hexadecimal digits, such as X-Trace-Id has")
	}
	spans, changes, truncated := p.seen.trace(trace)
	if len(spans) == 0 {
		return refusal(http.StatusNotFound, "nothing is known of this trace since the start. A trace id is the first 32 "+
			"digits of the SHA-256 of <user>#<item>#<version>: printf '%%s#%%s#%%s' USER ITEM VERSION | sha256sum")
	}
	return answer(w, struct {
		TraceID   string          `json:"traceId"`
		Spans     []span.Span     `json:"spans"`
		Changes   []recent.Change `json:"changes"`
		Truncated bool            `json:"truncated,omitempty"`
	}{trace, spans, append([]recent.Change{}, changes...), truncated})
}

// traceOf answers with the trace id of a write.
func (p *Platform) getTraceOf(w http.ResponseWriter, r *http.Request) error {
	_, query, err := listParams(r, maxList, "user", "item", "version")
	if err != nil {
		return err
	}
	version, err := strconv.ParseInt(query.Get("version"), 10, 64)
	if err != nil || version < 1 {
		return refusal(http.StatusUnprocessableEntity, "version: want a number from 1")
	}
	user, of := query.Get("user"), query.Get("item")
	if err := entity.CheckUserID(user); err != nil {
		return refusal(http.StatusUnprocessableEntity, "user: %v", err)
	}
	if of == "" || strings.Contains(of, "#") {
		return refusal(http.StatusUnprocessableEntity, "item: want the id of an item")
	}
	return answer(w, struct {
		TraceID string `json:"traceId"`
	}{entity.TraceID(user, of, version)})
}
