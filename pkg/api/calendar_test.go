package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func calendarOf(lines ...string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VCALENDAR\r\n"
}

var lunch = calendarOf("BEGIN:VEVENT", "UID:lunch", "DTSTART:20260310T090000Z", "SUMMARY:"+secret, "END:VEVENT")

func importing(content string) request {
	return post("/v1/calendar/import", content).with("Content-Type", "text/calendar; charset=utf-8; method=PUBLISH")
}

func (b *fixture) address(user string) string {
	b.t.Helper()
	return b.want(200, request{method: http.MethodPut, path: "/v1/me/feed"}.by(user)).text("path")
}

func TestCalendarOperations_importACalendarThatExportReads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.want(200, importing(lunch))
	b.Equal(float64(1), r.doc["created"])
	b.Equal([]any{}, r.doc["refused"])
	res := b.want(200, get("/v1/calendar.ics"))
	b.Contains(res.Body.String(), "SUMMARY:"+secret)
	b.Equal("text/calendar; charset=utf-8", res.Header().Get("Content-Type"))
	b.Equal("1", res.Header().Get("Nexus-Calendar-Parts"))
	b.Equal("private, no-cache", res.Header().Get("Cache-Control"))
	b.Equal(res.Body.String(), b.want(200, get("/v1/calendar.ics?part=1")).Body.String())
	b.Equal([]string{"/part"}, b.want(422, get("/v1/calendar.ics?part=2")).pointers())
	b.want(422, get("/v1/calendar.ics?part=0"))
	b.want(405, post("/v1/calendar.ics", ""))

	again := b.want(200, importing(lunch).with("Idempotency-Key", "k"))
	b.Equal(float64(1), again.doc["unchanged"])
	b.want(200, importing(lunch).with("Idempotency-Key", "k"))
	b.Equal("true", b.want(200, importing(lunch).with("Idempotency-Key", "k")).Header().Get("Idempotency-Replayed"))
	b.Equal("idempotency-key-reused", b.want(422, importing(calendarOf()).with("Idempotency-Key", "k")).problem())
}

func TestCalendarOperations_refuseWithTheReasonWhatIsNoCalendar(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(415, post("/v1/calendar/import", lunch))
	b.want(415, importing(lunch).with("Content-Type", "text/calendar; charset=utf-16"))
	b.want(415, importing(lunch).with("Content-Type", "text/plain"))
	b.want(415, importing(lunch).with("Content-Encoding", "gzip"))
	b.want(400, importing(""))
	b.want(400, importing(lunch).with("If-Match", `"1"`))
	b.want(422, importing("BEGIN:VCARD\r\nEND:VCARD\r\n"))
	many := strings.Repeat("BEGIN:VEVENT\r\nDTSTART:20260310T090000Z\r\nEND:VEVENT\r\n", 1001)
	b.Contains(b.want(413, importing(calendarOf(many))).text("detail"), "1000 components")
	b.Contains(b.want(413, importing(calendarOf("X-A:"+strings.Repeat("a", 5<<20)))).text("detail"), "5242880 bytes")

	b.failWith(func(c memory.Call) error {
		if c.Op == "Delete" && c.Stage == memory.Before {
			return table.ErrThrottled
		}
		return nil
	})
	plain := b.want(422, importing("no calendar")).text("detail")
	b.Equal(plain, b.want(422, importing("no calendar").with("Idempotency-Key", "k")).text("detail"),
		"the detail has no words of the store, which could not release the key")
}

