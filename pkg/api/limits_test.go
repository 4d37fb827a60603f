package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"nexus/pkg/api"
	"nexus/pkg/entity"
	"nexus/pkg/entity/metering"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// Whether a request asks the row.
const (
	always = 0.0
	never  = 0.99
)

// limited returns a surface with limits, whose requests of one point ask as the draw says. The numbers replace those of
// the document.
func limited(t *testing.T, draw float64, numbers map[string]int) *fixture {
	t.Helper()
	stage, err := limit.Default().With(numbers)
	if err != nil {
		t.Fatal(err)
	}
	return setup(t, func(c *api.Config) {
		c.Limits = limit.Config{Numbers: stage, Draw: func() float64 { return draw }}
	})
}

// notesBatch returns the body of a batch that creates so many notes, with ids that begin as given.
func notesBatch(n int, ids string) string {
	var commands []string
	for i := range n {
		commands = append(commands, fmt.Sprintf(`{"id":"%s-%d","type":"CreateNote","data":{"title":"x"}}`, ids, i))
	}
	return `{"commands":[` + strings.Join(commands, ",") + `]}`
}

// refused checks the documented form of a 429.
func (b *fixture) refused(res response, policy string, seconds int) {
	b.t.Helper()
	b.Equal(http.StatusTooManyRequests, res.Code, "%s", res.Body)
	b.Equal("/problems/rate-limited", res.doc["type"])
	b.Equal(fmt.Sprint(seconds), res.Header().Get("Retry-After"))
	b.EqualValues(fmt.Sprint(seconds), fmt.Sprint(res.doc["retryAfter"]))
	b.Equal(policy, res.Header().Get("RateLimit-Policy"))
	name, _, _ := strings.Cut(policy, ";")
	b.Contains(res.Header().Get("RateLimit"), name+";r=")
}

// rows counts ann's rows whose sort keys begin so.
func (b *fixture) rows(prefix string) int {
	b.t.Helper()
	n, err := b.store.Count(b.t.Context(), table.Query{
		Partition: entity.UserPK("ann"), Range: table.Range{Prefix: prefix},
	})
	b.NoError(err)
	return n
}

const userPolicy = `"user";q=600;w=60`

func TestSpending_refusesWhoUsesUpTheRateAndFreesItWithTime(t *testing.T) {
	t.Parallel()
	b := limited(t, always, nil)
	for n := range 60 { // each asks, and counts ten
		res := b.do(request{method: "GET", path: "/v1/me"})
		b.Equal(http.StatusOK, res.Code)
		b.Equal(userPolicy, res.Header().Get("RateLimit-Policy"))
		b.Equal(fmt.Sprintf(`"user";r=%d;t=%d`, 590-10*n, n+1), res.Header().Get("RateLimit"))
	}
	b.refused(b.do(request{method: "GET", path: "/v1/me"}), userPolicy, 60)
	b.Equal(http.StatusOK, b.do(request{method: "GET", path: "/v1/me", user: "bob"}).Code, "another user is not limited")

	calls := 0
	b.failWith(func(memory.Call) error { calls++; return nil })
	b.advance(59 * time.Second)
	b.refused(b.do(request{method: "GET", path: "/v1/me"}), userPolicy, 1)
	b.refused(b.do(request{method: "POST", path: "/v1/commands", body: notesBatch(2, "kept")}), userPolicy, 1)
	b.Zero(calls, "a refusal that is kept costs nothing")
	b.advance(time.Second)
	res := b.do(request{method: "GET", path: "/v1/me"})
	b.Equal(http.StatusOK, res.Code)
	b.Equal(`"user";r=590;t=1`, res.Header().Get("RateLimit"))
}

func TestSpending_asksForOneRequestInTen(t *testing.T) {
	t.Parallel()
	b := limited(t, never, nil)
	for range 700 {
		res := b.do(request{method: "GET", path: "/v1/me"})
		b.Equal(http.StatusOK, res.Code)
		b.Empty(res.Header().Get("RateLimit"))
	}
	b.Zero(b.rows("RATE#"))
}

