package calendar_test

import (
	"strings"
	"testing"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// Each of these is one harmless line, of one meaning.
func TestImporter_losesNoEventToOneHarmlessLine(t *testing.T) {
	t.Parallel()
	const day, at = "DTSTART;VALUE=DATE:20251210", "DTSTART;TZID=Europe/Berlin:20251210T093000"
	for name, c := range map[string]struct {
		lines []string
		like  []string // what means the same
	}{
		"empty rule": {[]string{at, "RRULE:"}, []string{at}},
		"the same part twice": {[]string{at, "RRULE:FREQ=DAILY;FREQ=DAILY;COUNT=3"},
			[]string{at, "RRULE:FREQ=DAILY;COUNT=3"}},
		"the start's hour": {[]string{at, "RRULE:FREQ=WEEKLY;BYHOUR=9;BYMINUTE=30;BYSECOND=0;COUNT=3"},
			[]string{at, "RRULE:FREQ=WEEKLY;COUNT=3"}},
		"an hour of a date": {[]string{day, "RRULE:FREQ=WEEKLY;BYHOUR=7;COUNT=3"},
			[]string{day, "RRULE:FREQ=WEEKLY;COUNT=3"}},
		"a known calendar": {[]string{at, "RRULE:RSCALE=GREGORIAN;FREQ=WEEKLY;SKIP=OMIT;COUNT=3"},
			[]string{at, "RRULE:FREQ=WEEKLY;COUNT=3"}},
		"two rules": {[]string{at, "RRULE:FREQ=MONTHLY;COUNT=3", "RRULE:FREQ=YEARLY"},
			[]string{at, "RRULE:FREQ=YEARLY", "RDATE;TZID=Europe/Berlin:20260110T093000,20260210T093000"}},
		"a birthday without a year": {[]string{
			"DTSTART;VALUE=DATE:16040229", "DTEND;VALUE=DATE:16040301", "RRULE:FREQ=YEARLY",
		},
			[]string{"DTSTART;VALUE=DATE:19040229", "RRULE:FREQ=YEARLY"}},
		"an end that is a date": {[]string{at, "DTEND;VALUE=DATE:20251211"},
			[]string{at, "DTEND;TZID=Europe/Berlin:20251211T000000"}},
		"an end on the day itself": {[]string{at, "DTEND;VALUE=DATE:20251210"}, []string{at}},
		"an end that is a time":    {[]string{day, "DTEND:20251211T090000"}, []string{day, "DTEND;VALUE=DATE:20251212"}},
		"a zone in small letters":  {[]string{"DTSTART;TZID=europe/berlin:20251210T093000"}, []string{at}},
		"a zone that is an offset": {[]string{"DTSTART;TZID=GMT+0200:20251210T093000"},
			[]string{"DTSTART;TZID=Etc/GMT-2:20251210T093000"}},
		"a zone as Windows shows it": {[]string{`DTSTART;TZID="(UTC+01:00) Amsterdam, Berlin, Bern":20251210T093000`},
			[]string{"DTSTART;TZID=Europe/Amsterdam:20251210T093000"}},
		"a zone of the United States": {[]string{`DTSTART;TZID="(UTC-08:00) Pacific Time (US & Canada)":20251210T093000`},
			[]string{"DTSTART;TZID=America/Los_Angeles:20251210T093000"}},
		"a long title": {[]string{at, "SUMMARY:" + strings.Repeat("ü", 501)},
			[]string{at, "SUMMARY:" + strings.Repeat("ü", 500)}},
		"a long description": {[]string{at, "DESCRIPTION:" + strings.Repeat("ü", 5121)},
			[]string{at, "DESCRIPTION:" + strings.Repeat("ü", 5120)}},
		"a long place": {[]string{at, "LOCATION:" + strings.Repeat("ü", 501)},
			[]string{at, "LOCATION:" + strings.Repeat("ü", 500)}},
		"a title with a line of its own": {[]string{at, `SUMMARY:one\ntwo`}, []string{at, "SUMMARY:one two"}},
		"a place that reads backwards":   {[]string{at, "LOCATION:a\u202eb"}, []string{at, "LOCATION:a b"}},
		"a tag with a control character": {[]string{at, "CATEGORIES:a\u0085b"}, []string{at, "CATEGORIES:a b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := b.imports(ann, text(vevent("x", c.lines...)))
			b.Empty(r.Refused)
			b.NotEmpty(r.LeftOut, "it is listed")
			b.Empty(b.imports(bob, text(vevent("x", c.like...))).Refused)
			b.Equal(b.shownFields(bob), b.shownFields(ann))
			exported := b.export(ann).Text
			before := b.rows()
			b.Equal(1, b.imports(ann, exported).Unchanged)
			b.Equal(before, b.rows())
		})
	}
}

// shownFields returns the fields that a user has set, of all items.
func (b *fixture) shownFields(user string) (all []item.Item) {
	b.NoError(b.store.Walk(b.t.Context(), 0, 1, func(it item.Item) error {
		kind := product.Registry().ByName(it.Str(entity.AttrType))
		if it.Str(item.AttrPK) != entity.UserPK(user) || kind == nil {
			return nil
		}
		fields := item.Item{}
		for _, f := range kind.Fields {
			if f.Origin == entity.FromClient {
				fields.Set(f.Name, it[f.Name])
			}
		}
		all = append(all, fields)
		return nil
	}))
	return all
}

func TestImporter_refusesTwoRulesWithoutEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.imports(ann, text(vevent("x", starts, "RRULE:FREQ=MONTHLY", "RRULE:FREQ=YEARLY")))
	b.Len(r.Refused, 1)
	b.Contains(r.Refused[0].Reason, "more than one RRULE")
}
