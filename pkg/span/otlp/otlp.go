// Package otlp writes spans in the form of the OpenTelemetry protocol: JSON over HTTP (OTLP 1.x, "JSON Protobuf
// Encoding"), in which ids are hexadecimal.
//
// It promises that no user, title or key leaves with a span: texts of errors may have one, and stay here. It must never
// delay a caller: the sender decides what to do with a collector that does not answer.
package otlp

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"nexus/pkg/span"
)

// Path is where a collector takes spans, below its endpoint. Media is the type of the body.
const (
	Path  = "/v1/traces"
	Media = "application/json"
)

// Kinds of spans and codes of a status, as the protocol numbers them.
const (
	kindInternal = 1
	kindServer   = 2
	kindProducer = 4
	kindConsumer = 5

	statusOK    = 1
	statusError = 2
)

type value struct {
	Text string `json:"stringValue"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type link struct {
	TraceID string `json:"traceId"`
	SpanID  string `json:"spanId"`
}

type told struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Links      []link      `json:"links,omitempty"`
	Status     struct {
		Code int `json:"code"`
	} `json:"status"`
}

type scope struct {
	Name string `json:"name"`
}

type ofScope struct {
	Scope scope  `json:"scope"`
	Spans []told `json:"spans"`
}

type ofResource struct {
	Resource struct {
		Attributes []attribute `json:"attributes"`
	} `json:"resource"`
	ScopeSpans []ofScope `json:"scopeSpans"`
}

// kept names the attributes that stay here: texts that may name a user, a title or a key.
var kept = []string{"error.message"}

// Encode returns the body of one request with the spans of a service.
func Encode(service string, spans []span.Span) []byte {
	out := ofResource{ScopeSpans: []ofScope{{Scope: scope{"nexus"}, Spans: make([]told, 0, len(spans))}}}
	out.Resource.Attributes = []attribute{{"service.name", value{service}}}
	for _, s := range spans {
		out.ScopeSpans[0].Spans = append(out.ScopeSpans[0].Spans, encode(s))
	}
	body, err := json.Marshal(map[string][]ofResource{"resourceSpans": {out}})
	if err != nil {
		panic("otlp: " + err.Error()) // texts and numbers always encode
	}
	return body
}

func encode(s span.Span) told {
	one := told{
		TraceID: s.Trace, SpanID: s.ID, ParentID: s.Parent, Name: s.Name, Kind: kindOf(s.Part),
		Start: nanoseconds(s.Start), End: nanoseconds(s.Start.Add(time.Duration(s.Milliseconds * float64(time.Millisecond)))),
		Attributes: []attribute{{"nexus.part", value{s.Part}}, {"nexus.outcome", value{s.Outcome}}},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		if !slices.Contains(kept, name) {
			one.Attributes = append(one.Attributes, attribute{name, value{s.Attributes[name]}})
		}
	}
	for _, id := range s.Links {
		one.Links = append(one.Links, link{s.Trace, id})
	}
	one.Status.Code = statusOK
	if s.Outcome == "failed" || s.Outcome == "parked" || s.Outcome == "unfinished" {
		one.Status.Code = statusError
	}
	return one
}

func nanoseconds(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 10) }

func kindOf(part string) int {
	switch part {
	case span.PartCommand:
		return kindServer
	case span.PartBus, span.PartScheduler:
		return kindProducer
	case "objects":
		return kindInternal
	}
	return kindConsumer
}
