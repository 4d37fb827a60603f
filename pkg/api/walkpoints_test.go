package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// spent returns how many points of a bucket that was full are used, as an answer says.
func (b *fixture) spent(res response) int {
	b.t.Helper()
	var left, seconds int
	_, err := fmt.Sscanf(res.Header().Get("RateLimit"), `"user";r=%d;t=%d`, &left, &seconds)
	b.NoError(err, "%s", res.Body)
	return 600 - left
}

// excepted makes a series with so many exceptions, and returns its path.
func (b *fixture) excepted(exceptions int) string {
	b.t.Helper()
	made := b.do(request{method: "POST", path: "/v1/series", body: `{"title":"x",` + span + `,"rrule":"FREQ=DAILY"}`})
	path := "/v1/series/" + made.doc["masterId"].(string)
	begin := time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC)
	for n := range exceptions {
		res := b.do(request{method: "PUT", path: path + "/instances/" + begin.AddDate(0, 0, n).Format("20060102"),
			body: `{"title":"y"}`, header: map[string]string{"If-Match": `"1"`}})
		b.Equal(http.StatusOK, res.Code, "%s", res.Body)
		b.advance(time.Minute)
	}
	b.advance(time.Hour)
	return path
}

// A change of a series is a point more for every 20 exceptions over which it sets off a walk. A request that asks the
// row by chance counts ten times as much.
func TestSpending_countsTheWalkThatAChangeOfASeriesSetsOff(t *testing.T) {
	t.Parallel()
	b := limited(t, always, nil)
	path := b.excepted(65)
	change := func(method, path, body string, version int) int {
		b.advance(time.Hour)
		res := b.do(request{method: method, path: path, body: body,
			header: map[string]string{"If-Match": fmt.Sprintf(`"%d"`, version)}})
		b.Less(res.Code, 300, "%s", res.Body)
		return b.spent(res)
	}
	b.Equal(10, change("PATCH", path, `{"title":"z"}`, 1), "no exception depends on it")
	b.Equal(10+3*10, change("PATCH", path, `{"status":"CANCELLED"}`, 2))
	moved := change("PATCH", path, `{"startUtc":"2026-03-10T09:30:00Z","endUtc":"2026-03-10T10:30:00Z"}`, 3)
	b.GreaterOrEqual(moved, 10+3*10)

	few, more := b.excepted(19), b.excepted(20)
	split := `{"date":"20260601","changes":{"title":"t"}}` // no exception goes along
	b.Equal(10, change("POST", more+"/split", split, 1)-change("POST", few+"/split", split, 1))
	b.Equal(10, change("PATCH", few, `{"status":"CANCELLED"}`, 2))
}

func TestSpending_countsTheWalksOfABatch(t *testing.T) {
	t.Parallel()
	b := limited(t, always, nil)
	path := b.excepted(40)
	id := path[len("/v1/series/"):]
	command := func(key, title, status string, version int) string {
		return fmt.Sprintf(`{"id":%q,"type":"UpdateSeries","expectedVersion":%d,`+
			`"data":{"masterId":%q,"title":%q,"status":%q}}`, key, version, id, title, status)
	}
	res := b.do(request{method: "POST", path: "/v1/commands", body: `{"commands":[` +
		command("a", "x", "CANCELLED", 1) + `,` + command("b", "y", "CANCELLED", 2) + `,` +
		command("c", "y", "CONFIRMED", 3) + `]}`})
	b.Equal(http.StatusOK, res.Code, "%s", res.Body)
	b.Equal(3+2*2, b.spent(res), "%s", res.Body)
	b.advance(time.Hour)
	res = b.do(request{method: "POST", path: "/v1/commands", body: `{"commands":[` +
		command("a", "x", "CANCELLED", 1) + `]}`})
	b.Equal(1, b.spent(res), "a repetition sets off none")
}
