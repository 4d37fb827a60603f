package local_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// modelHistories is how many histories are played; NEXUS_SERIES_HISTORIES asks for others, and NEXUS_SERIES_SEED for
// the first one's seed.
const modelHistories = 16

const modelSteps = 14

// TestPlatform_showsSeriesAsTheDocumentsSay plays random histories of series over HTTP and compares all that can be
// read with a model that goes through every day.
func TestPlatform_showsSeriesAsTheDocumentsSay(t *testing.T) {
	t.Parallel()
	histories, first := modelHistories, 1
	if n, err := strconv.Atoi(os.Getenv("NEXUS_SERIES_HISTORIES")); err == nil {
		histories = n
	}
	if n, err := strconv.Atoi(os.Getenv("NEXUS_SERIES_SEED")); err == nil {
		first = n
	}
	began := time.Now()
	s := startSystem(t, local.Options{
		Store: local.Memory, Machine: func() time.Time { return modelNow.Add(time.Since(began)) },
	})
	for seed := first; seed < first+histories; seed++ {
		m := &seriesModel{system: s.as(fmt.Sprintf("u%d", seed)), chance: chance{rand.New(rand.NewPCG(uint64(seed), 1))}}
		m.log = []string{fmt.Sprintf("NEXUS_SERIES_HISTORIES=1 NEXUS_SERIES_SEED=%d", seed)}
		m.play()
	}
}

func (m *seriesModel) play() {
	m.t.Helper()
	for range 2 {
		m.notes = append(m.notes, m.must("POST", "/v1/notes", object{"title": "n"})["noteId"].(string))
	}
	m.create()
	for range modelSteps {
		m.step()
		m.checkAgenda()
	}
	for _, s := range m.series {
		m.checkSeries(s)
	}
	m.checkDerived()
	m.checkExport()
}

func (m *seriesModel) step() {
	if len(m.series) == 0 || len(m.series) < 4 && m.one(7) {
		m.create()
		return
	}
	i := m.IntN(len(m.series))
	s := m.series[i]
	switch kind := m.IntN(20); {
	case kind < 7:
		m.put(s, m.pickDate(s))
	case kind < 10:
		m.cancel(s, m.pickDate(s))
	case kind < 16:
		m.patch(i)
	case kind < 17:
		m.end(i)
	case kind < 19:
		m.split(i)
	default:
		m.remove(i)
	}
	if i < len(m.series) {
		m.checkSeries(m.series[i])
	}
}

func sameJSON(a, b any) bool { return asJSON(a) == asJSON(b) }

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// clientFields are all that a client can set, the rule in its one form: UNTIL is of the kind of the start.
func (s *plainSeries) clientFields() object {
	rule := s.rule
	if end, ok := s.ruleEnd(); ok {
		rule = rule.with("UNTIL", s.span.until(end))
	}
	f := object{"rrule": rule.String()}
	for n, v := range s.fields {
		f[n] = v
	}
	for n, v := range s.span.fields() {
		f[n] = v
	}
	if until := s.untilText(); until != nil {
		f["rruleUntil"] = until
	}
	if len(s.exdate) > 0 {
		f["exdate"] = s.exdate
	}
	if len(s.rdate) > 0 {
		f["rdate"] = s.rdate
	}
	return f
}

// without is the answer's entity as far as clients set it.
func without(it object, names ...string) object {
	f := object{}
	for n, v := range it {
		if !slices.Contains(
			append(names, "entityType", "eventId", "masterId", "createdAt", "updatedAt", "dueSetAt", "icalUid"), n) {
			f[n] = v
		}
	}
	return f
}

func (m *seriesModel) checkSeries(s *plainSeries) {
	m.t.Helper()
	out := m.call200("/v1/series/" + s.id)
	want := s.clientFields()
	want["version"], want["sequence"] = s.version, s.sequence
	if s.hasException {
		want["hasExceptions"] = true
	}
	if !s.isEndless() {
		last := s.readings()[len(s.readings())-1]
		if s.span.zone != "" {
			last = s.resolve(last, "")
		}
		want["lastStartUtc"] = last.Format(s.span.form())
	}
	got := without(out["master"].(object))
	got["rrule"] = parsePlainRule(got["rrule"].(string)).String()
	m.same(asJSON(want), asJSON(got), "the series")

	instances := map[string]string{}
	for _, it := range out["instances"].([]any) {
		instances[it.(object)["eventId"].(string)] = asJSON(without(it.(object), "modifiedFields", "recurrenceId"))
	}
	wanted := map[string]string{}
	for date, e := range s.exceptions {
		f := s.shows(mustOn(s, date))
		f["version"] = e.version
		wanted[s.instance(date)] = asJSON(f)
	}
	m.same(wanted, instances, "its exceptions")
	for range 2 {
		m.checkOccurrence(s, m.pickDate(s))
	}
}

func (m *seriesModel) checkOccurrence(s *plainSeries, date string) {
	o, ok := s.on(date)
	if !ok {
		m.ask(404, "GET", "/v1/events/"+s.instance(date), nil)
		return
	}
	want := s.shows(o)
	want["version"] = s.versionOf(date)
	got := m.call200("/v1/events/" + s.instance(date))
	m.same(asJSON(want), asJSON(without(got, "modifiedFields", "recurrenceId")), "the occurrence of %s", date)
	original := o.original
	if s.span.zone != "" {
		original = s.resolve(original, "")
		m.same(original.Format(zuluForm), got["recurrenceId"], "its original start")
	}
	m.same(original.Format(wallForm), strings.TrimSuffix(got["recurrenceId"].(string), "Z"), "its original start")
}

