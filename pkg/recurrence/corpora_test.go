package recurrence_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
	"nexus/pkg/wallclock"
)

// corpusCase is one case of the recurrence corpora, see their README.
type corpusCase struct {
	ID           string    `json:"id"`
	Start        string    `json:"dtstart"`
	Zone         string    `json:"tzid"`
	Rule         string    `json:"rrule"`
	EXDates      []string  `json:"exdate"`
	RDates       []string  `json:"rdate"`
	Window       []*string `json:"window"`
	EndInclusive bool      `json:"end_inclusive"`
	Limit        *int      `json:"limit"`
	Expect       []string  `json:"expect"`
	ExpectUTC    []string  `json:"expect_utc"`
	Verdict      string    `json:"verdict"`
}

// corpus reads a file of the corpora; the test is skipped where they are not.
func corpus(t *testing.T, name string) []corpusCase {
	t.Helper()
	folder := os.Getenv("NEXUS_CORPORA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "corpora")
	}
	content, err := os.ReadFile(filepath.Join(folder, "recurrence", name))
	if err != nil {
		t.Skipf("no corpora here, NEXUS_CORPORA names their folder: %v", err)
	}
	var cases []corpusCase
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c corpusCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		cases = append(cases, c)
	}
	require.NoError(t, lines.Err())
	return cases
}

// local reads a local date or date-time, labelled UTC.
func local(t testing.TB, text string) time.Time {
	t.Helper()
	layout := "20060102T150405"
	if !strings.Contains(text, "T") {
		layout = "20060102"
	}
	at, err := time.Parse(layout, text)
	require.NoError(t, err)
	return at
}

// zoned returns the location of a case, nil if it floats.
func zoned(t testing.TB, name string) *time.Location {
	t.Helper()
	if name == "" {
		return nil
	}
	location, err := time.LoadLocation(name)
	require.NoError(t, err)
	return location
}

const tooMany = 5000

// answer expands a case and writes its occurrences as the corpora do: what the clock shows, and the instants.
func answer(t testing.TB, c corpusCase) (walls, instants []string, err error) {
	t.Helper()
	allDay := !strings.Contains(c.Start, "T")
	location := zoned(t, c.Zone)
	series, err := recurrence.Compile(recurrence.Spec{
		Rule: c.Rule, Start: local(t, c.Start), AllDay: allDay, Zone: location, RDates: c.RDates, EXDates: c.EXDates,
		Level: recurrence.General,
	})
	if err != nil {
		return nil, nil, err
	}
	instant := func(text string) time.Time {
		if location == nil {
			return local(t, text)
		}
		return wallclock.Resolve(local(t, text), location)
	}
	var from, to time.Time
	for i, edge := range c.Window {
		switch {
		case edge == nil:
		case i == 0:
			from = instant(*edge)
		default:
			to = instant(*edge)
			if c.EndInclusive {
				to = to.Add(time.Second)
			}
		}
	}
	limit := tooMany
	if c.Limit != nil && *c.Limit > 0 {
		limit = *c.Limit
	}
	for o := range series.Each(from, to) {
		layout, wall := "20060102T150405", o.Wall
		if allDay {
			layout = "20060102"
		}
		if location != nil {
			wall = wallclock.Wall(o.Start, location)
			instants = append(instants, o.Start.Format("20060102T150405"))
		}
		walls = append(walls, wall.Format(layout))
		if len(walls) == limit {
			break
		}
	}
	return walls, instants, nil
}

// exceptions are the cases in which Nexus does not answer what the corpora expect, with the reason.
var exceptions = map[string]string{
	"FREQ=MONTHLY;INTERVAL=0;BYDAY=1WE,3WE": "RFC 5545 §3.3.10: INTERVAL is a positive integer",
}

func TestSeries_answersTheCorporaAsTheyExpect(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rules.jsonl", "rules-in-the-wild.jsonl", "daylight-saving.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range corpus(t, name) {
				if _, ok := exceptions[c.Rule]; ok {
					continue
				}
				walls, instants, err := answer(t, c)
				if err != nil {
					t.Errorf("%s %s %s: %v", c.Start, c.Zone, c.Rule, err)
					continue
				}
				if strings.Join(walls, " ") != strings.Join(c.Expect, " ") {
					t.Errorf("%s %s %s window %v\nexpect %v\nanswer %v", c.Start, c.Zone, c.Rule, c.Window, c.Expect, walls)
				}
				if len(c.ExpectUTC) > 0 {
					require.Equal(t, c.ExpectUTC, instants, "%s %s", c.ID, c.Rule)
				}
			}
		})
	}
}
