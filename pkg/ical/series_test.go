package ical_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/product"
)

const berlinNine = "DTSTART;TZID=Europe/Berlin:20250106T090000\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY"

// mondays has no occurrence on 1 February 2025.
const mondays = berlinNine + ";BYDAY=MO"

func TestMap_readsDatesOfASeriesAsLocalDates(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"EXDATE;TZID=Europe/Berlin:20250107T090000,20250108T090000": "20250107 20250108",
		"EXDATE:20250107T080000Z":                                   "20250107",
		"EXDATE:20250707T070000Z":                                   "20250707",
		"EXDATE:20250107T090000":                                    "20250107",
		"EXDATE;VALUE=DATE:20250107,20250107":                       "20250107",
		"EXDATE;TZID=Asia/Tokyo:20250107T170000":                    "20250107",
		"EXDATE:20250107T090000Z":                                   "",
		"EXDATE:":                                                   "",
	} {
		d := event(t, berlinNine, lines)
		require.Equal(t, entity.TypeMaster, d.Kind)
		require.Equal(t, want, strings.Join(d.ExDates, " "), lines)
		if want != "" {
			d = event(t, berlinNine, strings.ReplaceAll(lines, "EXDATE", "RDATE"))
			require.Equal(t, want, strings.Join(d.RDates, " "), lines)
		}
	}
	midnight := event(t, "DTSTART;TZID=Europe/Berlin:20190304T003000", "RRULE:FREQ=WEEKLY;COUNT=8",
		"EXDATE:20190310T233000Z")
	require.Equal(t, []string{"20190311"}, midnight.ExDates)
	days := event(t, "DTSTART:20250101", "RRULE:FREQ=DAILY", "EXDATE:20250102,20250103T000000Z", "RDATE:20250501")
	require.Equal(t, []string{"20250102", "20250103"}, days.ExDates)
	require.Equal(t, []string{"20250501"}, days.RDates)
	gap := event(t, "DTSTART;TZID=America/New_York:20250308T023000", "RRULE:FREQ=DAILY", "EXDATE:20250309T073000Z")
	require.Equal(t, []string{"20250309"}, gap.ExDates)
}

func TestMap_takesAnRDATEAtAnotherTimeForAnInstance(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"RDATE;TZID=Europe/Berlin:20250201T150000": "startUtc=2025-02-01T14:00:00Z " +
			"endUtc=2025-02-01T15:00:00Z startTzid=Europe/Berlin",
		"RDATE:20250201T140000Z": "startUtc=2025-02-01T14:00:00Z endUtc=2025-02-01T15:00:00Z startTzid=Europe/Berlin",
		"RDATE;VALUE=PERIOD;TZID=Europe/Berlin:20250201T090000/PT3H": "startUtc=2025-02-01T08:00:00Z " +
			"endUtc=2025-02-01T11:00:00Z startTzid=Europe/Berlin",
		"RDATE;VALUE=PERIOD;TZID=Europe/Berlin:20250201T090000/20250201T120000": "startUtc=2025-02-01T08:00:00Z " +
			"endUtc=2025-02-01T11:00:00Z startTzid=Europe/Berlin",
		"RDATE;VALUE=PERIOD:20250201T080000Z/20250201T090000Z": "",
		"RDATE;TZID=Europe/Berlin:20250201T090000":             "",
	} {
		result := mapped(t, "BEGIN:VEVENT", "UID:u", mondays, line, "END:VEVENT")
		require.Empty(t, result.Refused)
		require.Equal(t, []string{"20250201"}, result.Drafts[0].RDates)
		require.Empty(t, result.Drafts[0].ExDates)
		if want == "" {
			require.Len(t, result.Drafts, 1, line)
			continue
		}
		require.Len(t, result.Drafts, 2, line)
		require.Equal(t, entity.TypeInstance, result.Drafts[1].Kind)
		require.Equal(t, "20250201", result.Drafts[1].Date)
		require.Equal(t, want, times(result.Drafts[1]))
	}
	require.Contains(t, refused(t, "VEVENT", berlinNine, "RDATE;VALUE=PERIOD:20250201T080000Z/20250101T080000Z"),
		"does not end after")
	once := event(t, "DTSTART:20250101T090000Z", "RDATE:20250301T090000Z")
	require.Equal(t, "FREQ=DAILY;COUNT=1", once.RRule)
}

