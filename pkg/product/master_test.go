package product_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestMaster_derivesFromItsRule(t *testing.T) {
	it, errs := create(t, product.Master(),
		`{"title":"Standup","startUtc":"2025-01-06T14:00:00Z","endUtc":"2025-01-06T14:15:00Z",
		"startTzid":"America/New_York","rrule":"FREQ=WEEKLY;BYDAY=MO;COUNT=10","exdate":["20250310","20250113","20250310"]}`)
	require.Empty(t, errs)
	require.Equal(t, item.Item{
		"PK": item.String("USER#ann"), "SK": item.String("MASTER#mst_1"),
		"GSI1PK": item.String("USER#ann#2025"), "GSI1SK": item.String("2025-01-06T14:00:00Z"),
		"GSI2PK": item.String("MASTER#mst_1"), "GSI2SK": item.String("MASTER"),
		"GSI3PK": item.String("USER#ann"), "GSI3SK": item.String("MASTER#ACTIVE#2025-03-03T14:15:00Z"),
		"entityType": item.String("MASTER"), "masterId": item.String("mst_1"), "eventId": item.String("mst_1"),
		"version": item.Int(1), "createdAt": item.String("2025-12-01T12:00:00Z"),
		"updatedAt": item.String("2025-12-01T12:00:00Z"), "title": item.String("Standup"), "status": item.String("CONFIRMED"),
		"isAllDay": item.Bool(false),
		"startUtc": item.String("2025-01-06T14:00:00Z"), "endUtc": item.String("2025-01-06T14:15:00Z"),
		"startTzid":    item.String("America/New_York"),
		"rrule":        item.String("FREQ=WEEKLY;COUNT=10;BYDAY=MO"),
		"exdate":       item.List{item.String("20250113"), item.String("20250310")},
		"lastStartUtc": item.String("2025-03-03T14:00:00Z"), "icalUid": item.String("mst_1@nexus.app"),
		"sequence": item.Int(0),
	}, it, "the last date is excluded, so the one before is the last")
}

func TestMaster_withoutEndSortsAfterAllOthers(t *testing.T) {
	it, errs := create(t, product.Master(), `{"title":"x","isAllDay":true,"startDate":"2025-01-06","rrule":"FREQ=YEARLY"}`)
	require.Empty(t, errs)
	require.Equal(t, "MASTER#ACTIVE#9999-12-31T23:59:59Z", it.Str("GSI3SK"))
	require.False(t, it.Has("lastStartUtc"))
	require.Equal(t, "2025-01-07", it.Str("endDate"))
}

func TestMaster_endingAfterAllYearsIsWithoutEnd(t *testing.T) {
	for _, end := range []string{"COUNT=500", "UNTIL=22500101T000000Z"} {
		it, errs := create(t, product.Master(),
			`{"title":"x","startUtc":"2025-01-06T14:00:00Z","startTzid":"UTC","rrule":"FREQ=YEARLY;`+end+`"}`)
		require.Empty(t, errs, end)
		require.False(t, it.Has("lastStartUtc"), end)
		require.Equal(t, "MASTER#ACTIVE#9999-12-31T23:59:59Z", it.Str("GSI3SK"), end)
	}
}

func TestMaster_withoutAStartReportsNothingAboutTheEnd(t *testing.T) {
	_, errs := create(t, product.Master(),
		`{"title":"x","endUtc":"2025-01-06T14:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY"}`)
	require.Len(t, errs, 1, "%v", errs)
	require.Equal(t, "/startUtc", errs[0].Pointer)
}

