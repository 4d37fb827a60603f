package ical_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
)

func property(t *testing.T, line string) ical.Property {
	t.Helper()
	document := decode(t, text("BEGIN:VCALENDAR", line, "END:VCALENDAR"))
	require.Empty(t, document.Calendars[0].Faults)
	require.Len(t, document.Calendars[0].Properties, 1)
	p := document.Calendars[0].Properties[0]
	p.Line = 0
	return p
}

func TestParseLine_takesAContentLineApart(t *testing.T) {
	t.Parallel()
	param := func(name string, values ...string) ical.Param { return ical.Param{Name: name, Values: values} }
	for line, want := range map[string]ical.Property{
		"SUMMARY:a:b;c,d": {Name: "SUMMARY", Value: "a:b;c,d"},
		"summary:":        {Name: "SUMMARY"},
		`DTSTART;TZID="Canberra, Melbourne":X`: {Name: "DTSTART",
			Params: []ical.Param{param("TZID", "Canberra, Melbourne")}, Value: "X"},
		`ATTENDEE;CN="Doe, John";X=1:mailto:a@b`: {Name: "ATTENDEE",
			Params: []ical.Param{param("CN", "Doe, John"), param("X", "1")}, Value: "mailto:a@b"},
		`A;MEMBER="mailto:a","mailto:b",c:v`: {Name: "A",
			Params: []ical.Param{param("MEMBER", "mailto:a", "mailto:b", "c")}, Value: "v"},
		`A;CN=George Herman ^'Babe^' Ruth^nx^^y:v`: {Name: "A",
			Params: []ical.Param{param("CN", "George Herman \"Babe\" Ruth\nx^y")}, Value: "v"},
		"A;X=:v":                          {Name: "A", Params: []ical.Param{param("X", "")}, Value: "v"},
		`D;ALTREP="data:text/html,a":v`:   {Name: "D", Params: []ical.Param{param("ALTREP", "data:text/html,a")}, Value: "v"},
		"SUMMARY:fol\r\n ded\r\n\t twice": {Name: "SUMMARY", Value: "folded twice"},
		"DTSTART;TZID=A:\r\n 2020":        {Name: "DTSTART", Params: []ical.Param{param("TZID", "A")}, Value: "2020"},
		"SUMMARY:one\r\n\r\n two":         {Name: "SUMMARY", Value: "onetwo"},
		"SUMMARY:\xc3\r\n \xa4":           {Name: "SUMMARY", Value: "ä"},
		"SUMMARY:\xe4\x00\x07":            {Name: "SUMMARY", Value: "\uFFFD  "},
	} {
		require.Equal(t, want, property(t, line), line)
	}
}

func TestDecode_skipsOnlyALineThatIsNoContentLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"no colon", "l Latham;X=1:v", ":v", ";A=1:v", "A;B:v", "A;B=1", `A;B="open:v`, `A;B="x"y:v`, `A;B="x"`, "END:VTODO",
		"A:" + strings.Repeat("x", 300_000), "A" + strings.Repeat(";B=1", 65) + ":v",
		"A;B=" + strings.Repeat(",", 2000) + ":v",
	} {
		document := decode(t, text("BEGIN:VCALENDAR", "X-A:1", line, "X-B:2", "END:VCALENDAR"))
		c := document.Calendars[0]
		require.Len(t, c.Properties, 2, line[:min(len(line), 40)])
		require.Len(t, c.Faults, 1)
		require.Equal(t, 3, c.Faults[0].Line)
		require.NotEmpty(t, c.Faults[0].Reason)
	}
}

func TestDecode_closesAndReportsComponentsWithoutEnd(t *testing.T) {
	t.Parallel()
	document := decode(t,
		text("BEGIN:VCALENDAR", "BEGIN:VEVENT", "BEGIN:VALARM", "A:1", "END:VEVENT", "BEGIN:VEVENT", "A:2"))
	c := document.Calendars[0]
	require.Len(t, c.Children, 2)
	require.Equal(t, "END", c.Children[0].Children[0].Faults[0].Name)
	require.Empty(t, c.Children[0].Faults)
	require.Equal(t, "END", c.Children[1].Faults[0].Name)
	require.Equal(t, 6, c.Children[1].Line)
	require.Equal(t, "END", c.Faults[0].Name)
}

func TestDecode_refusesWhatIsNoCalendar(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		"", "hello", "\xff\xfeB\x00", "BEGIN:VEVENT\r\nEND:VEVENT\r\n", strings.Repeat("x\n", 2000),
	} {
		_, err := ical.Decode([]byte(content), ical.RequestLimits())
		require.ErrorIs(t, err, ical.ErrNotCalendar, "%.20q", content)
	}
}

func TestDecode_readsEveryLineEndAndTheByteOrderMark(t *testing.T) {
	t.Parallel()
	want := decode(t, calendar("BEGIN:VEVENT", "SUMMARY:a\r\n b", "END:VEVENT"))
	for _, end := range []string{"\n", "\r", "\r\n\r\n", "\r\r\n"} {
		content := bytes.ReplaceAll(calendar("BEGIN:VEVENT", "SUMMARY:a\r\n b", "END:VEVENT"), []byte("\r\n"), []byte(end))
		got := decode(t, append([]byte("\xef\xbb\xbf"), content...))
		require.Empty(t, sameTree(want, got), "%q", end)
	}
}

