package local_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"nexus/pkg/entity"
	"nexus/pkg/local"
	"nexus/pkg/product"
	"nexus/pkg/span"
)

// collector takes spans as the protocol's published definitions have them, and refuses any other field.
type collector struct {
	url     string
	arrived chan struct{} // something came since it was last looked at

	mu    sync.Mutex
	spans map[string][]*tracev1.Span // by trace id
	wrong []string
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{arrived: make(chan struct{}, 1), spans: map[string][]*tracev1.Span{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var got *tracev1.TracesData
	if err == nil {
		got, err = decode(r, body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		select {
		case c.arrived <- struct{}{}:
		default:
		}
	}()
	if err != nil {
		c.wrong = append(c.wrong, err.Error())
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range got.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, one := range scope.GetSpans() {
				trace := hex.EncodeToString(one.GetTraceId())
				c.spans[trace] = append(c.spans[trace], one)
			}
		}
	}
}

// decode reads a request of OTLP/HTTP in its JSON encoding. That is the JSON of Protocol Buffers, but that ids are
// hexadecimal; there they are base64, as all bytes are. TracesData has the members of ExportTraceServiceRequest.
func decode(r *http.Request, body []byte) (*tracev1.TracesData, error) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
		return nil, fmt.Errorf("%s %s with %q", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
	}
	var loose any
	if err := json.Unmarshal(body, &loose); err != nil {
		return nil, err
	}
	if err := hexToBase64(loose); err != nil {
		return nil, err
	}
	text, err := json.Marshal(loose)
	if err != nil {
		return nil, err
	}
	got := &tracev1.TracesData{}
	return got, protojson.Unmarshal(text, got)
}

func hexToBase64(v any) error {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if err := hexToBase64(one); err != nil {
				return err
			}
		}
	case object:
		for name, one := range v {
			if name != "traceId" && name != "spanId" && name != "parentSpanId" {
				if err := hexToBase64(one); err != nil {
					return err
				}
				continue
			}
			id, err := hex.DecodeString(one.(string))
			if err != nil || len(id) != 8 && len(id) != 16 {
				return fmt.Errorf("%s: %v is no id", name, one)
			}
			v[name] = base64.StdEncoding.EncodeToString(id)
		}
	}
	return nil
}

// spansOf returns the spans of a trace, and what could not be decoded.
func (c *collector) spansOf(trace string) ([]*tracev1.Span, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans[trace]), slices.Clone(c.wrong)
}

// branch is one span of a tree.
type branch struct {
	id, parent, says string
	links            []string
}

// drawn returns a tree as text, each span below its parent, and how many spans have no parent.
func drawn(all []branch) (text string, roots int) {
	below := map[string][]branch{}
	ids := map[string]bool{}
	for _, one := range all {
		ids[one.id] = true
		below[one.parent] = append(below[one.parent], one)
	}
	for parent, some := range below {
		slices.SortFunc(some, func(a, b branch) int { return strings.Compare(a.id, b.id) })
		if !ids[parent] {
			roots += len(some)
		}
	}
	var out strings.Builder
	var draw func(parent string, depth int)
	draw = func(parent string, depth int) {
		for _, one := range below[parent] {
			fmt.Fprintf(&out, "%s%s %s again %v\n", strings.Repeat("  ", depth), one.id, one.says, one.links)
			draw(one.id, depth+1)
		}
	}
	draw("", 0)
	return out.String(), roots
}

// toldTree is the tree of GET /dev/traces/{id}.
func (s *system) toldTree(trace string) (all []branch) {
	s.t.Helper()
	for _, v := range s.must("GET", "/dev/traces/"+trace, nil)["spans"].([]any) {
		text, err := json.Marshal(v)
		require.NoError(s.t, err)
		var one span.Span
		require.NoError(s.t, json.Unmarshal(text, &one))
		end := one.Start.Add(time.Duration(one.Milliseconds * float64(time.Millisecond)))
		all = append(all, branch{one.ID, one.Parent, fmt.Sprintf("%s (%s %s, %s, %d to %d)", one.Name, one.Part,
			one.Outcome, one.Attributes["nexus.attempts"], one.Start.UnixNano(), end.UnixNano()), one.Links})
	}
	return all
}

