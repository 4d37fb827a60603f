package ical_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

// accounted checks that every component is a draft or a refusal with its reason.
func accounted(t testing.TB, document *ical.Document, result ical.Result) {
	t.Helper()
	at := map[int]int{}
	for _, d := range result.Drafts {
		at[d.Line]++
	}
	for _, r := range result.Refused {
		require.NotEmpty(t, r.Reason)
		require.Zero(t, at[r.Line], "line %d was taken and refused: %s", r.Line, r.Reason)
		at[r.Line]++
	}
	for _, c := range document.Calendars {
		for _, child := range c.Children {
			if child.Name != "VTIMEZONE" {
				require.NotZero(t, at[child.Line], "%s in line %d", child.Name, child.Line)
			}
		}
	}
}

func TestMap_accountsForEveryFileOfTheCorpus(t *testing.T) {
	t.Parallel()
	taken, components := 0, 0
	for name, content := range corpus(t) {
		document := decode(t, content)
		result := ical.Map(product.Registry(), document)
		accounted(t, document, result)
		for _, r := range result.Refused {
			t.Log(name, r.Component, r.Line, r.Reason)
		}
		for _, r := range result.LeftOut {
			t.Log(name, "left out:", r.Component, r.Line, r.Reason)
		}
		for _, d := range result.Drafts {
			if zone := d.Fields.Str("startTzid"); zone != "" {
				_, err := wallclock.LoadLocation(zone)
				require.NoError(t, err)
			}
			taken++
		}
		components += len(result.Drafts) + len(result.Refused)
	}
	require.Greater(t, taken*10, components*9, "nearly all of it is taken")
}

var stamp = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

// again writes drafts and reads them again.
func again(t testing.TB, drafts []ical.Draft) ical.Result {
	t.Helper()
	built, err := ical.Calendar{Name: "Mine, and yours", Refresh: time.Hour, Stamp: stamp}.Build(drafts)
	require.NoError(t, err)
	return ical.Map(product.Registry(), decode(t, ical.Encode(built)))
}

var sameDraft = cmp.Options{
	cmpopts.IgnoreUnexported(ical.Draft{}), cmpopts.IgnoreFields(ical.Draft{}, "Line", "Original", "Stamp"),
	cmp.Comparer(func(a, b item.Item) bool { return a.Equal(b) }),
}

func TestExport_keepsWhatWasTakenFromTheCorpus(t *testing.T) {
	t.Parallel()
	for name, content := range corpus(t) {
		first := ical.Map(product.Registry(), decode(t, content))
		second := again(t, first.Drafts)
		require.Empty(t, second.Refused, name)
		require.Empty(t, cmp.Diff(first.Drafts, second.Drafts, sameDraft), name)
	}
}

func TestSplit_keepsSeriesTogetherAndLosesNothing(t *testing.T) {
	t.Parallel()
	content := calendar(
		strings.Join(vtimezone("Z", observance("STANDARD", "19700101T000000", "+0100", "+0100")...), "\r\n"),
		"BEGIN:VEVENT", "UID:a", "END:VEVENT", "BEGIN:VEVENT", "UID:b", "END:VEVENT", "BEGIN:VEVENT", "UID:a", "END:VEVENT",
		"BEGIN:VEVENT", "END:VEVENT", "BEGIN:VEVENT", "UID:c", "END:VEVENT")
	parts := ical.Split(decode(t, content), 2)
	var uids []string
	for _, part := range parts {
		require.Equal(t, "VTIMEZONE", part.Children[0].Name)
		require.NotNil(t, part.Get("VERSION"))
		list := ""
		for _, c := range part.Children[1:] {
			list += c.Text("UID") + ";"
		}
		uids = append(uids, list)
	}
	require.Equal(t, []string{"a;a;", "b;;", "c;"}, uids)
	require.Len(t, ical.Split(decode(t, content), 1), 4)
}

func FuzzMap(f *testing.F) {
	f.Add(calendar(berlinNine))
	f.Add(calendar("BEGIN:VEVENT", "UID:u", berlinNine, "EXDATE:20250107T080000Z",
		"RDATE;VALUE=PERIOD:20250201T080000Z/PT3H", "BEGIN:VALARM", "TRIGGER:-P1D", "END:VALARM", "END:VEVENT"))
	f.Add(calendar(append(vtimezone("X", observance("DAYLIGHT", "16010101T020000", "+0100", "+0200",
		"RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3;UNTIL=20300101")...),
		"BEGIN:VTODO", "DUE;TZID=X:20250101T090000", "DURATION:P1W", "END:VTODO")...))
	f.Fuzz(func(t *testing.T, content []byte) {
		document, err := ical.Decode(content, ical.RequestLimits())
		if err != nil {
			return
		}
		result := ical.Map(product.Registry(), document)
		accounted(t, document, result)
		for _, d := range result.Drafts {
			_, err := d.Export(stamp)
			require.NoError(t, err)
		}
	})
}
