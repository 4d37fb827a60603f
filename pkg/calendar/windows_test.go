package calendar_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/text/fold"
	"nexus/pkg/wallclock"
)

// moment is a time of a recorded answer: what it is, what the clock shows, the zone, the instant.
type moment [4]*string

func (m moment) reading(t *testing.T) time.Time {
	t.Helper()
	layout := "20060102T150405"
	if *m[0] == "d" {
		layout = "20060102"
	}
	at, err := time.Parse(layout, *m[1])
	require.NoError(t, err)
	return at
}

// recorded is the answer of another library about a window.
type recorded struct {
	File   string    `json:"ics"`
	Window [2]moment `json:"window"`
	Kinds  []string  `json:"kinds"`
	Expect []struct {
		Type, Summary string
		Start, End    moment
	} `json:"expect"`
}

// differences are the windows in which the agenda shows something else, by file and the window's start, each with what
// decides.
var differences = map[string]string{
	"d4dc82b9f4c7.ics 20200129T000000 20200130T000000": "RFC 5545 §3.8.1.11: CANCELLED says that the occurrence does " +
		"not take place; the recording shows it",
}

func TestImporter_showsWindowsOfAnImportInTheAgenda(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("asks for many windows")
	}
	content := files(t)
	lines, err := os.ReadFile(filepath.Join(corpora(t), "windows.jsonl"))
	require.NoError(t, err)
	benches := map[string]*fixture{}
	compared, differing := 0, map[string]bool{}
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var r recorded
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &r))
		if !slices.Contains(r.Kinds, "VEVENT") {
			continue // about alarms and journals, of which an agenda knows nothing
		}
		b := benches[r.File]
		if b == nil {
			b = setup(t)
			b.imports(ann, content[r.File])
			benches[r.File] = b
		}
		want := []string{}
		for _, e := range r.Expect {
			if e.Type == "VEVENT" { // to-dos are shown at their times, not as spans
				want = append(want, line(e.Summary, e.Start.reading(t), e.End.reading(t)))
			}
		}
		got := b.window(r)
		slices.Sort(want)
		name := r.File + " " + *r.Window[0][1] + " " + *r.Window[1][1]
		compared++
		if reason, known := differences[name]; known {
			differing[name] = true
			require.NotEqual(t, want, got, "%s: %s", name, reason)
			continue
		}
		if !slices.Equal(want, got) {
			t.Errorf("%s\nwant %q\ngot  %q", name, want, got)
		}
	}
	require.NoError(t, scanner.Err())
	require.Greater(t, compared, 100)
	require.Len(t, differing, len(differences))
}

func line(title string, start, end time.Time) string {
	return start.Format("20060102T150405") + " " + end.Format("20060102T150405") + " " + title
}

// window asks the agenda, in pieces, and compares readings where the window has no zone: then each event is read by its
// own clock.
func (b *fixture) window(r recorded) []string {
	t := b.t.(*testing.T)
	from, to := r.Window[0].reading(t), r.Window[1].reading(t)
	zone := time.UTC
	isZoned := r.Window[0][2] != nil
	if isZoned {
		var err error
		zone, err = wallclock.LoadLocation(*r.Window[0][2])
		b.NoError(err)
		from, to = item.Resolve(from, zone), item.Resolve(to, zone)
	}
	if !from.Before(to) {
		to = from.Add(time.Second)
	}
	found := map[string]string{}
	slack := 15 * time.Hour
	for at := from.Add(-slack); at.Before(to.Add(slack)); at = at.AddDate(1, 0, 0) {
		for _, e := range b.agenda(at, minTime(at.AddDate(1, 0, 0), to.Add(slack)), zone) {
			start, end := e.OccurrenceStart, e.OccurrenceEnd
			local := zone
			if tzid := e.Item().Str(product.AttrStartTzid); tzid != "" {
				var err error
				local, err = wallclock.LoadLocation(tzid)
				b.NoError(err)
			}
			// What a clock at the start shows, also at the end: as the recording does.
			shownStart, shownEnd := item.Wall(start, local), item.Wall(end, local)
			if !isZoned {
				start, end = shownStart, shownEnd
			}
			if start.Before(to) && (!start.Before(from) || end.After(from)) {
				found[e.Item().Key().String()] = line(e.Item().Str(entity.AttrTitle), shownStart, shownEnd)
			}
		}
	}
	out := []string{}
	for _, text := range found {
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (b *fixture) agenda(from, to time.Time, zone *time.Location) []query.Entry {
	queries := query.New(query.Config{Store: b.store, Registry: product.Registry(), Now: b.clock, Fold: fold.String})
	var all []query.Entry
	cursor := ""
	for {
		page, err := queries.Agenda(b.t.Context(), ann, query.AgendaQuery{
			From: from, To: to, Zone: zone.String(), Types: []string{product.TypeEvent}, Limit: 100, Cursor: cursor,
		})
		b.NoError(err)
		all = append(all, page.Entries...)
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}
