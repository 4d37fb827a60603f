package local_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// advance moves the clock by so many hours: on the way exactly what the recount has is announced.
func (h *history) advance(hours int) {
	h.t.Helper()
	from := h.now()
	to := from.Truncate(time.Hour).Add(time.Duration(hours)*time.Hour + 7*time.Minute)
	h.lines = append(h.lines, fmt.Sprintf("%s the clock moves to %s", from.Format(time.RFC3339), to.Format(time.RFC3339)))
	known := len(h.items("/dev/events?limit=1000"))
	var want, got []string
	for _, r := range h.takeLook().reminders() {
		if r.at.After(from) && !r.at.After(to) {
			want = append(want, r.String())
		}
	}
	h.must("POST", "/dev/clock", object{"set": to.Format(time.RFC3339)})
	events := h.items("/dev/events?limit=1000")
	require.Less(h.t, len(events), 1000)
	for _, e := range events[known:] {
		d := e["detail"].(object)
		got = append(got, remind{
			d["itemId"].(string), int(d["offsetMinutes"].(float64)), instantOf(h.t, d["dueUtc"]),
			held{date: d["occurrenceDate"].(string), at: instantOf(h.t, d["occurrenceUtc"]), title: d["title"].(string)},
		}.String())
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(h.t, want, got, "announced from %s to %s", from, to)
}

// remind is one instant at which the user is to be reminded.
type remind struct {
	item   string
	offset int
	at     time.Time
	held
}

func (r remind) String() string {
	return fmt.Sprintf("%s -%dm at %s of %q on %s at %s", r.item, r.offset, stampOf(r.at), r.title, r.date,
		stampOf(r.held.at))
}

func stampOf(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// look holds the state of all series at one time.
type look []kept

type kept struct {
	id        string
	master    object
	instances []object
	near      []held
}

func (h *history) takeLook() look {
	h.t.Helper()
	var all look
	for _, id := range h.masters {
		master, instances := h.whole(id)
		all = append(all, kept{id, master, instances, h.near(master, instances)})
	}
	return all
}

// reminders are those of everything that is near.
func (all look) reminders() []remind {
	var out []remind
	for _, k := range all {
		for _, o := range k.near {
			if o.isCancelled || k.master["status"] == "CANCELLED" {
				continue
			}
			for _, minutes := range o.minutes {
				out = append(out, remind{o.owner, minutes, o.at.Add(-time.Duration(minutes) * time.Minute), o})
			}
		}
	}
	return out
}

// check compares everything derived with a recount.
func (h *history) check() {
	h.t.Helper()
	now, all := h.now(), h.takeLook()
	h.checkSchedules(all, now)
	h.checkAgenda(all, now)
	h.checkStats(all, now)
	h.checkLinks(all)
	require.Empty(h.t, h.items("/dev/parked"))
	require.EqualValues(h.t, 0, h.must("GET", "/dev/info", nil)["missed"])
}

func (h *history) checkSchedules(all look, now time.Time) {
	h.t.Helper()
	next, got := map[string]string{}, map[string]string{}
	for _, r := range all.reminders() {
		name := fmt.Sprintf("%s -%dm", r.item, r.offset)
		if at := stampOf(r.at); r.at.After(now) && (next[name] == "" || at < next[name]) {
			next[name] = at
		}
	}
	for _, entry := range h.items("/dev/schedules?state=PENDING&limit=1000") {
		call := entry["payload"].(object)
		got[fmt.Sprintf("%s -%vm", call["itemId"], call["offsetMinutes"])] = stampOf(instantOf(h.t, entry["at"]))
	}
	require.Equal(h.t, next, got, "schedules")
}

func (h *history) checkAgenda(all look, now time.Time) {
	h.t.Helper()
	from, to := now.AddDate(0, 0, -20), now.AddDate(0, 0, 30)
	var want, got []string
	for _, k := range all {
		for _, o := range k.near {
			if !o.isCancelled && !o.at.Before(from) && o.at.Before(to) {
				want = append(want, fmt.Sprintf("%s %s %s %q", stampOf(o.at), k.id, o.date, o.title))
			}
		}
	}
	for _, it := range h.system.agenda(from, to, url.Values{"types": {"EVENT"}}) {
		if at := instantOf(h.t, it["occurrenceStart"]); !at.Before(from) {
			got = append(got, fmt.Sprintf("%s %s %s %q", stampOf(at), it["masterId"], it["occurrenceDate"], it["title"]))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(h.t, want, got, "agenda")
}

func (h *history) checkStats(all look, now time.Time) {
	h.t.Helper()
	upcoming, reading := 0, showing(now, location(h.t, h.zone)).Format(readingForm)
	for _, k := range all {
		last, ends := k.master["lastStartUtc"].(string)
		isZoned := strings.HasSuffix(last, "Z")
		if k.master["status"] != "CANCELLED" && (!ends || isZoned && last > stampOf(now) || !isZoned && last > reading) {
			upcoming++
		}
	}
	stats := h.stats()
	require.EqualValues(h.t, len(h.masters), stats["totalEvents"])
	require.EqualValues(h.t, len(h.notes), stats["totalNotes"])
	require.EqualValues(h.t, upcoming, stats["upcomingEvents"])
}

func (h *history) checkLinks(all look) {
	h.t.Helper()
	want := map[string][]string{}
	add := func(it object) {
		links, _ := it["links"].([]any)
		for _, link := range links {
			note := link.(object)["targetId"].(string)
			want[note] = append(want[note], it["eventId"].(string))
		}
	}
	for _, k := range all {
		add(k.master)
		for _, it := range k.instances {
			if slices.Contains(texts(it["modifiedFields"]), "links") {
				add(it)
			}
		}
	}
	for _, note := range h.notes {
		var got []string
		for _, it := range h.items("/v1/notes/" + note + "/backlinks?limit=100") {
			got = append(got, it["eventId"].(string))
		}
		require.ElementsMatch(h.t, want[note], got, "backlinks")
	}
}
