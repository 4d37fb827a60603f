package local_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// near is how far from the present a history looks.
const near = 45 * 24 * time.Hour

// TestPlatform_keepsSeriesAsARecountSays plays random histories of one user's series over HTTP while the clock moves.
// Whenever the system has settled, schedules, deliveries, agenda, statistics and backlinks are exactly what a recount
// says. A seed is one history: -run TestPlatform_keepsSeriesAs/seed_7_on_memory.
func TestPlatform_keepsSeriesAsARecountSays(t *testing.T) {
	t.Parallel()
	eachHistory(t, func(t *testing.T, store local.Store, seed uint64) {
		h := newHistory(t, store, seed)
		for range historySteps {
			h.step()
		}
		h.end()
	})
}

// history is one user's doings.
type history struct {
	*system
	rng     *rand.Rand
	zone    string // the user's
	masters []string
	notes   []string
	lines   []string // what was done
}

func newHistory(t *testing.T, store local.Store, seed uint64) *history {
	h := &history{system: startInTheYear(t, onStore(store)), rng: rand.New(rand.NewPCG(seed, 1)), zone: "UTC"}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d:\n%s", seed, strings.Join(h.lines, "\n"))
		}
	})
	// Minutes at which nothing is ever due, so that what is due lies clearly before a look or after it.
	start := time.Date(skippingYear, time.Month(1+h.rng.IntN(11)), 1+h.rng.IntN(28), h.rng.IntN(24), 7, 0, 0, time.UTC)
	h.must("POST", "/dev/clock", object{"set": start.Format(time.RFC3339)})
	for i := range 2 {
		h.notes = append(h.notes, h.must("POST", "/v1/notes", object{"title": fmt.Sprintf("note %d", i)})["noteId"].(string))
	}
	return h
}

// attempt sends what may be refused as invalid, and says whether it was done.
func (h *history) attempt(method, path string, body any, header ...string) (object, bool) {
	h.t.Helper()
	status, out := h.call(method, path, body, header...)
	h.lines = append(h.lines, fmt.Sprintf("%s %s %s %v: %d", h.now().Format(time.RFC3339), method, path, body, status))
	require.Contains(h.t, []int{http.StatusOK, http.StatusCreated, http.StatusNoContent, http.StatusUnprocessableEntity},
		status, "%s %s: %v", method, path, out)
	return out, status != http.StatusUnprocessableEntity
}

func (h *history) step() {
	h.t.Helper()
	if len(h.masters) == 0 || len(h.masters) < 4 && h.rng.IntN(5) == 0 {
		h.create()
	} else {
		id := oneOf(h, h.masters...)
		switch h.rng.IntN(14) {
		case 0, 1, 2:
			h.patch(id)
		case 3, 4, 5, 6:
			h.except(id)
		case 7, 8:
			h.split(id)
		case 9:
			h.finish(id)
		case 10:
			h.link(id)
		case 11:
			h.moveAway()
		case 12:
			if h.rng.IntN(3) == 0 {
				h.remove(id)
			}
		default:
			h.advance(h.rng.IntN(12*24) + 1)
		}
	}
	h.waitUntilIdle()
	h.check()
	if h.rng.IntN(3) == 0 {
		h.advance(h.rng.IntN(5*24) + 1)
		h.check()
	}
}

// end has all records come again, which changes nothing, and then deletes everything, of which nothing is left.
func (h *history) end() {
	h.t.Helper()
	h.again()
	h.check()
	for _, id := range slices.Clone(h.masters) {
		h.remove(id)
	}
	h.waitUntilIdle()
	require.Empty(h.t, h.items("/dev/schedules?state=PENDING"), "schedules of what was deleted")
	h.check()
}