func TestDecode_holdsItsLimits(t *testing.T) {
	t.Parallel()
	event := "BEGIN:VEVENT\r\nEND:VEVENT\r\n"
	for what, content := range map[string]string{
		"bytes":                  strings.Repeat(" ", 5<<20),
		"components":             strings.Repeat(event, 1001),
		"components of any kind": "BEGIN:VEVENT\r\n" + strings.Repeat("BEGIN:X\nEND:X\n", 40_000),
		"levels of components":   strings.Repeat("BEGIN:VEVENT\r\n", 9),
		"lines":                  strings.Repeat("A:\n", 200_000),
	} {
		_, err := ical.Decode([]byte("BEGIN:VCALENDAR\r\n"+content), ical.RequestLimits())
		var limit *ical.LimitError
		require.ErrorAs(t, err, &limit, what)
		require.Equal(t, what, limit.What)
	}
	decode(t, calendar(strings.Repeat(event, 999)+"BEGIN:VEVENT\r\nEND:VEVENT"))
}

func TestEncode_foldsAt75OctetsAndNeverInsideACharacter(t *testing.T) {
	t.Parallel()
	for width := range 90 {
		c := &ical.Component{Name: "VCALENDAR"}
		value := strings.Repeat("x", width) + strings.Repeat("ä€😀", 60)
		c.AddText("SUMMARY", value)
		encoded := ical.Encode(c)
		for _, line := range strings.SplitAfter(string(encoded), "\r\n") {
			require.LessOrEqual(t, len(strings.TrimSuffix(line, "\r\n")), 75)
			require.True(t, utf8.ValidString(line))
		}
		require.Equal(t, value, decode(t, encoded).Calendars[0].Text("SUMMARY"))
	}
}

func TestEscape_keepsTexts(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", `a\nb`, "a\nb", `C:\new;x,y`, `\`, `\\`, "\"quoted\"", "ends in \\\n"} {
		require.Equal(t, s, ical.Unescape(ical.Escape(s)))
		require.Equal(t, []string{s, s}, ical.SplitText(ical.Escape(s)+","+ical.Escape(s)))
	}
	require.Equal(t, "a\nb\nc", ical.Unescape(`a\nb\Nc`))
	require.Equal(t, `"x":\q\`, ical.Unescape(`\"x\"\:\q\`))
	require.Equal(t, `one\ntwo`, ical.Escape("one\r\ntwo"))
}

func TestEncode_keepsUnknownPropertiesParametersAndTheirOrder(t *testing.T) {
	t.Parallel()
	content := calendar("X-ZZ;B=2;A=\"1,2\":v", "X-AA:w", "X-ZZ:again", "BEGIN:X-THING", "FOO;BAR=\"a:b\",c:\\n",
		"END:X-THING")
	require.Equal(t, string(content), string(ical.Encode(decode(t, content).Calendars...)))
}

func TestEncode_keepsEveryFileOfTheCorpus(t *testing.T) {
	t.Parallel()
	for name, content := range corpus(t) {
		first := decode(t, content)
		encoded := ical.Encode(first.Calendars...)
		second := decode(t, encoded)
		require.Empty(t, sameTree(first, second), name)
		require.Equal(t, encoded, ical.Encode(second.Calendars...), name)
		for _, line := range bytes.Split(encoded, []byte("\r\n")) {
			require.LessOrEqual(t, len(line), 75, name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nA;B=\"c\";D=e,^n:f\\,\n g\nEND:VEVENT\nEND:VCALENDAR"))
	f.Add([]byte("\xef\xbb\xbfBEGIN:VCALENDAR\r\r\n \tX"))
	f.Add([]byte("BEGIN:VCALENDAR\rA;B=\"c\" d:e\rEND:X\r\x00\xff"))
	f.Add(calendar("BEGIN:VEVENT\r\nUID:1\r\nDTSTART:2025\xff101\r\nEND:VEVENT"))
	for i := range 3 {
		f.Add(calendar(fmt.Sprintf("BEGIN:VEVENT\r\nUID:%d\r\nDTSTART:20250101\r\nEND:VEVENT", i)))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		first, err := ical.Decode(content, ical.RequestLimits())
		if err != nil {
			return
		}
		second, err := ical.Decode(ical.Encode(first.Calendars...), ical.RequestLimits())
		require.NoError(t, err)
		require.Empty(t, sameTree(first, second))
		requireNothingReplaced(t, second.Calendars)
	})
}

// requireNothingReplaced: what was encoded has no character that no line may hold.
func requireNothingReplaced(t *testing.T, components []*ical.Component) {
	t.Helper()
	for _, c := range components {
		require.Empty(t, c.Replaced)
		requireNothingReplaced(t, c.Children)
	}
}