func TestAnswerCalendar_sendsNothingThatTheClientHas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(200, importing(lunch))
	b.advance(time.Hour)
	address := b.address("ann")
	for _, r := range []request{get("/v1/calendar.ics"), get(address).by("-")} {
		res := b.want(200, r)
		tag, modified := res.Header().Get("ETag"), res.Header().Get("Last-Modified")
		b.Equal("Mon, 02 Mar 2026 12:00:00 GMT", modified)
		for _, same := range []request{
			r.with("If-None-Match", tag), r.with("If-Modified-Since", modified), r.with("If-None-Match", `"x", W/`+tag),
		} {
			res := b.want(304, same)
			b.Empty(res.Body.Bytes())
			b.Equal(tag, res.Header().Get("ETag"))
		}
		b.want(200, r.with("If-None-Match", `"x"`).with("If-Modified-Since", modified))
		b.want(200, r.with("If-Modified-Since", "Mon, 02 Mar 2026 11:59:59 GMT"))
		b.want(200, r.with("If-Modified-Since", "yesterday"))

		zipped := b.want(200, r.with("Accept-Encoding", "br, gzip;q=0.5"))
		b.Equal("gzip", zipped.Header().Get("Content-Encoding"))
		plain, err := gzip.NewReader(bytes.NewReader(zipped.Body.Bytes()))
		b.NoError(err)
		text, err := io.ReadAll(plain)
		b.NoError(err)
		b.Equal(res.Body.String(), string(text))
		b.NotEqual(tag, zipped.Header().Get("ETag"))
		b.want(304, r.with("Accept-Encoding", "gzip").with("If-None-Match", zipped.Header().Get("ETag")))
		b.Empty(b.want(200, r.with("Accept-Encoding", "gzip;q=0")).Header().Get("Content-Encoding"))
		head := r
		head.method = http.MethodHead
		b.Equal(tag, b.want(200, head).Header().Get("ETag"))
	}
}

func TestCalendarOperations_giveAnAddressThatNeedsNoToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(200, importing(lunch))
	b.want(404, get("/v1/me/feed"))
	address := b.address("ann")
	b.True(strings.HasPrefix(address, "/feed/") && strings.HasSuffix(address, ".ics"))
	b.Equal("2026-03-02T12:00:00Z", b.want(200, get("/v1/me/feed")).text("createdAt"))
	b.NotContains(b.want(200, get("/v1/me/feed")).Body.String(), "path")
	for _, user := range []string{"-", "bob", "ann"} {
		b.Contains(b.want(200, get(address).by(user)).Body.String(), secret)
	}
	bobs := b.address("bob")
	b.NotContains(b.want(200, get(bobs).by("-")).Body.String(), secret)
	owner, _, _ := strings.Cut(address, ".")
	_, key, _ := strings.Cut(bobs, ".")
	unknown := b.want(404, get("/feed/x.ics").by("-")).Body.String()
	for _, wrong := range []string{
		owner + "." + key, strings.TrimSuffix(address, ".ics"), owner + ".ics", address + ".ics", "/feed/" + key,
	} {
		b.Equal(unknown, b.want(404, get(wrong).by("-")).Body.String())
	}
	renewed := b.address("ann")
	b.want(404, get(address).by("-"))
	b.want(204, request{method: http.MethodDelete, path: "/v1/me/feed"})
	b.want(404, get(renewed).by("-"))
	b.want(204, request{method: http.MethodDelete, path: "/v1/me/feed"})
	for _, method := range []string{http.MethodPut, http.MethodGet, http.MethodDelete} {
		b.want(401, request{method: method, path: "/v1/me/feed", user: "-"})
	}
	b.want(401, importing(lunch).by("-"))
	b.want(401, get("/v1/calendar.ics").by("-"))
	for _, part := range strings.Split(strings.Trim(strings.TrimSuffix(renewed, ".ics"), "/"), ".")[1:] {
		b.NotContains(b.log.String(), part, "no secret is logged")
	}
}

func TestCalendarOperations_letAnAddressHideWhatIsPrivate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	feed := request{path: "/v1/me/feed"}
	with := func(method, body string) request {
		r := post(feed.path, body)
		r.method = method
		return r
	}
	b.want(404, with(http.MethodPatch, `{"privateAs":"FULL"}`))
	b.Equal("BUSY", b.want(200, request{method: http.MethodPut, path: feed.path}).text("privateAs"))
	made := b.want(200, with(http.MethodPut, `{"privateAs":"FULL"}`))
	b.Equal("FULL", made.text("privateAs"))
	b.Equal([]string{"/privateAs"}, b.want(422, with(http.MethodPut, `{"privateAs":"ALL"}`)).pointers())
	b.Equal([]string{"/privateAs"}, b.want(422, with(http.MethodPatch, `{}`)).pointers())
	b.want(201, post("/v1/events",
		`{"title":"`+secret+`","startUtc":"2026-03-10T09:00:00Z","startTzid":"UTC","visibility":"PRIVATE"}`))
	b.Contains(b.want(200, get(made.text("path")).by("-")).Body.String(), secret)
	b.Equal("BUSY", b.want(200, with(http.MethodPatch, `{"privateAs":"BUSY"}`)).text("privateAs"))
	b.NotContains(b.want(200, get(made.text("path")).by("-")).Body.String(), secret)
	b.Equal("BUSY", b.want(200, get(feed.path)).text("privateAs"))
	b.want(422,
		post("/v1/events", `{"title":"x","startUtc":"2026-03-10T09:00:00Z","startTzid":"UTC","transparency":"CLEAR"}`))
}

