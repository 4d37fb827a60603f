package local_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/local"
	"nexus/pkg/span"
)

// A collector gets the same tree as GET /dev/traces shows.
func TestExportSpans_sendsTheTreeToTheCollector(t *testing.T) {
	t.Parallel()
	type sent struct{ TraceID, SpanID, ParentSpanID, Name string }
	spans := make(chan sent, 1000)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []sent } }
		}
		text, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || json.Unmarshal(text, &body) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, one := range body.ResourceSpans[0].ScopeSpans[0].Spans {
			spans <- one
		}
	}))
	t.Cleanup(collector.Close)
	s := startSystem(t, local.Options{Store: local.Memory, Collector: collector.URL})
	id := s.reminder("ring", s.now().Add(time.Hour))["reminderId"].(string)
	s.advance("2h")
	trace := entity.TraceID("u1", id, 1)
	want := map[string]string{ // parents
		span.ID(trace, "command", "write"): "", span.ID(trace, "stats", "stats"): span.ID(trace, "command", "write"),
		span.ID(trace, "reminders", "reminders"): span.ID(trace, "command", "write"),
	}
	published := false
	bound := time.After(20 * time.Second)
	for len(want) > 0 || !published {
		select {
		case one := <-spans:
			if parent, wanted := want[one.SpanID]; wanted && one.TraceID == trace {
				require.Equal(t, parent, one.ParentSpanID)
				delete(want, one.SpanID)
			}
			published = published || one.Name == "publish ReminderDue" && one.TraceID == trace
		case <-bound:
			require.Fail(t, "not everything was sent", "missing: %v", want)
		}
	}
}
