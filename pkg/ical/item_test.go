package ical_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// stored makes the item that a client's fields would become.
func stored(t *testing.T, kind *entity.Type, fields item.Item) item.Item {
	t.Helper()
	merged, errs := kind.Merge(nil, fields)
	require.Empty(t, errs)
	id := kind.IDPrefix + "_0b0f5a52-7b0e-4c6e-9d3e-2f2f0c1f3a11"
	it := kind.NewItem("user", id, merged, stamp, item.Item{})
	require.Empty(t, kind.Validate(it))
	return it
}

func texts(pairs ...string) item.Item {
	it := item.Item{}
	for i := 0; i < len(pairs); i += 2 {
		it[pairs[i]] = item.String(pairs[i+1])
	}
	return it
}

func with(it item.Item, name string, v item.Value) item.Item {
	it[name] = v
	return it
}

func TestFromItem_survivesExportAndImport(t *testing.T) {
	t.Parallel()
	minutes, tags := item.Ints(0, 15, 1440), item.Strings("a,b", "c;d", `e\f`)
	for _, c := range []struct {
		kind   *entity.Type
		fields item.Item
	}{
		{product.Event(), with(texts("title", "Día;, \\ long "+strings.Repeat("ü", 200), "startDate", "2025-01-01",
			"endDate", "2025-01-04"), "isAllDay", item.Bool(true))},
		{product.Event(), with(texts("title", "t", "startUtc", "2025-01-01T09:00:00", "endUtc", "2025-01-01T10:00:00"),
			"reminderMinutes", minutes)},
		{product.Event(), with(
			texts("title", "t", "startUtc", "2025-01-01T09:00:00Z", "startTzid", "UTC", "status", "CANCELLED"), "tags", tags)},
		{product.Event(), texts("title", "t", "startUtc", "2025-07-01T09:00:00Z", "endUtc", "2025-07-01T19:00:00Z",
			"startTzid", "Europe/Berlin",
			"endTzid", "America/New_York", "location", "Gate 1, Hall", "description", "# Head\n\n- a, b; c", "color", "#64748b",
			"status", "TENTATIVE")},
		{product.Task(), texts("title", "t")},
		{product.Task(), with(texts("title", "t", "dueUtc", "2025-01-01T09:00:00Z", "dueTzid", "Asia/Tokyo", "status",
			"IN_PROGRESS", "color", "#123456"), "reminderMinutes", minutes)},
		{product.Task(), with(texts("title", "t", "startUtc", "2025-01-01T08:00:00", "dueUtc", "2025-01-01T09:00:00",
			"description", "d"), "priority", item.Int(1))},
		{product.Task(),
			with(with(texts("title", "t", "dueDate", "2025-01-01"), "isAllDay", item.Bool(true)), "reminderMinutes", minutes)},
		{product.Task(),
			with(texts("title", "t", "startUtc", "2025-01-01T08:00:00Z", "dueTzid", "UTC"), "reminderMinutes", item.Ints(5))},
		{product.Task(), texts("title", "t", "status", "ARCHIVED")},
		{product.Reminder(), with(
			texts("title", "t", "triggerUtc", "2025-01-01T08:00:00Z", "tzid", "Europe/Berlin", "notes", "n"), "tags", tags)},
		{product.Reminder(), texts("title", "t", "triggerUtc", "2025-01-01T08:00:00")},
	} {
		it := stored(t, c.kind, c.fields)
		draft, err := ical.FromItem(it, nil)
		require.NoError(t, err)
		result := again(t, []ical.Draft{draft})
		require.Empty(t, result.Refused, c.fields)
		require.Empty(t, result.LeftOut, c.fields)
		require.Len(t, result.Drafts, 1)
		back := result.Drafts[0]
		require.Equal(t, draft.UID, back.UID)
		require.Equal(t, c.kind.Name, back.Kind)
		require.Equal(t, stamp, back.CreatedAt)
		require.Empty(t, cmp.Diff(it, stored(t, c.kind, back.Fields)), c.fields)
	}
}

func TestWritePriority_survivesExportAndImport(t *testing.T) {
	t.Parallel()
	for n := range int64(5) {
		draft, err := ical.FromItem(stored(t, product.Task(), with(texts("title", "t"), "priority", item.Int(n+1))), nil)
		require.NoError(t, err)
		require.Equal(t, n+1, again(t, []ical.Draft{draft}).Drafts[0].Fields.Int("priority"))
	}
}

func TestExport_keepsTheSecondReadingAtTheEndOfSummerTime(t *testing.T) {
	t.Parallel()
	draft, err := ical.FromItem(stored(t, product.Event(),
		texts("title", "t", "startUtc", "2025-11-02T06:30:00Z", "startTzid", "America/New_York")), nil)
	require.NoError(t, err)
	require.Equal(t, "2025-11-02T06:30:00Z", again(t, []ical.Draft{draft}).Drafts[0].Fields.Str("startUtc"))
}