// The repetition of a lost request must not undo what the user has chosen since.
func TestCalendarOperations_changeAnAddressOnceForAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	feed := request{path: "/v1/me/feed"}
	with := func(method, body, key string) request {
		r := post(feed.path, body).with("Idempotency-Key", key)
		r.method = method
		return r
	}
	revoke := request{method: http.MethodDelete, path: feed.path}
	b.want(404, with(http.MethodPatch, `{"privateAs":"FULL"}`, "full"))
	b.want(200, request{method: http.MethodPut, path: feed.path})
	b.Equal("FULL", b.want(200, with(http.MethodPatch, `{"privateAs":"FULL"}`, "full")).text("privateAs"))
	b.want(200, with(http.MethodPatch, `{"privateAs":"BUSY"}`, "busy"))
	again := b.want(200, with(http.MethodPatch, `{"privateAs":"FULL"}`, "full"))
	b.Equal("BUSY", again.text("privateAs"), "as it is now")
	b.Equal("true", again.Header().Get(replayed))
	b.want(422, with(http.MethodPatch, `{"privateAs":"BUSY"}`, "full"))
	b.want(422, revoke.with("Idempotency-Key", "full"))
	b.want(204, revoke.with("Idempotency-Key", "away"))
	b.want(204, with(http.MethodPatch, `{"privateAs":"FULL"}`, "full"))
	b.want(200, request{method: http.MethodPut, path: feed.path})
	b.Equal("true", b.want(204, revoke.with("Idempotency-Key", "away")).Header().Get(replayed))
	b.Equal("BUSY", b.want(200, get(feed.path)).text("privateAs"))
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
		r := request{method: method, path: feed.path}
		if method == http.MethodPatch {
			r = with(method, `{"privateAs":"FULL"}`, "")
		}
		b.want(400, r.with("Idempotency-Key", strings.Repeat("k", 256)))
	}
}

// A function dies behind a change of the address, before it can say so. The repetition comes when there is another one.
func TestCalendarOperations_leaveAnAddressThatWasMadeSince(t *testing.T) {
	t.Parallel()
	for _, late := range []request{
		{method: http.MethodDelete, path: "/v1/me/feed"},
		{method: http.MethodPatch, path: "/v1/me/feed", body: `{"privateAs":"FULL"}`},
	} {
		b := setup(t)
		b.address("ann")
		isDead := false
		b.failWith(func(c memory.Call) error {
			isChange := c.Op != "Get" && slices.Contains(c.Keys, entity.FeedKey("ann"))
			if isDead = isDead || isChange && c.Stage == memory.After; isDead {
				return table.ErrUnavailable
			}
			return nil
		})
		late = late.with("Idempotency-Key", "k")
		b.want(503, late)
		b.True(isDead)
		b.failWith(nil)
		b.now = b.now.Add(time.Hour)
		b.address("ann")
		b.Equal("true", b.do(late).Header().Get(replayed))
		b.Equal("BUSY", b.want(200, get("/v1/me/feed")).text("privateAs"))
	}
}

func TestBatchOperation_carriesNoCalendar(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{"ImportCalendar", "MakeFeed", "ChangeFeed", "RevokeFeed"} {
		res := b.want(200, post("/v1/commands", fmt.Sprintf(`{"commands":[{"id":"1","type":%q}]}`, name)))
		require.Contains(t, res.Body.String(), `"problem"`)
	}
}