// decoded is the tree that a collector makes of what it got.
func decoded(spans []*tracev1.Span) (all []branch) {
	for _, one := range spans {
		attributes := map[string]string{}
		for _, a := range one.GetAttributes() {
			attributes[a.GetKey()] = a.GetValue().GetStringValue()
		}
		b := branch{hex.EncodeToString(one.GetSpanId()), hex.EncodeToString(one.GetParentSpanId()),
			fmt.Sprintf("%s (%s %s, %s, %d to %d)", one.GetName(), attributes["nexus.part"], attributes["nexus.outcome"],
				attributes["nexus.attempts"], one.GetStartTimeUnixNano(), one.GetEndTimeUnixNano()), nil}
		for _, l := range one.GetLinks() {
			b.links = append(b.links, hex.EncodeToString(l.GetSpanId()))
		}
		all = append(all, b)
	}
	return all
}

// requireSameTree waits until the collector has as many spans of the trace as the console shows. Both then have the
// same tree with one root. It returns the collector's.
func (s *system) requireSameTree(c *collector, trace string) string {
	s.t.Helper()
	want := s.toldTree(trace)
	got, wrong := c.spansOf(trace)
	for bound := time.After(20 * time.Second); len(got) < len(want) && len(wrong) == 0; got, wrong = c.spansOf(trace) {
		select {
		case <-c.arrived:
		case <-bound:
			require.Fail(s.t, "not everything was sent", "%d of %d spans", len(got), len(want))
		}
	}
	require.Empty(s.t, wrong, "what the published definitions do not have")
	wanted, _ := drawn(want)
	text, roots := drawn(decoded(got))
	require.Equal(s.t, 1, roots, text)
	require.Equal(s.t, wanted, text)
	require.Equal(s.t, len(want), strings.Count(text, "\n"), "each span is in the tree")
	return text
}

func TestExportSpans_areDecodedByThePublishedDefinitions(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	s := startSystem(t, local.Options{Store: local.Memory, Collector: c.url})
	id := s.reminder("ring", s.now().Add(time.Hour))["reminderId"].(string)
	s.advance("2h")
	s.waitUntilIdle()
	tree := s.requireSameTree(c, entity.TraceID(s.user, id, 1))
	for _, part := range []string{"POST /v1/reminders", "reminders", "put schedule", "notify", "publish ReminderDue"} {
		require.Contains(t, tree, part)
	}
	for _, one := range []string{s.user, id, "ring"} {
		require.NotContains(t, tree, one, "a span names no user, no item and no title")
	}
}

func TestExportSpans_joinWhatIsParkedWithWhatIsRedriven(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	s, _ := onEngine(t, local.Options{Collector: c.url})
	text := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	s.plant(entity.MetaKey(s.user), map[string]types.AttributeValue{
		entity.AttrType: text(entity.TypeUserMeta), entity.AttrVersion: &types.AttributeValueMemberN{Value: "1"},
		"userId": text(s.user), product.AttrDefaultTzid: text("Nowhere/Atlantis"),
		entity.AttrCreatedAt: text(s.now().Format(time.RFC3339)), entity.AttrUpdatedAt: text(s.now().Format(time.RFC3339)),
	})
	s.waitUntilIdle()
	due := s.now().Add(24 * time.Hour).UTC().Format("2006-01-02T15:04:05")
	id := s.task("floats", object{"dueUtc": due, "reminderMinutes": []int{30}})["taskId"].(string)
	s.waitUntilIdle()
	trace := entity.TraceID(s.user, id, 1)
	require.Contains(t, s.requireSameTree(c, trace), "reminders (reminders parked")

	s.must("PATCH", "/v1/me", object{"defaultTzid": "Europe/Paris"}, "If-Match", `"1"`)
	s.waitUntilIdle()
	lines := s.lines("/dev/parked/redrive", object{"filter": object{"consumer": "reminders"}})
	require.EqualValues(t, 1, lines[len(lines)-1]["summary"].(object)["done"], "%v", lines)
	s.waitUntilIdle()
	tree := s.requireSameTree(c, trace)
	first, again := span.ID(trace, "reminders", "reminders"), span.ID(trace, "reminders", span.Again("reminders", 2))
	require.Contains(t, tree, "  "+first+" reminders (reminders parked")
	require.Regexp(t, "  "+again+` reminders \(reminders done.* again \[`+first+`\]`, tree)
}
