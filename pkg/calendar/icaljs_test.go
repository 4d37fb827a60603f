package calendar_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// question is a calendar for the other reader.
type question struct {
	Text string `json:"text"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
}

type reading struct {
	Events int     `json:"events"`
	Starts []int64 `json:"starts"`
}

// icalJS reads calendars with ical.js; it skips the test where that is not installed (make icaljs).
func icalJS(t *testing.T, questions []question) []reading {
	t.Helper()
	library := filepath.Join("..", "..", "bin", "ical.cjs")
	node, err := exec.LookPath("node")
	if _, missing := os.Stat(library); err != nil || missing != nil {
		t.Skip("ical.js is not installed: make icaljs")
	}
	input, err := json.Marshal(questions)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("icaljs", "read.cjs"), library)
	var out, complaints bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &complaints
	require.NoError(t, cmd.Run(), "%s", &complaints)
	var answers []reading
	require.NoError(t, json.Unmarshal(out.Bytes(), &answers), "%s", &complaints)
	require.Len(t, answers, len(questions))
	return answers
}

// starts are those of all events and occurrences, those that are cancelled left aside, in order.
func (b *fixture) starts(from, to time.Time) []int64 {
	list := []int64{}
	for _, o := range b.expand(ann, time.UTC, from, to) {
		isEvent := o.kind == product.TypeEvent || o.kind == entity.TypeInstance
		if isEvent && !o.start.Before(from) {
			list = append(list, o.start.Unix())
		}
	}
	slices.Sort(list)
	return list
}

func TestExport_showsAnotherProgramTheSameOccurrences(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts another program")
	}
	override := func(uid, at string, lines ...string) string {
		return vevent(uid, append([]string{"RECURRENCE-ID;TZID=" + at}, lines...)...)
	}
	from, to := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	var questions []question
	var want [][]int64
	ask := func(b *fixture, from, to time.Time) {
		questions = append(questions, question{string(b.export(ann).Text), from.Unix(), to.Unix()})
		want = append(want, b.starts(from, to))
	}
	for _, file := range [][]byte{
		text(vevent("a", "DTSTART;TZID=Europe/Berlin:20200110T090000", daily,
			"EXDATE;TZID=Europe/Berlin:20200111T090000,20250330T090000"),
			override("a", "Europe/Berlin:20200112T090000", "DTSTART;TZID=Europe/Berlin:20200112T113000"),
			override("a", "Europe/Berlin:20200113T090000", "DTSTART;TZID=Europe/Berlin:20200113T090000", "STATUS:CANCELLED")),
		text(vevent("a", "DTSTART;TZID=America/New_York:20200110T043000",
			"RRULE:FREQ=WEEKLY;BYDAY=SU,FR;UNTIL=20290101T000000Z", "RDATE;TZID=America/New_York:20200115T043000")),
		text(vevent("a", "DTSTART;TZID=Australia/Lord_Howe:20200110T090000", "RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=70")),
		text(vevent("a", "DTSTART;TZID=Africa/Casablanca:20200110T090000", "RRULE:FREQ=WEEKLY;COUNT=300")),
		text(vevent("a", "DTSTART;TZID=America/Sao_Paulo:20170110T090000", "RRULE:FREQ=MONTHLY;BYMONTHDAY=31")),
		text(vevent("a", "DTSTART;VALUE=DATE:20200228", "RRULE:FREQ=YEARLY", "EXDATE;VALUE=DATE:20240228"),
			vevent("b", "DTSTART;VALUE=DATE:20200229", "DTEND;VALUE=DATE:20200303")),
		text(
			vevent("a", "DTSTART:20200110T090000", "RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,TU;UNTIL=20240101T000000")),
		text(vevent("a", "DTSTART:20200110T090000Z", "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH")),
		// the start does not fit
		text(vevent("a", "DTSTART;TZID=Europe/Berlin:20200109T090000", "RRULE:FREQ=WEEKLY;COUNT=5;BYDAY=SU,TU")),
		text(vevent("a", starts, daily, "RDATE:20251214T150000Z", "EXDATE;TZID=Europe/Berlin:20251214T090000")),
	} {
		b := setup(t)
		b.Empty(b.imports(ann, file).Refused)
		ask(b, from, to)
	}
	// Ends of whole series, which only the product knows.
	for _, fields := range []item.Item{
		{"rrule": item.String("FREQ=DAILY"), "rruleUntil": item.String("2026-03-29T07:00:00Z")},
		{"rrule": item.String("FREQ=WEEKLY;COUNT=500"), "rruleUntil": item.String("2027-03-29T07:00:00Z"),
			"rdate": item.List{item.String("20260101"), item.String("20290101")}},
	} {
		b := setup(t)
		b.put(b.master(ann, "1", fields))
		ask(b, from, to)
	}
	for i, got := range icalJS(t, questions) {
		require.NotEmpty(t, want[i])
		// Left out of the cases is where ical.js leaves the standard: of a time that occurs twice it takes the second (RFC
		// 5545 §3.3.5: the first), and 29 February it moves to March (§3.3.10: ignored).
		require.Equal(t, want[i], got.Starts, questions[i].Text)
	}
}

func TestExport_ofTheCorpusIsReadByAnotherProgram(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts another program")
	}
	var questions []question
	var want []int
	for _, content := range files(t) {
		b := setup(t)
		b.imports(ann, content)
		exported := string(b.export(ann).Text)
		questions = append(questions, question{exported, 0, 0})
		want = append(want, strings.Count(exported, "BEGIN:VEVENT")+strings.Count(exported, "BEGIN:VTODO"))
	}
	for i, got := range icalJS(t, questions) {
		require.Equal(t, want[i], got.Events, questions[i].Text)
	}
}