func TestMaster_namesTheWrongField(t *testing.T) {
	const timed = `"title":"x","startUtc":"2025-01-06T14:00:00Z","startTzid":"America/New_York"`
	for name, c := range map[string]struct{ fields, pointer string }{
		"no rule":              {timed, "/rrule"},
		"a rule that is none":  {timed + `,"rrule":"every day"`, "/rrule"},
		"times of day":         {timed + `,"rrule":"FREQ=DAILY;BYHOUR=9,17"`, "/rrule"},
		"more than one a day":  {timed + `,"rrule":"FREQ=HOURLY"`, "/rrule"},
		"30 February":          {timed + `,"rrule":"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"`, "/rrule"},
		"an end before it":     {timed + `,"rrule":"FREQ=DAILY","rruleUntil":"2025-01-05T14:00:00Z"`, "/rrule"},
		"nothing left":         {timed + `,"rrule":"FREQ=DAILY;COUNT=1","exdate":["20250106"]`, "/rrule"},
		"a date that is none":  {timed + `,"rrule":"FREQ=DAILY","exdate":["20250230"]`, "/exdate"},
		"a date with hyphens":  {timed + `,"rrule":"FREQ=DAILY","rdate":["2025-02-03"]`, "/rdate"},
		"a date far away":      {timed + `,"rrule":"FREQ=DAILY","rdate":["99990101"]`, "/rdate"},
		"dates that are texts": {timed + `,"rrule":"FREQ=DAILY","rdate":"20250203"`, "/rdate"},
		"a zone that is none": {
			`"title":"x","startUtc":"2025-01-06T14:00:00Z","startTzid":"Mars/Olympus","rrule":"FREQ=DAILY"`, "/startTzid"},
		"an end for no zone": {
			`"title":"x","startUtc":"2025-01-06T14:00:00","rrule":"FREQ=DAILY","rruleUntil":"2025-02-01T00:00:00Z"`,
			"/rruleUntil"},
		"longer than a year": {timed + `,"endUtc":"2026-02-06T14:00:00Z","rrule":"FREQ=YEARLY"`, "/endUtc"},
		"days beyond a year": {
			`"title":"x","isAllDay":true,"startDate":"2025-01-06","endDate":"2026-01-09","rrule":"FREQ=YEARLY"`, "/endDate"},
		"no start":              {`"title":"x","rrule":"FREQ=DAILY"`, "/startUtc"},
		"a rule without bounds": {timed + `,"rrule":"FREQ=DAILY;BYMONTH=` + strings.Repeat("1,", 2000) + `1"`, "/rrule"},
	} {
		_, errs := create(t, product.Master(), "{"+c.fields+"}")
		require.NotEmpty(t, errs, name)
		require.Equal(t, c.pointer, errs[0].Pointer, "%s: %v", name, errs)
	}
	patch, errs := product.Master().Parse(decode(t,
		"{"+timed+`,"rrule":"FREQ=DAILY","exdate":["20250301"],"hasExceptions":true,"lastStartUtc":"2025-01-06T14:00:00Z"}`))
	require.Len(t, errs, 2, "%v %v", patch, errs)
}

func TestMaster_boundsTheDatesOfASeries(t *testing.T) {
	var dates []string
	for year := 2000; len(dates) < 501; year++ {
		for _, day := range []string{"0101", "0301", "0501", "0701", "0901"} {
			dates = append(dates, fmt.Sprintf(`"%d%s"`, year, day))
		}
	}
	_, errs := create(t, product.Master(),
		`{"title":"x","startUtc":"2000-01-06T14:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY","exdate":[`+
			strings.Join(dates, ",")+`]}`)
	require.Len(t, errs, 1)
	require.Equal(t, "/exdate", errs[0].Pointer)
}