func TestMap_givesADayOneOccurrenceWhateverItsDatesSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lines, ex, r, kinds string }{
		// An occurrence that was moved within its day.
		{"EXDATE:20250113T080000Z|RDATE:20250113T140000Z", "", "20250113", "MASTER INSTANCE"},
		// A second one on a day of the rule; a second one on another day.
		{"RDATE:20250113T140000Z", "", "", "MASTER"},
		{"RDATE:20250114T140000Z,20250114T150000Z", "", "20250114", "MASTER INSTANCE"},
		// The same time, longer.
		{"RDATE;VALUE=PERIOD:20250113T080000Z/PT3H", "", "20250113", "MASTER INSTANCE"},
		// What is added is taken away again, by its time and by its day.
		{"RDATE:20250114T140000Z|EXDATE:20250114T140000Z", "", "", "MASTER"},
		{"RDATE:20250114T080000Z|EXDATE:20250114T080000Z", "20250114", "20250114", "MASTER"},
		{"RDATE:20250114T080000Z|EXDATE;VALUE=DATE:20250114", "20250114", "20250114", "MASTER"},
	} {
		result := mapped(t,
			append(append([]string{"BEGIN:VEVENT", "UID:u", mondays}, strings.Split(c.lines, "|")...), "END:VEVENT")...)
		require.Empty(t, result.Refused)
		require.Equal(t, c.kinds, strings.Join(kinds(result), " "), c.lines)
		require.Equal(t, c.ex, strings.Join(result.Drafts[0].ExDates, " "), c.lines)
		require.Equal(t, c.r, strings.Join(result.Drafts[0].RDates, " "), c.lines)
	}
}

func TestMap_putsInstancesAfterTheirSeriesOnItsDates(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"RECURRENCE-ID;TZID=Europe/Berlin:20250107T090000": "20250107",
		"RECURRENCE-ID:20250107T080000Z":                   "20250107",
		"RECURRENCE-ID:20250707T070000Z":                   "20250707",
		"RECURRENCE-ID;VALUE=DATE:20250107":                "20250107",
		"RECURRENCE-ID:20250107T090000":                    "20250107",
	} {
		result := mapped(t,
			"BEGIN:VEVENT", "UID:s", id, "DTSTART:20250109T080000Z", "SUMMARY:moved", "END:VEVENT",
			"BEGIN:VEVENT", "UID:other", "DTSTART:20250101", "END:VEVENT",
			"BEGIN:VEVENT", "UID:s", berlinNine, "END:VEVENT")
		require.Empty(t, result.Refused)
		require.Equal(t, []string{"EVENT", "MASTER", "INSTANCE"}, kinds(result))
		instance := result.Drafts[2]
		require.False(t, instance.Orphan)
		require.Equal(t, want, instance.Date, id)
		require.Equal(t, "moved", instance.Fields.Str("title"))
		require.Equal(t, want, instance.Original.Reading.Format("20060102"))
	}
}

func kinds(r ical.Result) []string {
	var list []string
	for _, d := range r.Drafts {
		list = append(list, d.Kind)
	}
	return list
}

func TestMap_reportsAnInstanceWithoutItsSeriesAsAnOrphan(t *testing.T) {
	t.Parallel()
	result := mapped(t, "BEGIN:VEVENT", "UID:s", "RECURRENCE-ID:20250107T080000Z", "DTSTART:20250109T080000Z",
		"END:VEVENT",
		"BEGIN:VEVENT", "UID:s", "RECURRENCE-ID:20250108T080000Z", "DTSTART:20250109T080000Z", "END:VEVENT")
	require.Equal(t, []string{"INSTANCE", "INSTANCE"}, kinds(result))
	first, second := result.Drafts[0], result.Drafts[1]
	require.True(t, first.Orphan)
	require.Equal(t, "20250107", first.Original.DateIn("Europe/Berlin"))
	require.Equal(t, "20250106", first.Original.DateIn("Pacific/Honolulu"))
	require.Equal(t, product.TypeEvent, first.Alone().Kind)
	require.NotEqual(t, first.Alone().UID, second.Alone().UID)
}

