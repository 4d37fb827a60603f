package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// seriesAttacks are made by one user on a daily series of their own, whose second occurrence has the date.
func seriesAttacks(series, date string) []attack {
	const post, put, patch = http.MethodPost, http.MethodPut, http.MethodPatch
	const many = "/v1/series"
	one := many + "/" + series
	occurrence := one + "/instances/" + date
	at := func(a attack, version string) attack {
		a.header = http.Header{"If-Match": {`"` + version + `"`}}
		return a
	}
	rule := func(rrule string) string {
		return fmt.Sprintf(`{"title":"t","startUtc":"2026-03-02T09:00:00Z","startTzid":"UTC","rrule":%q}`, rrule)
	}
	calendar := func(name, text string, status int) attack {
		a := jsonAttack(name, post, "/v1/calendar/import", text, status)
		a.header = http.Header{"Content-Type": {"text/calendar"}}
		return a
	}
	event := "BEGIN:VEVENT\r\nUID:%d\r\nDTSTAMP:20260301T000000Z\r\nDTSTART:20260301T000000Z\r\nEND:VEVENT\r\n"
	var events strings.Builder
	for n := range 1001 {
		fmt.Fprintf(&events, event, n)
	}
	var dates []string
	for n := range 501 {
		dates = append(dates, time.Date(2026, 3, 3+n, 0, 0, 0, 0, time.UTC).Format(`"20060102"`))
	}
	out := []attack{
		jsonAttack("a rule of ten thousand parts", post, many,
			rule("FREQ=YEARLY;BYYEARDAY="+strings.Repeat("1,", 10_000)+"1"), 422),
		jsonAttack("501 excluded dates", post, many,
			strings.Replace(rule("FREQ=DAILY"), `}`, `,"exdate":[`+strings.Join(dates, ",")+`]}`, 1), 422),
		jsonAttack("a date that is none", post, many,
			strings.Replace(rule("FREQ=DAILY"), `}`, `,"rdate":["20260231"]}`, 1), 422),
		jsonAttack("an occurrence of two years", post, many,
			strings.Replace(rule("FREQ=DAILY"), `}`, `,"endUtc":"2028-03-02T09:00:00Z"}`, 1), 422),
		jsonAttack("an end before the beginning", post, many,
			strings.Replace(rule("FREQ=DAILY"), `}`, `,"rruleUntil":"2020-01-01T00:00:00Z"}`, 1), 422),
		jsonAttack("no rule", post, many, `{"title":"t","startUtc":"2026-03-02T09:00:00Z"}`, 422),
		jsonAttack("a separator in a series' id", post, many,
			strings.Replace(rule("FREQ=DAILY"), `}`, `,"masterId":"mst_a#b"}`, 1), 422),
		jsonAttack("a rule for a single event", post, "/v1/events", rule("FREQ=DAILY"), 422),
		jsonAttack("a list for an event", post, many, `{"fromEventId":[],"rrule":"FREQ=DAILY"}`, 422),
		at(jsonAttack("a series of an event that is not there", post, many, `{"fromEventId":"evt_0","rrule":"FREQ=DAILY"}`,
			404), "1"),
		jsonAttack("a reminder each hour", post, "/v1/reminders",
			`{"title":"t","triggerUtc":"2026-03-02T09:00:00Z","tzid":"UTC","rrule":"FREQ=HOURLY"}`, 422),
		jsonAttack("an occurrence without a version", put, occurrence, `{"title":"x"}`, 428),
		at(jsonAttack("an occurrence at another version", put, occurrence, `{"title":"x"}`, 412), "7"),
		at(jsonAttack("a day without an occurrence", put, one+"/instances/20200101", `{"title":"x"}`, 404), "1"),
		at(jsonAttack("a day that is none", put, one+"/instances/20261399", `{"title":"x"}`, 422), "1"),
		at(jsonAttack("a day with a separator", put, one+"/instances/2026%230101", `{"title":"x"}`, 422), "1"),
		at(jsonAttack("an occurrence without a title", put, occurrence, `{"title":null}`, 422), "1"),
		at(jsonAttack("an occurrence that ends before it starts", put, occurrence, `{"endUtc":"2020-01-01T00:00:00Z"}`, 422),
			"1"),
		at(jsonAttack("an occurrence with a rule", put, occurrence, `{"rrule":"FREQ=DAILY"}`, 422), "1"),
		at(jsonAttack("an occurrence of a link to nothing", put, occurrence,
			`{"links":[{"targetType":"TASK","targetId":"task_0"}]}`, 404), "1"),
		at(jsonAttack("a split nowhere", post, one+"/split", `{}`, 422), "1"),
		at(jsonAttack("a split at the first", post, one+"/split", `{"date":"20260302"}`, 422), "1"),
		at(jsonAttack("a split with a list", post, one+"/split", `{"date":"`+date+`","changes":[]}`, 422), "1"),
		at(jsonAttack("a split with more", post, one+"/split", `{"date":"`+date+`","nope":1}`, 422), "1"),
		at(jsonAttack("a split into nothing", post, one+"/split", `{"date":"`+date+`","changes":{"rrule":null}}`, 422), "1"),
		jsonAttack("a split without a version", post, one+"/split", `{"date":"`+date+`"}`, 428),
		at(jsonAttack("an end at no time", post, one+"/end", `{"untilUtc":1}`, 422), "1"),
		at(jsonAttack("an end before the first", post, one+"/end", `{"untilUtc":"2020-01-01T00:00:00Z"}`, 422), "1"),
		jsonAttack("an end without a version", post, one+"/end", `{"untilUtc":"2026-04-01T00:00:00Z"}`, 428),
		calendar("6 MB of a calendar", "BEGIN:VCALENDAR\r\n"+strings.Repeat("X-A:b\r\n", 6<<20/7), 413),
		calendar("1,001 components",
			"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\n"+events.String()+"END:VCALENDAR\r\n", 413),
		calendar("no calendar", "hello", 422),
		jsonAttack("a calendar as JSON", post, "/v1/calendar/import", `{}`, 415),
		jsonAttack("a guessed address", http.MethodGet, "/feed/YW5u."+strings.Repeat("A", 43)+".ics", "", 404),
		jsonAttack("an address that is none", http.MethodGet, "/feed/..%2f..%2fv1%2fme.ics", "", 404),
	}
	for _, rrule := range []string{
		"FREQ=SECONDLY", "FREQ=HOURLY", "FREQ=DAILY;BYHOUR=9", "FREQ=DAILY;COUNT=999999999", "FREQ=DAILY;INTERVAL=0",
		"FREQ=DAILY;INTERVAL=-1",
		"FREQ=DAILY;COUNT=1;UNTIL=20270101T000000Z", "FREQ=NOPE", "", "DAILY", "FREQ=MONTHLY;BYDAY=99MO",
		"FREQ=YEARLY;BYMONTH=13",
		"FREQ=DAILY;UNTIL=20200101T000000Z", "FREQ=DAILY;X-OWN=1", "FREQ=DAILY\nFREQ=WEEKLY",
		"FREQ=WEEKLY;BYSETPOS=0;BYDAY=MO",
	} {
		out = append(out, jsonAttack("the rule "+rrule, post, many, rule(rrule), 422),
			at(jsonAttack("a patch with the rule "+rrule, patch, one, fmt.Sprintf(`{"rrule":%q}`, rrule), 422), "1"))
	}
	for _, field := range []string{
		"PK", "GSI2PK", "version", "eventId", "hasExceptions", "exceptionsVersion", "lastStartUtc", "dueSetAt", "ttl",
		"icalUid", "modifiedFields", "recurrenceId", "nope",
	} {
		body := fmt.Sprintf(`{"title":"t",%q:1}`, field)
		out = append(out,
			at(jsonAttack("a patch of a series' "+field, patch, one, body, 422), "1"),
			at(jsonAttack("an occurrence's "+field, put, occurrence, body, 422), "1"),
			at(jsonAttack("a split's "+field, post, one+"/split", `{"date":"`+date+`","changes":`+body+`}`, 422), "1"))
	}
	return out
}

func TestDev_refusesHostileSeriesAndCalendarsAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	c := s.client("attacker")
	series := c.create("series", map[string]any{
		"title": "target", "startUtc": "2026-03-02T09:00:00Z", "endUtc": "2026-03-02T10:00:00Z", "startTzid": "UTC",
		"rrule": "FREQ=DAILY",
	})["masterId"].(string)
	s.waitUntilIdle()
	rows := s.scan()
	for _, a := range seriesAttacks(series, "20260303") {
		t.Run(a.name, func(t *testing.T) { require.NoError(t, a.refused(t.Context(), c)) })
	}
	s.waitUntilIdle()
	require.Empty(t, changes(rows, s.scan()), "rows that hostile requests changed")
	require.Empty(t, s.parked(), "what is parked")
	require.Empty(t, s.process().errors(), "errors logged: clients' mistakes are none")
}