func TestSpending_makesABatchPayForItsCommandsBeforeTheFirst(t *testing.T) {
	t.Parallel()
	b := limited(t, never, nil)
	for n := range 6 {
		res := b.do(request{method: "POST", path: "/v1/commands", body: notesBatch(100, fmt.Sprint(n))})
		b.Equal(http.StatusOK, res.Code)
		b.Equal(userPolicy, res.Header().Get("RateLimit-Policy"))
	}
	res := b.do(request{method: "POST", path: "/v1/commands", body: notesBatch(1, "late")})
	b.refused(res, userPolicy, 60)
	b.Equal(600, b.rows("NOTE#"), "the refused batch wrote nothing")
}

func TestSpending_countsMalformedBatches(t *testing.T) {
	t.Parallel()
	b := limited(t, never, map[string]int{limit.User: 3})
	for _, body := range []string{`{`, `{"commands":7}`, `{"commands":[]}`} {
		b.NotEqual(http.StatusTooManyRequests, b.do(request{method: "POST", path: "/v1/commands", body: body}).Code)
	}
	b.Equal(http.StatusTooManyRequests, b.do(request{method: "POST", path: "/v1/commands", body: notesBatch(1, "x")}).Code)
}

func TestAdmitImport_takesHalfAPointForAComponent(t *testing.T) {
	t.Parallel()
	b := limited(t, never, nil)
	var text strings.Builder
	text.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n")
	for n := range 400 {
		fmt.Fprintf(&text, "BEGIN:VEVENT\r\nUID:%d@example.com\r\nDTSTAMP:20260301T120000Z\r\nDTSTART:20260310T090000Z\r\n"+
			"SUMMARY:%s\r\nEND:VEVENT\r\n", n, strings.Repeat("x", 200))
	}
	text.WriteString("END:VCALENDAR\r\n")
	importing := request{
		method: "POST", path: "/v1/calendar/import", body: text.String(),
		header: map[string]string{"Content-Type": "text/calendar", "Idempotency-Key": "k"},
	}
	res := b.do(importing)
	b.Equal(http.StatusOK, res.Code, "%s", res.Body)
	var left, seconds int
	_, err := fmt.Sscanf(res.Header().Get("RateLimit"), `"user";r=%d;t=%d`, &left, &seconds)
	b.NoError(err)
	b.Less(left, 600-201, "a component is half a point before the first write, and its units are more")
	b.Positive(left)

	b.advance(time.Minute)
	res = b.do(importing)
	b.Equal("true", res.Header().Get("Idempotency-Replayed"))
	b.Equal(`"user";r=599;t=1`, res.Header().Get("RateLimit"), "a repetition is one point")
}

func TestSpending_tellsWhatNoBucketHolds(t *testing.T) {
	t.Parallel()
	b := limited(t, never, map[string]int{limit.User: 20})
	events := make([]string, 44)
	for n := range events {
		events[n] = fmt.Sprintf("BEGIN:VEVENT\r\nUID:%d\r\nDTSTART:20260310T090000Z\r\nEND:VEVENT\r\n", n)
	}
	batch := func(n int) request {
		return request{method: "POST", path: "/v1/commands", body: notesBatch(n, fmt.Sprint(n))}
	}
	for points, large := range map[int]request{21: batch(21), 1 + 44/2: {
		method: "POST", path: "/v1/calendar/import", header: map[string]string{"Content-Type": "text/calendar"},
		body: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + strings.Join(events, "") + "END:VCALENDAR\r\n",
	}, 100: batch(100)} {
		b.advance(time.Hour)
		res := b.do(large)
		b.Equal(http.StatusRequestEntityTooLarge, res.Code, "%s", res.Body)
		b.Equal("/problems/exceeds-rate", res.doc["type"])
		b.EqualValues(points, res.doc["points"])
		b.EqualValues(20, res.doc["limit"])
		b.Empty(res.Header().Get("Retry-After"))
		b.Equal(`"user";r=19;t=3`, res.Header().Get("RateLimit"), "it is a request of one point")
		b.Zero(b.rows("NOTE#")+b.rows("EVENT#"), "nothing was done")
	}
	b.advance(time.Hour)
	b.Equal(http.StatusOK, b.do(batch(20)).Code, "what the full bucket holds passes")
}

