package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExpandCommand_showsTheReadingOfTheClockAndTheInstant(t *testing.T) {
	t.Parallel()
	code, results, messages := nexus(t, "expand", "--dtstart", "20150306T023000", "--tzid", "America/New_York",
		"--rrule", "FREQ=DAILY", "--from", "20150307", "--to", "20150310")
	require.Equal(t, exitDone, code, messages)
	require.Equal(t,
		"20150307T023000  20150307T073000Z\n20150308T033000  20150308T073000Z\n20150309T023000  20150309T063000Z\n", results)

	code, results, _ = nexus(t, "expand", "--dtstart", "20250301", "--rrule", "FREQ=WEEKLY;COUNT=3", "--exdate",
		"20250308", "--rdate", "20250310", "--json")
	require.Equal(t, exitDone, code)
	require.JSONEq(t, `{"occurrences":["20250301","20250310","20250315"]}`, results)
}

func TestExpandCommand_refusesWithTheReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"neither batch nor rule": {[]string{"expand"}, exitUsage, "--batch"},
		"both":                   {[]string{"expand", "--batch", "--rrule", "FREQ=DAILY"}, exitUsage, "standard input"},
		"no end": {[]string{"expand", "--dtstart", "20250301", "--rrule", "FREQ=DAILY"}, exitFailed,
			"limit is needed"},
		"unknown part": {[]string{"expand", "--dtstart", "20250301", "--rrule", "FREQ=DAILY;BYX=1"}, exitFailed, "BYX"},
		"unknown zone": {
			[]string{"expand", "--dtstart", "20250301T000000", "--tzid", "EST", "--rrule", "FREQ=DAILY"}, exitFailed, "tzid"},
	} {
		code, results, messages := nexus(t, c.args...)
		require.Equal(t, c.code, code, name)
		require.Empty(t, results, name)
		require.Contains(t, messages, c.says, name)
	}
}

func TestExpandCommand_answersEveryLineOfABatchInOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		question, answer string
		withStart        bool
	}{
		"zoned": {question: `{"dtstart":"20151031T090000","tzid":"America/New_York","rrule":"FREQ=DAILY;COUNT=2"}`,
			answer: `{"occurrences":["20151031T090000","20151101T090000"],"utc":["20151031T130000Z","20151101T140000Z"]}`},
		"floating": {question: `{"dtstart":"20150306T023000","tzid":null,"rrule":"FREQ=HOURLY;COUNT=2","rdate":[],` +
			`"exdate":[],"window":null,"limit":null}`, answer: `{"occurrences":["20150306T023000","20150306T033000"]}`},
		"whole days": {
			question: `{"dtstart":"20150306","tzid":null,"rrule":"FREQ=DAILY","window":["20150307","20150309"]}`,
			answer:   `{"occurrences":["20150307","20150308"]}`,
		},
		"limit is last": {question: `{"dtstart":"20150306","rrule":"FREQ=DAILY","exdate":["20150306"],"limit":2}`,
			answer: `{"occurrences":["20150307","20150308"]}`},
		"open window": {question: `{"dtstart":"20150306","rrule":"FREQ=DAILY","window":["20160101",null],"limit":1}`,
			answer: `{"occurrences":["20160101"]}`},
		"times": {question: `{"dtstart":"20150306T090000","tzid":"UTC","rrule":"FREQ=DAILY;COUNT=3",` +
			`"rdate":["20150307T100000"],"exdate":["20150308T090000"]}`, answer: `{"occurrences":["20150306T090000",` +
			`"20150307T090000","20150307T100000"],"utc":["20150306T090000Z","20150307T090000Z","20150307T100000Z"]}`},
		"nothing": {question: `{"dtstart":"20150306","rrule":"FREQ=DAILY;UNTIL=20140101"}`, answer: `{"occurrences":[]}`},
		"start left out": {question: `{"dtstart":"20150306","rrule":"FREQ=WEEKLY;BYDAY=MO;COUNT=2"}`,
			answer: `{"occurrences":["20150309","20150316"]}`},
		"start counted": {question: `{"dtstart":"20150306","rrule":"FREQ=WEEKLY;BYDAY=MO;COUNT=2"}`,
			answer: `{"occurrences":["20150306","20150309"]}`, withStart: true},
		"unbounded": {question: `{"dtstart":"20150306","rrule":"FREQ=DAILY","window":["20150307",null]}`,
			answer: `{"error":"rrule: has no end, so a window or a limit is needed"}`},
		"too many": {question: `{"dtstart":"20150306T000000","rrule":"FREQ=SECONDLY;UNTIL=20200101"}`,
			answer: `{"error":"the answer has more than 50000 occurrences: a narrower window or a limit is needed"}`},
		"not JSON": {question: `{"dtstart":`, answer: ``},
		"half a window": {question: `{"dtstart":"20150306","rrule":"FREQ=DAILY","window":["20150307"]}`,
			answer: `{"error":"window: must be two local times, [start, end)"}`},
		"no local time": {
			question: `{"dtstart":"2015-03-06","rrule":"FREQ=DAILY","limit":1}`,
			answer: `{"error":"dtstart: \"2015-03-06\" is not a local time such as 20250306T023000, nor a date such as ` +
				`20250306"}`,
		},
		"date in a zone": {question: `{"dtstart":"20150306","tzid":"UTC","rrule":"FREQ=DAILY","limit":1}`,
			answer: `{"error":"tzid: a series of whole days is in no zone"}`},
		"impossible": {question: `{"dtstart":"20150306","rrule":"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30","limit":1}`,
			answer: `{"error":"RRULE: never occurs, or too rarely to be found"}`},
		"members unknown": {question: `{"id":7,"dtstart":"20150306","rrule":"FREQ=DAILY","limit":1}`,
			answer: `{"occurrences":["20150306"]}`},
		"a line too long": {question: `{"dtstart":"` + strings.Repeat("2", 2<<20) + `"}`,
			answer: `{"error":"the line is longer than 1048576 bytes"}`},
		"nothing asked of": {question: `{"dtstart":"20150306","rrule":"FREQ=DAILY","limit":0}`, answer: `{"occurrences":[]}`},
	} {
		var out bytes.Buffer
		in := strings.NewReader(c.question + "\n\n" + `{"dtstart":"20150306","rrule":"FREQ=DAILY;COUNT=1"}`)
		require.NoError(t, expandLines(t.Context(), in, &out, c.withStart), name)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		require.Len(t, lines, 2, name)
		if c.answer == "" {
			require.Contains(t, lines[0], `{"error":"the line is no question`, name)
		} else {
			require.JSONEq(t, c.answer, lines[0], name)
		}
		require.JSONEq(t, `{"occurrences":["20150306"]}`, lines[1], name)
	}
}