func (h *history) create() {
	h.t.Helper()
	start := h.someReading(10)
	body := h.times(h.someZone(), start, time.Hour)
	body["title"] = fmt.Sprintf("series %d", len(h.lines))
	if h.rng.IntN(4) == 0 {
		event := h.must("POST", "/v1/events", body)
		body = object{"fromEventId": event["eventId"]}
		body["rrule"], body["reminderMinutes"] = h.someRule(start), h.someMinutes()
		made, _ := h.attempt("POST", "/v1/series", body, "If-Match", version(event))
		h.masters = append(h.masters, made["masterId"].(string))
		return
	}
	body["rrule"], body["reminderMinutes"] = h.someRule(start), h.someMinutes()
	if h.rng.IntN(2) == 0 {
		body["links"] = []object{{"targetType": "NOTE", "targetId": oneOf(h, h.notes...)}}
	}
	made, _ := h.attempt("POST", "/v1/series", body)
	h.masters = append(h.masters, made["masterId"].(string))
}

// whole returns a series with its exceptions.
func (h *history) whole(id string) (master object, instances []object) {
	h.t.Helper()
	got := h.must("GET", "/v1/series/"+id, nil)
	require.NotContains(h.t, got, "nextCursor")
	for _, it := range got["instances"].([]any) {
		instances = append(instances, it.(object))
	}
	return got["master"].(object), instances
}

// shape is which of someZone's a series has.
func shape(master object) string {
	if master["isAllDay"] == true {
		return "whole days"
	}
	zone, _ := master["startTzid"].(string)
	return zone
}

func (h *history) patch(id string) {
	h.t.Helper()
	master, _ := h.whole(id)
	start := startReading(h.t, master, zoneOf(h.t, master, time.UTC))
	change := oneOf(h, "times", "times", "rule", "minutes", "dates", "status", "status", "zone", "endless", "title")
	if master["status"] == "CANCELLED" {
		change = "status" // or it would say nothing for the rest of the history
	}
	body := object{}
	switch change {
	case "times":
		moved := start.AddDate(0, 0, h.rng.IntN(5)-2).Add(time.Duration(h.rng.IntN(6)) * 30 * time.Minute)
		body = h.times(shape(master), moved, time.Hour)
	case "rule":
		body["rrule"] = h.someRule(start)
	case "minutes":
		body["reminderMinutes"] = h.someMinutes()
	case "dates":
		body["exdate"] = []string{h.someDate(id), h.someDate(id)}
		body["rdate"] = []string{h.now().AddDate(0, 0, h.rng.IntN(20)).Format(basicDate)}
	case "status":
		body["status"] = oneOf(h, "CANCELLED", "CANCELLED", "CONFIRMED", "TENTATIVE")
	case "zone":
		if zone := h.someZone(); zone != "" && zone != "whole days" && shape(master) != "whole days" {
			body = h.times(zone, start, time.Hour)
		}
	case "endless":
		body["rruleUntil"] = nil
	case "title":
		body["title"] = fmt.Sprintf("series %d", len(h.lines))
	}
	before := h.when(id)
	h.attempt("PATCH", "/v1/series/"+id, body, "If-Match", version(master))
	if slices.Contains([]string{"minutes", "status", "title"}, change) {
		require.Equal(h.t, before, h.when(id), "what says nothing about times moves nothing")
	}
}

// when says of several series together which occurrences there are, where they are, and which are cancelled.
func (h *history) when(ids ...string) []string {
	h.t.Helper()
	var out []string
	for _, id := range ids {
		for _, o := range h.near(h.whole(id)) {
			if o.at.Sub(h.now()) < near {
				out = append(out, fmt.Sprintf("%s at %s, cancelled: %v", o.date, stampOf(o.at), o.isCancelled))
			}
		}
	}
	return out
}

// someDate is the date of an occurrence near the present, or of none.
func (h *history) someDate(id string) string {
	h.t.Helper()
	list := h.near(h.whole(id))
	if len(list) == 0 || h.rng.IntN(12) == 0 {
		return h.now().Format(basicDate)
	}
	return oneOf(h, list...).date
}

// near are the occurrences of a series near the present.
func (h *history) near(master object, instances []object) []held {
	h.t.Helper()
	now := h.now()
	return recounted(h.t, master, instances, location(h.t, h.zone), now.Add(-near), now.Add(near))
}