type shownEntry struct{ Start, End, ID, Date, Title, Status string }

// expected is the agenda of a window.
func (m *seriesModel) expected(from, to time.Time, zone, tag string) []shownEntry {
	entries := []shownEntry{}
	for _, s := range m.series {
		for _, reading := range s.readings() {
			o := s.at(reading, zone)
			if o.exception.cancelled() || !o.start.Before(to) || o.start.Before(from) && !o.end.After(from) {
				continue
			}
			f := s.shows(o)
			if tags, _ := f["tags"].([]any); tag != "" && !slices.Contains(tags, any(tag)) {
				continue
			}
			entries = append(entries, shownEntry{
				o.start.Format(zuluForm), o.end.Format(zuluForm), s.instance(o.date), o.date, f["title"].(string),
				f["status"].(string),
			})
		}
	}
	slices.SortFunc(entries, func(a, b shownEntry) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	return entries
}

func (m *seriesModel) agenda(from, to time.Time, zone, tag string, limit int) []shownEntry {
	entries, cursor := []shownEntry{}, ""
	for range 100 {
		q := url.Values{
			"from": {from.Format(zuluForm)}, "to": {to.Format(zuluForm)}, "tz": {zone}, "limit": {strconv.Itoa(limit)},
			"types": {"EVENT"},
		}
		if tag != "" {
			q.Set("tags", tag)
		}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		out := m.must("GET", "/v1/agenda?"+q.Encode(), nil)
		for _, it := range out["items"].([]any) {
			e := it.(object)
			if e["masterId"] == nil {
				continue // an event
			}
			text := func(name string) string { return e[name].(string) }
			entries = append(entries, shownEntry{
				text("occurrenceStart"), text("occurrenceEnd"), text("eventId"), text("occurrenceDate"), text("title"),
				text("status"),
			})
		}
		next, ok := out["nextCursor"].(string)
		if !ok {
			return entries
		}
		cursor = next
	}
	m.same("an end of the pages", "none", "the agenda")
	return nil
}

func (m *seriesModel) checkAgenda() {
	m.t.Helper()
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0,
		m.IntN(400)).Add(time.Duration(m.IntN(24*60)) * time.Minute)
	to := from.Add(pick(m.chance, time.Hour, 24*time.Hour, 7*24*time.Hour, 40*24*time.Hour, 300*24*time.Hour))
	zone, tag := pick(m.chance, modelZones...), pick(m.chance, "", "", "a")
	m.log = append(m.log, fmt.Sprintf("agenda %s %s %s %s", from, to, zone, tag))
	m.same(m.expected(from, to, zone, tag), m.agenda(from, to, zone, tag, pick(m.chance, 100, 100, 7)), "the agenda")
}

// checkDerived compares what consumers make of it all.
func (m *seriesModel) checkDerived() {
	m.waitUntilIdle()
	upcoming := 0
	for _, s := range m.series {
		last := s.readings()[len(s.readings())-1]
		if s.fields["status"] != "CANCELLED" && (s.isEndless() || s.resolve(last, "UTC").After(modelNow)) {
			upcoming++
		}
	}
	stats := m.stats()
	m.same(float64(len(m.series)+m.events), stats["totalEvents"], "totalEvents")
	if m.events == 0 {
		m.same(float64(upcoming), stats["upcomingEvents"], "upcomingEvents")
	}
	for _, note := range m.notes {
		var want, got []string
		leads := func(f object) bool { return strings.Contains(asJSON(f["links"]), note) }
		for _, s := range m.series {
			if leads(s.fields) {
				want = append(want, s.id)
			}
			for date, e := range s.exceptions {
				if leads(e.own) {
					want = append(want, s.instance(date))
				}
			}
		}
		for _, it := range m.items("/v1/notes/" + note + "/backlinks?limit=100") {
			id := it["eventId"].(string)
			got = append(got, id)
		}
		slices.Sort(want)
		slices.Sort(got)
		m.same(want, got, "who links to the note")
	}
}

// text reads or sends what is no JSON.
func (s *system) calendarText(method, path, body string) string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL()+path, strings.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+s.user)
	if body != "" {
		request.Header.Set("Content-Type", "text/calendar")
	}
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, 200, response.StatusCode, "%s", text)
	return string(text)
}

// checkExport brings the calendar to another user, who is to see the same.
func (m *seriesModel) checkExport() {
	calendar := m.calendarText("GET", "/v1/calendar.ics", "")
	other := *m
	other.system = m.as(m.user + "-other")
	m.log = append(m.log, calendar, other.calendarText("POST", "/v1/calendar/import", calendar))
	for _, year := range []int{2026, 2027} {
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		zone := pick(m.chance, modelZones...)
		bare := func(entries []shownEntry) []shownEntry {
			for i := range entries {
				entries[i].ID = ""
			}
			slices.SortFunc(entries, func(a, b shownEntry) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			return entries
		}
		want := bare(m.expected(from, from.AddDate(1, 0, 0), zone, ""))
		m.same(want, bare(other.agenda(from, from.AddDate(1, 0, 0), zone, "", 100)), "the exported agenda of %d in %s",
			year, zone)
	}
}