func TestMap_takesTheLatestRevision(t *testing.T) {
	t.Parallel()
	revision := func(title, head string) string {
		return "BEGIN:VEVENT\r\nUID:u\r\nDTSTART:20250101\r\nSUMMARY:" + title + "\r\n" + head + "\r\nEND:VEVENT"
	}
	for _, c := range []struct{ first, second, want string }{
		{"SEQUENCE:2", "SEQUENCE:1\r\nDTSTAMP:20250101T000000Z", "first"},
		{"SEQUENCE:1", "SEQUENCE:2", "second"},
		{"DTSTAMP:20250102T000000Z", "DTSTAMP:20250101T000000Z", "first"},
		{"LAST-MODIFIED:20250102T000000Z", "LAST-MODIFIED:20250101T000000Z", "first"},
		{"X-A:1", "X-A:1", "second"},
	} {
		result := mapped(t, revision("first", c.first), revision("second", c.second))
		require.Len(t, result.Drafts, 1)
		require.Equal(t, c.want, result.Drafts[0].Fields.Str("title"), c.first)
		require.Len(t, result.Refused, 1)
		require.Contains(t, result.Refused[0].Reason, "later revision")
	}
	both := mapped(t,
		"BEGIN:VEVENT", "UID:u", "SEQUENCE:1", mondays, "RDATE:20250201T140000Z", "END:VEVENT",
		"BEGIN:VEVENT", "UID:u", "SEQUENCE:2", mondays, "RDATE:20250301T140000Z", "END:VEVENT",
		"BEGIN:VEVENT", "UID:u", "RECURRENCE-ID:20250301T080000Z", "DTSTART:20250302", "END:VEVENT")
	require.Equal(t, []string{"MASTER", "INSTANCE"}, kinds(both))
	require.Equal(t, "startDate=2025-03-02 endDate=2025-03-03", times(both.Drafts[1]),
		"what is written counts before what follows from an RDATE")
	require.Len(t, both.Refused, 1)
}

func TestMap_cancelsByACancellingCalendar(t *testing.T) {
	t.Parallel()
	result := ical.Map(product.Registry(), decode(t,
		text("BEGIN:VCALENDAR", "METHOD:CANCEL", "BEGIN:VEVENT", "UID:u", "DTSTART:20250101", "END:VEVENT", "END:VCALENDAR")))
	require.Equal(t, "CANCELLED", result.Drafts[0].Fields.Str("status"))
}

func TestMap_refusesTooManyDates(t *testing.T) {
	t.Parallel()
	var dates []string
	for month := range 24 {
		for day := range 28 {
			dates = append(dates, "20"+string(rune('1'+month/12))+"0"+twoDigits(month%12+1)+twoDigits(day+1))
		}
	}
	for _, name := range []string{"RDATE", "EXDATE"} {
		require.Contains(t,
			refused(t, "VEVENT", "DTSTART:20250101", "RRULE:FREQ=DAILY", name+":"+strings.Join(dates, ",")), name)
		require.NotEmpty(t, event(t, "DTSTART:20250101", "RRULE:FREQ=DAILY", name+":"+strings.Join(dates[:500], ",")))
	}
}

func twoDigits(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }

func TestMap_takesAnInstanceOutsideTheRuleForAnOccurrence(t *testing.T) {
	t.Parallel()
	override := func(date, more string) string {
		return "BEGIN:VEVENT\r\nUID:u\r\nRECURRENCE-ID;TZID=Europe/Berlin:" + date +
			"T090000\r\nDTSTART;TZID=Europe/Berlin:" + date + "T100000\r\n" + more + "END:VEVENT"
	}
	result := mapped(t, "BEGIN:VEVENT", "UID:u", mondays+";COUNT=3", "EXDATE;TZID=Europe/Berlin:20250113T090000",
		"END:VEVENT",
		override("20250201", ""), override("20250113", ""), override("20250106", ""),
		override("20250301", "STATUS:CANCELLED\r\n"))
	require.Equal(t, []string{"20250201"}, result.Drafts[0].RDates)
	require.Len(t, result.Drafts, 5)
}