func (h *history) except(id string) {
	h.t.Helper()
	date := h.someDate(id)
	path := "/v1/series/" + id + "/instances/" + date
	status, it := h.call("GET", "/v1/events/inst_"+date+strings.TrimPrefix(id, "mst"), nil)
	if status == http.StatusNotFound {
		return // no occurrence
	}
	if h.rng.IntN(4) == 0 {
		h.attempt("DELETE", path, nil, "If-Match", version(it))
		return
	}
	body := object{}
	day, err := time.Parse(basicDate, date)
	require.NoError(h.t, err)
	if h.rng.IntN(2) == 0 {
		moved := day.AddDate(0, 0, h.rng.IntN(5)-2).Add(time.Duration(h.rng.IntN(48)) * 30 * time.Minute)
		maps.Copy(body, h.times(h.someZone(), moved, time.Hour))
		if body["isAllDay"] != true && body["startTzid"] == nil {
			body["startTzid"] = nil
		}
		body["isAllDay"] = body["isAllDay"] == true
	}
	if h.rng.IntN(2) == 0 {
		body["reminderMinutes"] = h.someMinutes()
	}
	if h.rng.IntN(3) == 0 {
		body["title"] = fmt.Sprintf("occurrence %d", len(h.lines))
	}
	if h.rng.IntN(4) == 0 {
		body["links"] = []object{{"targetType": "NOTE", "targetId": oneOf(h, h.notes...)}}
	}
	h.attempt("PUT", path, body, "If-Match", version(it))
}

func (h *history) split(id string) {
	h.t.Helper()
	master, _ := h.whole(id)
	date := h.someDate(id)
	changes := object{}
	switch h.rng.IntN(4) {
	case 0:
		changes["title"] = fmt.Sprintf("series %d", len(h.lines))
	case 1, 2:
		day, err := time.Parse(basicDate, date)
		require.NoError(h.t, err)
		moved := day.AddDate(0, 0, h.rng.IntN(3)).Add(time.Duration(h.rng.IntN(48)) * 30 * time.Minute)
		changes = h.times(shape(master), moved, time.Hour)
	case 3:
		changes["reminderMinutes"] = h.someMinutes()
	}
	before := h.when(id)
	both, done := h.attempt("POST", "/v1/series/"+id+"/split", object{"date": date, "changes": changes}, "If-Match",
		version(master))
	if !done {
		return
	}
	following := both["following"].(object)["masterId"].(string)
	h.masters = append(h.masters, following)
	if changes["startUtc"] == nil && changes["startDate"] == nil {
		require.Equal(h.t, before, h.when(id, following), "both halves together are the whole, exceptions included")
	}
}

func (h *history) finish(id string) {
	h.t.Helper()
	master, _ := h.whole(id)
	until := h.now().AddDate(0, 0, h.rng.IntN(20)-5)
	text := until.Format(time.RFC3339)
	if zone := shape(master); zone == "" || zone == "whole days" {
		text = until.Format(readingForm)
	}
	h.attempt("POST", "/v1/series/"+id+"/end", object{"untilUtc": text}, "If-Match", version(master))
}

func (h *history) link(id string) {
	h.t.Helper()
	h.attempt(oneOf(h, http.MethodPut, http.MethodDelete), "/v1/series/"+id+"/links/NOTE/"+oneOf(h, h.notes...), nil)
}

// moveAway has the user go to another zone.
func (h *history) moveAway() {
	h.t.Helper()
	h.zone = oneOf(h, placesOfYear()...)
	h.attempt("PATCH", "/v1/me", object{"defaultTzid": h.zone}, "If-Match", version(h.must("GET", "/v1/me", nil)))
}

func (h *history) remove(id string) {
	h.t.Helper()
	master, _ := h.whole(id)
	h.attempt("DELETE", "/v1/series/"+id, nil, "If-Match", version(master))
	h.masters = slices.DeleteFunc(h.masters, func(other string) bool { return other == id })
}