func TestExport_showsACompletedTaskAsCompleted(t *testing.T) {
	t.Parallel()
	it := stored(t, product.Task(), texts("title", "t", "status", "ARCHIVED"))
	it.SetTime(product.AttrCompletedAt, stamp)
	draft, err := ical.FromItem(it, nil)
	require.NoError(t, err)
	component, err := draft.Export(stamp)
	require.NoError(t, err)
	require.Equal(t, "COMPLETED", component.Value("STATUS"))
	require.Equal(t, "20250301T120000Z", component.Value("COMPLETED"))
}

func TestFromItem_failsForATypeWithoutAComponent(t *testing.T) {
	t.Parallel()
	_, err := ical.FromItem(item.Item{"entityType": item.String("NOTE")}, nil)
	require.Error(t, err)
	for _, d := range []ical.Draft{
		{Kind: product.TypeNote}, {Kind: product.TypeEvent}, {Kind: product.TypeReminder, Fields: item.Item{}},
		{Kind: entity.TypeMaster, Fields: texts("startUtc", "2025-01-01T08:00:00")},
		{Kind: entity.TypeInstance, Fields: texts("startUtc", "2025-01-01T08:00:00")},
		{Kind: product.TypeEvent, Fields: texts("startUtc", "2025-01-01T08:00:00Z", "startTzid", "No/Where")},
		{Kind: entity.TypeMaster, RRule: "FREQ=DAILY", ExDates: []string{"x"},
			Fields: texts("startUtc", "2025-01-01T08:00:00")},
	} {
		_, err := ical.Calendar{Stamp: stamp}.Build([]ical.Draft{d})
		require.Error(t, err)
	}
}

func TestBuild_writesTheHeadThatProgramsAskFor(t *testing.T) {
	t.Parallel()
	built, err := ical.Calendar{Name: "Mine", Refresh: 90 * time.Minute, Stamp: stamp}.Build(nil)
	require.NoError(t, err)
	written := string(ical.Encode(built))
	for _, line := range []string{
		"VERSION:2.0", "METHOD:PUBLISH", "X-WR-CALNAME:Mine", "REFRESH-INTERVAL;VALUE=DURATION:PT1H30M",
		"X-PUBLISHED-TTL:PT1H30M",
	} {
		require.Contains(t, written, line+"\r\n")
	}
}

func TestParseDuration_readsWhatStringWrites(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ical.Duration{
		"P1W": {Days: 7}, "P1DT2H": {Days: 1, Exact: 2 * time.Hour}, "-PT15M": {Exact: -15 * time.Minute}, "+P2D": {Days: 2},
		"PT1H30M5S": {Exact: time.Hour + 30*time.Minute + 5*time.Second}, "PT0S": {}, "P": {},
		"pt5m":   {Exact: 5 * time.Minute},
		" PT5M ": {Exact: 5 * time.Minute}, "P1W2D": {Days: 9}, "PT100H": {Exact: 100 * time.Hour},
	} {
		got, err := ical.ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		back, err := ical.ParseDuration(got.String())
		require.NoError(t, err)
		require.Equal(t, got, back, text)
	}
	for _, text := range []string{
		"", "1D", "P1", "PD", "P1H", "PT1D", "P1D1W", "P1D1D", "--P1D", "P-1D", "PT1H PT1M", "PT1HT1M", "P99999999999999D",
		"P999999D", "PT1.5H",
	} {
		_, err := ical.ParseDuration(text)
		require.Error(t, err, text)
	}
}

func ExampleCalendar_Build() {
	draft := ical.Draft{Kind: product.TypeEvent, UID: "lunch@example.org", Fields: item.Item{
		"title": item.String("Lunch"), "status": item.String("CONFIRMED"), "isAllDay": item.Bool(false),
		"startUtc": item.String("2025-03-03T12:00:00"), "reminderMinutes": item.Ints(15),
	}}
	built, err := ical.Calendar{Stamp: stamp}.Build([]ical.Draft{draft})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(strings.ReplaceAll(string(ical.Encode(built)), "\r\n", "\n"))
	// Output:
	// BEGIN:VCALENDAR
	// VERSION:2.0
	// PRODID:-//Nexus//Nexus Calendar//EN
	// CALSCALE:GREGORIAN
	// METHOD:PUBLISH
	// BEGIN:VEVENT
	// UID:lunch@example.org
	// DTSTAMP:20250301T120000Z
	// SEQUENCE:0
	// DTSTART:20250303T120000
	// SUMMARY:Lunch
	// STATUS:CONFIRMED
	// BEGIN:VALARM
	// ACTION:DISPLAY
	// DESCRIPTION:Lunch
	// TRIGGER:-PT15M
	// END:VALARM
	// END:VEVENT
	// END:VCALENDAR
}
