package otlp_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/span"
	"nexus/pkg/span/otlp"
)

// request is ExportTraceServiceRequest of the protocol, as far as it is used here.
type request struct {
	ResourceSpans []struct {
		Resource struct {
			Attributes []struct {
				Key   string                       `json:"key"`
				Value struct{ StringValue string } `json:"value"`
			} `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []struct {
			Spans []struct {
				TraceID, SpanID, ParentSpanID, Name string
				Kind                                int
				StartTimeUnixNano, EndTimeUnixNano  string
				Links                               []struct{ TraceID, SpanID string }
				Status                              struct{ Code int }
			}
		}
	}
}

func TestEncode_writesWhatTheProtocolDefines(t *testing.T) {
	t.Parallel()
	trace := strings.Repeat("ab", 16)
	body := otlp.Encode("nexus", []span.Span{{
		Trace: trace, ID: "0011223344556677", Parent: "8899aabbccddeeff", Links: []string{"1111111111111111"},
		Name: "stats", Part: "stats", Start: time.Unix(1, 5), Milliseconds: 2, Outcome: "parked",
		Attributes: map[string]string{"error.message": "the title of ann", "nexus.type": "TASK"},
	}})
	require.NotContains(t, string(body), "ann", "a text of an error may name a user")
	require.Contains(t, string(body), `{"key":"nexus.type","value":{"stringValue":"TASK"}}`)
	var got request
	require.NoError(t, json.Unmarshal(body, &got))
	one := got.ResourceSpans[0].ScopeSpans[0].Spans[0]
	require.Equal(t, trace, one.TraceID)
	for id, length := range map[string]int{one.TraceID: 16, one.SpanID: 8, one.ParentSpanID: 8, one.Links[0].SpanID: 8} {
		bytes, err := hex.DecodeString(id)
		require.NoError(t, err)
		require.Len(t, bytes, length)
	}
	require.Equal(t, "1000000005", one.StartTimeUnixNano)
	require.Equal(t, "1002000005", one.EndTimeUnixNano)
	require.Equal(t, 5, one.Kind)
	require.Equal(t, 2, one.Status.Code)
	require.Equal(t, "nexus", got.ResourceSpans[0].Resource.Attributes[0].Value.StringValue)
}