func TestExportFeed_isHeldToSoManyInAnHour(t *testing.T) {
	t.Parallel()
	b := limited(t, never, nil)
	made := b.do(request{method: "PUT", path: "/v1/me/feed"})
	b.Equal(http.StatusOK, made.Code)
	read := func() response { return b.do(request{method: "GET", path: made.doc["path"].(string), user: "-"}) }
	for n := range 60 {
		res := read()
		b.Equal(http.StatusOK, res.Code)
		b.Contains(res.Header().Get("RateLimit"), fmt.Sprintf(`"feed";r=%d;`, 59-n))
	}
	b.refused(read(), `"feed";q=60;w=3600`, 60)
	b.Equal(http.StatusOK, b.do(request{method: "GET", path: "/v1/me"}).Code, "the user's own requests are not counted")
	b.advance(time.Minute)
	b.Equal(http.StatusOK, read().Code, "one comes back each minute")
	b.refused(read(), `"feed";q=60;w=3600`, 60)
}

func TestExportFeed_refusesAMalformedAddressBeforeAnyRead(t *testing.T) {
	t.Parallel()
	b := limited(t, never, nil)
	made := b.do(request{method: "PUT", path: "/v1/me/feed"})
	path := made.doc["path"].(string)
	user, secret, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(path, "/feed/"), ".ics"), ".")
	calls := 0
	b.failWith(func(memory.Call) error { calls++; return nil })
	for _, wrong := range []string{
		"", "x", user, user + ".", user + ".x", user + "." + secret[1:], user + "." + secret + "A", "!." + secret,
		"." + secret, user + "." + strings.Repeat("*", len(secret)), user + "." + secret + "." + secret,
	} {
		res := b.do(request{method: "GET", path: "/feed/" + wrong + ".ics", user: "-"})
		b.Contains([]int{http.StatusNotFound, http.StatusUnauthorized}, res.Code, wrong)
	}
	b.Zero(calls)
	guess := user + "." + strings.Repeat("A", len(secret))
	b.Equal(http.StatusNotFound, b.do(request{method: "GET", path: "/feed/" + guess + ".ics", user: "-"}).Code)
	row, err := table.Find(t.Context(), b.store, metering.RateKey("ann", limit.Feed))
	b.NoError(err)
	b.Nil(row, "who guesses uses up nothing of the owner's")
}

func TestSpending_doesNotHoldForDirectInvocation(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.User: 1})
	for n := range 3 {
		body := strings.Replace(notesBatch(100, fmt.Sprint(n)), "{", `{"userId":"ann",`, 1)
		out, err := b.api.Run(t.Context(), []byte(body))
		b.NoError(err)
		b.NotContains(string(out), "429")
	}
	row, err := table.Find(t.Context(), b.store, metering.RateKey("ann", limit.User))
	b.NoError(err)
	b.Nil(row)
}

// Nothing that a client sends decides whether a request is counted.
func TestSpending_doesNotDependOnWhatAClientChooses(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for _, header := range []string{"X-Request-Id", "Traceparent", "X-Amzn-Trace-Id", "Idempotency-Key"} {
		draws := 0
		stage := limit.Default()
		b := setup(t, func(c *api.Config) {
			c.Limits = limit.Config{Numbers: stage, Draw: func() float64 { draws++; return float64(draws%10) / 10 }}
		})
		counted := 0
		for range 200 {
			res := b.do(request{method: "GET", path: "/v1/me", header: map[string]string{header: "chosen-1"}})
			if res.Header().Get("RateLimit") != "" {
				counted++
			}
		}
		b.Equal(200, draws)
		seen[counted] = true
	}
	if len(seen) != 1 || !seen[20] {
		t.Fatalf("requests that asked, of 200: %v", seen)
	}
}

func TestSpending_isUnavailableWhileTheRowCannotBeWritten(t *testing.T) {
	t.Parallel()
	b := limited(t, always, nil)
	b.failWith(func(c memory.Call) error {
		if c.Op == "Update" && c.Stage == memory.Before && c.Keys[0] == metering.RateKey("ann", limit.User) {
			return table.ErrThrottled
		}
		return nil
	})
	b.Equal(http.StatusServiceUnavailable, b.do(request{method: "GET", path: "/v1/me"}).Code)
}

func TestSpending_leavesARowThatEndsByItself(t *testing.T) {
	t.Parallel()
	b := limited(t, always, nil)
	b.do(request{method: "GET", path: "/v1/me"})
	row, err := table.Find(t.Context(), b.store, metering.RateKey("ann", limit.User))
	b.NoError(err)
	want := metering.RateKey("ann", limit.User).Item()
	want["fullAt"], want["ttl"] = item.Int(noon.Add(time.Second).UnixMilli()), item.Int(noon.Add(24*time.Hour).Unix())
	b.Equal(want, row)
}