func TestInstance_isInNoIndexOnceUndone(t *testing.T) {
	fields := item.Item{
		"isAllDay": item.Bool(false), "startUtc": item.String("2025-12-24T16:00:00Z"), "startTzid": item.String("UTC"),
	}
	fields["masterId"], fields["recurrenceId"] = item.String("mst_1"), item.String("2025-12-24T15:00:00Z")
	undone := product.Instance().NewItem("ann", "inst_20251224_1", fields, noon, nil)
	require.Equal(t, item.Key{PK: "USER#ann", SK: "INSTANCE#mst_1#20251224"}, undone.Key())
	for _, name := range []string{"GSI1PK", "GSI2PK", "GSI3PK"} {
		require.False(t, undone.Has(name), name)
	}
	require.Empty(t, product.Instance().ShownIn(undone))

	fields["modifiedFields"], fields["endUtc"] = item.List{item.String("startUtc")}, item.String("2025-12-26T16:00:00Z")
	moved := product.Instance().NewItem("ann", "inst_20251224_1", fields, noon, nil)
	require.Empty(t, product.Instance().Validate(moved))
	require.Equal(t, map[string]string{
		"GSI1PK": "USER#ann#2025", "GSI1SK": "2025-12-24T16:00:00Z", "GSI2PK": "MASTER#mst_1", "GSI2SK": "INSTANCE#20251224",
		"GSI3PK": "USER#ann", "GSI3SK": "EVENT#LONG#2025-12-26T16:00:00Z",
	}, map[string]string{
		"GSI1PK": moved.Str("GSI1PK"), "GSI1SK": moved.Str("GSI1SK"), "GSI2PK": moved.Str("GSI2PK"),
		"GSI2SK": moved.Str("GSI2SK"), "GSI3PK": moved.Str("GSI3PK"), "GSI3SK": moved.Str("GSI3SK"),
	})
	require.Empty(t, product.Instance().Dues(moved), "reminders of the series are the series'")
}

func TestMaster_storesARuleInOneForm(t *testing.T) {
	for _, c := range []struct{ start, sent, want string }{
		{`"startUtc":"2025-01-06T14:00:00Z","startTzid":"America/New_York"`,
			" RRULE:freq=weekly;interval=1;wkst=MO;byday=we,mo,we;", "FREQ=WEEKLY;BYDAY=MO,WE"},
		{`"startUtc":"2025-01-06T14:00:00Z","startTzid":"America/New_York"`, "UNTIL=20250301;FREQ=DAILY",
			"FREQ=DAILY;UNTIL=20250302T045959Z"},
		{`"startUtc":"2025-01-06T14:00:00Z","startTzid":"America/New_York"`, "FREQ=DAILY;UNTIL=20250301T090000",
			"FREQ=DAILY;UNTIL=20250301T140000Z"},
		{`"startUtc":"2025-01-06T14:00:00"`, "FREQ=DAILY;UNTIL=20250301T140000Z", "FREQ=DAILY;UNTIL=20250301T140000"},
		{`"isAllDay":true,"startDate":"2025-01-06"`, "FREQ=DAILY;UNTIL=20250301T140000Z", "FREQ=DAILY;UNTIL=20250301"},
	} {
		it, errs := create(t, product.Master(), fmt.Sprintf(`{"title":"x",%s,"rrule":%q}`, c.start, c.sent))
		require.Empty(t, errs, c.sent)
		require.Equal(t, c.want, it.Str("rrule"))
	}
	for _, sent := range []string{"freq=hourly;byhour=25", "freq=daily"} {
		it, _ := create(t, product.Reminder(),
			fmt.Sprintf(`{"title":"x","triggerUtc":"2025-12-02T08:00:00Z","tzid":"Europe/Berlin","rrule":%q}`, sent))
		require.Equal(t, map[string]string{"freq=daily": "FREQ=DAILY"}[sent]+
			map[string]string{"freq=hourly;byhour=25": sent}[sent], it.Str("rrule"), "what is wrong stays as it was sent")
	}
}

func TestReminder_keepsTheEndOfItsRuleInItsZone(t *testing.T) {
	it, errs := create(t, product.Reminder(), `{"title":"x","triggerUtc":"2025-12-02T08:00:00Z","tzid":"Europe/Berlin",`+
		`"rrule":"FREQ=DAILY;UNTIL=20251204T080000Z"}`)
	require.Empty(t, errs)
	floating, errs := change(t, product.Reminder(), it, `{"triggerUtc":"2025-12-02T09:00:00","tzid":null}`)
	require.Empty(t, errs)
	require.Equal(t, "FREQ=DAILY;UNTIL=20251204T090000", floating.Str("rrule"))
	zoned, errs := change(t, product.Reminder(), floating, `{"triggerUtc":"2025-12-02T03:30:00Z","tzid":"Asia/Kolkata"}`)
	require.Empty(t, errs)
	require.Equal(t, "FREQ=DAILY;UNTIL=20251204T033000Z", zoned.Str("rrule"))
}
