package calendar_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nexus/pkg/wallclock"
)

// startsOf are the starts and titles that ann is shown in the winter of 2025.
func (b *fixture) startsOf(user string) []string {
	b.t.Helper()
	zone, err := wallclock.LoadLocation("Europe/Berlin")
	b.NoError(err)
	from := time.Date(2025, 12, 1, 0, 0, 0, 0, zone)
	var out []string
	for _, o := range b.expand(user, zone, from, from.AddDate(0, 2, 0)) {
		out = append(out, o.start.In(zone).Format("0102T1504 ")+o.title)
	}
	slices.Sort(out)
	return out
}

func TestImporter_splitsASeriesAtAnOverrideOfAllThatFollows(t *testing.T) {
	t.Parallel()
	const weekly = "RRULE:FREQ=WEEKLY;COUNT=6"
	at := func(name, value string) string { return name + ";TZID=Europe/Berlin:" + value }
	later := "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20251224T090000"
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"another time of day": {
			[]string{
				vevent("s", starts, weekly, "SUMMARY:a", at("EXDATE", "20260107T090000")),
				vevent("s", later, at("DTSTART", "20251224T110000"), "SUMMARY:b"),
			},
			[]string{"0114T1100 b", "1210T0900 a", "1217T0900 a", "1224T1100 b", "1231T1100 b"},
		},
		"another day of the week": {
			[]string{vevent("s", starts, weekly, "SUMMARY:a"), vevent("s", later, at("DTSTART", "20251225T090000"), "SUMMARY:b"),
				vevent("s", at("RECURRENCE-ID", "20260107T090000"), at("DTSTART", "20260108T180000"), "SUMMARY:c")},
			[]string{"0101T0900 b", "0108T1800 c", "0115T0900 b", "1210T0900 a", "1217T0900 a", "1225T0900 b"},
		},
		"twice": {
			[]string{vevent("s", starts, weekly, "SUMMARY:a"), vevent("s", later, at("DTSTART", "20251224T110000"), "SUMMARY:b"),
				vevent("s", "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260107T090000",
					at("DTSTART", "20260107T120000"), "SUMMARY:c")},
			[]string{"0107T1200 c", "0114T1200 c", "1210T0900 a", "1217T0900 a", "1224T1100 b", "1231T1100 b"},
		},
		"the end": {
			[]string{
				vevent("s", starts, weekly, "SUMMARY:a"),
				vevent("s", later, at("DTSTART", "20251224T090000"), "SUMMARY:b", "STATUS:CANCELLED"),
			},
			[]string{"1210T0900 a", "1217T0900 a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			file := text(c.lines...)
			r := b.imports(ann, file)
			b.Empty(r.Refused)
			b.Len(r.LeftOut, strings.Count(string(file), "THISANDFUTURE"), "each RANGE is reported: %+v", r.LeftOut)
			slices.Sort(c.want)
			b.Equal(c.want, b.startsOf(ann))
			before := b.rows()
			again := b.imports(ann, file)
			b.Zero(again.Created+again.Updated+len(again.Refused), "%+v", again)
			exported := b.export(ann).Text
			back := b.imports(ann, exported)
			b.Zero(back.Created+back.Updated+len(back.Refused), "%+v", back)
			b.Equal(before, b.rows())
			b.imports(bob, exported)
			b.Equal(c.want, b.startsOf(bob))
		})
	}
}

func TestImporter_refusesASeriesThatCannotBeSplitAsAWhole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{
		"RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20251225T090000",
		"RECURRENCE-ID;RANGE=THISANDPRIOR;TZID=Europe/Berlin:20251224T090000",
	} {
		r := b.imports(ann, text(vevent("s", starts, "RRULE:FREQ=WEEKLY", "SUMMARY:a"),
			vevent("s", id, "DTSTART;TZID=Europe/Berlin:20251224T110000", "SUMMARY:b")))
		b.Zero(r.Created)
		b.Len(r.Refused, 2, "%+v", r)
	}
	b.Empty(b.startsOf(ann))
}
