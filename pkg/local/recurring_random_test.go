package local_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// TestPlatform_ringsRecurringRemindersOncePerOccurrence plays random histories of recurring reminders that are snoozed,
// completed and dismissed while the clock moves. Each occurrence rings at its own time, once, unless its user was done
// with it before. Each snooze rings when it ends. The earlier of the two is scheduled. Each action acts on the present
// occurrence of docs/contracts.md, and is refused if its user saw another one. A seed is one history:
// -run TestPlatform_ringsRecurring/seed_7_on_memory.
func TestPlatform_ringsRecurringRemindersOncePerOccurrence(t *testing.T) {
	t.Parallel()
	eachHistory(t, func(t *testing.T, store local.Store, seed uint64) {
		h := newRings(t, store, seed)
		for range 3 {
			h.create()
		}
		for range historySteps {
			h.step()
		}
		h.again()
		h.check()
	})
}

// ring is a recurring reminder as the model has it.
type ring struct {
	id, title string
	at        []time.Time // of its occurrences
	next      int         // the one of its trigger
	snoozed   int         // the one that was put off; -1 for none
	until     time.Time
	rang      int // the one that rang last; -1 for none
	rangAt    time.Time
	isEnded   bool
}

type rings struct {
	*system
	rng   *rand.Rand
	all   []*ring
	lines []string
}

func newRings(t *testing.T, store local.Store, seed uint64) *rings {
	h := &rings{system: startInTheYear(t, onStore(store)), rng: rand.New(rand.NewPCG(seed, 2))}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d:\n%s", seed, strings.Join(h.lines, "\n"))
		}
	})
	// Minutes at which nothing is ever due, so that what is due lies clearly before a look or after it.
	start := time.Date(skippingYear, time.Month(1+h.rng.IntN(11)), 1+h.rng.IntN(28), h.rng.IntN(24), 7, 0, 0, time.UTC)
	h.must("POST", "/dev/clock", object{"set": start.Format(time.RFC3339)})
	h.must("PATCH", "/v1/me", object{"defaultTzid": "Australia/Lord_Howe"}, "If-Match", `"0"`)
	return h
}

func (h *rings) say(format string, args ...any) {
	h.lines = append(h.lines, stampOf(h.now())+" "+fmt.Sprintf(format, args...))
}

func (h *rings) create() {
	h.t.Helper()
	zone := placesOfYear()[h.rng.IntN(5)]
	body := object{"title": fmt.Sprintf("ring %d", len(h.all))}
	if h.rng.IntN(3) == 0 {
		zone = "Australia/Lord_Howe" // the user's own, for one that floats
	} else {
		body["tzid"] = zone
	}
	days, rule := 1, "FREQ=DAILY"
	if h.rng.IntN(3) == 0 {
		days, rule = 7, "FREQ=WEEKLY"
	}
	count := 100
	if h.rng.IntN(2) == 0 {
		count = 1 + h.rng.IntN(8)
		rule += fmt.Sprintf(";COUNT=%d", count)
	}
	now, l := h.now(), location(h.t, zone)
	hours := []int{1, 2, 3, 9, 21}
	first := time.Date(now.Year(), now.Month(), now.Day()+2+h.rng.IntN(3), hours[h.rng.IntN(len(hours))], 30, 0,
		0, time.UTC)
	if first = showing(firstShown(first, l), l); body["tzid"] == nil {
		body["triggerUtc"] = first.Format(readingForm)
	} else {
		body["triggerUtc"] = stampOf(firstShown(first, l))
	}
	body["rrule"] = rule
	made := h.must("POST", "/v1/reminders", body)
	h.say("create %v", body)
	r := &ring{id: made["reminderId"].(string), title: body["title"].(string), snoozed: -1, rang: -1}
	for _, m := range meetings(r.title, first, days, count, l) {
		r.at = append(r.at, m.At.UTC())
	}
	h.all = append(h.all, r)
}

// present returns the occurrence that an action is about, by the list of docs/contracts.md:
//
//   - the one that is snoozed;
//   - the last one that was due, if it follows the one that rang last and came due after that ring;
//   - the one that rang last;
//   - the next one.
func (r *ring) present(now time.Time) int {
	if r.snoozed >= 0 {
		return r.snoozed
	}
	for i := len(r.at) - 1; i > r.rang; i-- {
		if !r.at[i].After(now) && r.at[i].After(r.rangAt) {
			return i
		}
	}
	if r.rang >= 0 {
		return r.rang
	}
	return r.next
}

// pass moves the trigger past an occurrence. It stays at the last.
func (r *ring) pass(i int) { r.next = max(r.next, i+1) }

func (h *rings) step() {
	h.t.Helper()
	alive := slices.DeleteFunc(slices.Clone(h.all), func(r *ring) bool { return r.isEnded })
	if len(alive) == 0 {
		h.create()
		return
	}
	r := alive[h.rng.IntN(len(alive))]
	now, path := h.now(), "/v1/reminders/"+r.id
	i := r.present(now)
	switch h.rng.IntN(8) {
	case 0, 1:
		minutes := []int{5, 25, 60, 600, 3 * 1440}[h.rng.IntN(5)]
		h.say("snooze %s by %d", r.title, minutes)
		got := h.act(r, i, path+"/snooze", object{"minutes": minutes})
		r.snoozed = i
		r.pass(i)
		r.until = instantOf(h.t, got["snoozeState"].(object)["untilUtc"])
		require.Equal(h.t, stampOf(r.at[r.snoozed]), got["snoozeState"].(object)["occurrenceUtc"])
	case 2, 3:
		verb := []string{"complete", "dismiss"}[h.rng.IntN(2)]
		h.say("%s %s", verb, r.title)
		got := h.act(r, i, path+"/"+verb, object{})
		r.pass(i)
		r.snoozed = -1
		r.isEnded = r.next == len(r.at)
		require.Equal(h.t, !r.isEnded, got["status"] == "PENDING")
	case 4:
		if h.rng.IntN(4) == 0 {
			h.must("POST", path+"/complete", object{"series": true})
			h.say("end %s", r.title)
			r.isEnded = true
		}
	default:
		h.advance(h.rng.IntN(4*24) + 1)
	}
	h.waitUntilIdle()
	h.check()
}

// act sends an action on the present occurrence, now and then with the occurrence that its user saw. If that is another
// one, the action is refused first.
func (h *rings) act(r *ring, present int, path string, body object) object {
	h.t.Helper()
	switch saw := h.rng.IntN(len(r.at)); {
	case h.rng.IntN(2) == 0:
	case saw != present:
		body["occurrenceUtc"] = stampOf(r.at[saw])
		status, _ := h.call("POST", path, body)
		require.Equal(h.t, http.StatusConflict, status, "saw %d, present is %d of %v", saw, present, r.at)
		fallthrough
	default:
		body["occurrenceUtc"] = stampOf(r.at[present])
	}
	return h.must("POST", path, body)
}

// advance moves the clock and rings what is due on the way, in the model and in the system.
func (h *rings) advance(hours int) {
	h.t.Helper()
	known := len(h.items("/dev/events?limit=1000"))
	to := h.now().Truncate(time.Hour).Add(time.Duration(hours)*time.Hour + 7*time.Minute)
	h.say("the clock moves to %s", stampOf(to))
	var want, got []string
	for _, r := range h.all {
		for at, ok := r.due(); ok && !at.After(to); at, ok = r.due() {
			want = append(want, fmt.Sprintf("%s of %s due %s", r.title, stampOf(r.at[r.fire(at)]), stampOf(at)))
		}
	}
	h.must("POST", "/dev/clock", object{"set": stampOf(to)})
	for _, e := range h.items("/dev/events?limit=1000")[known:] {
		if d := e["detail"].(object); e["type"] == "ReminderDue" {
			got = append(got, fmt.Sprintf("%s of %s due %s", d["title"], d["occurrenceUtc"], d["dueUtc"]))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(h.t, want, got)
}

// due is when it rings next.
func (r *ring) due() (time.Time, bool) {
	switch {
	case r.isEnded:
		return time.Time{}, false
	case r.snoozed >= 0 && (r.next == len(r.at) || r.until.Before(r.at[r.next])):
		return r.until, true
	case r.next < len(r.at):
		return r.at[r.next], true
	}
	return time.Time{}, false
}

// fire rings, and returns the occurrence.
func (r *ring) fire(at time.Time) int {
	r.rangAt = at
	if r.snoozed >= 0 && at.Equal(r.until) {
		r.rang, r.snoozed = r.snoozed, -1
	} else {
		r.rang = r.next
		r.next++
	}
	return r.rang
}

func (h *rings) check() {
	h.t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for _, r := range h.all {
		if at, ok := r.due(); ok {
			want[r.id] = stampOf(at)
		}
		if !r.isEnded {
			h.checkShown(r)
		}
	}
	for _, entry := range h.items("/dev/schedules?state=PENDING&limit=1000") {
		got[entry["payload"].(object)["itemId"].(string)] = stampOf(instantOf(h.t, entry["at"]))
	}
	require.Equal(h.t, want, got, "schedules")
	require.Empty(h.t, h.items("/dev/parked"))
	require.EqualValues(h.t, 0, h.must("GET", "/dev/info", nil)["missed"])
}

// checkShown compares what the API shows of a reminder that is not ended: which occurrence rang last, and whether its
// trigger is over.
func (h *rings) checkShown(r *ring) {
	h.t.Helper()
	shown := h.must("GET", "/v1/reminders/"+r.id, nil)
	var rang any
	if r.rang >= 0 {
		rang = stampOf(r.at[r.rang])
	}
	require.Equal(h.t, rang, shown["firedOccurrenceUtc"], r.title)
	require.Equal(h.t, r.next == len(r.at), shown["doneTriggerUtc"] == shown["triggerUtc"], "done: %v", shown)
}
