package series_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
)

func TestFollow_movesARuleWithItsStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rule, from, to, want string }{
		{"another weekday", "FREQ=WEEKLY;BYDAY=MO", "2025-01-06", "2025-01-07", "FREQ=WEEKLY;BYDAY=TU"},
		{"one weekday of several", "FREQ=WEEKLY;BYDAY=MO,WE,FR", "2025-01-06", "2025-01-07", "FREQ=WEEKLY;BYDAY=TU,WE,FR"},
		{"a weekday that is named already", "FREQ=WEEKLY;BYDAY=MO,WE", "2025-01-06", "2025-01-08", "FREQ=WEEKLY;BYDAY=MO,WE"},
		{"another week", "FREQ=WEEKLY;BYDAY=MO", "2025-01-06", "2025-01-13", "FREQ=WEEKLY;BYDAY=MO"},
		{"no weekday named", "FREQ=WEEKLY", "2025-01-06", "2025-01-07", "FREQ=WEEKLY"},
		{"the same day", "FREQ=WEEKLY;BYDAY=MO", "2025-01-06", "2025-01-06", "FREQ=WEEKLY;BYDAY=MO"},
		{"an end stays", "FREQ=WEEKLY;COUNT=4;BYDAY=MO", "2025-01-06", "2025-01-07", "FREQ=WEEKLY;COUNT=4;BYDAY=TU"},
		{"a day of the month", "FREQ=MONTHLY;BYMONTHDAY=15", "2025-01-15", "2025-01-17", "FREQ=MONTHLY;BYMONTHDAY=17"},
		{"a day of the month in another month", "FREQ=MONTHLY;BYMONTHDAY=15", "2025-01-15", "2025-02-15",
			"FREQ=MONTHLY;BYMONTHDAY=15"},
		{"one of two days of the month", "FREQ=MONTHLY;BYMONTHDAY=1,15", "2025-01-15", "2025-01-16",
			"FREQ=MONTHLY;BYMONTHDAY=1,16"},
		{"the last day of the month", "FREQ=MONTHLY;BYMONTHDAY=-1", "2025-01-31", "2025-01-30", "FREQ=MONTHLY;BYMONTHDAY=-2"},
		{"the second Monday", "FREQ=MONTHLY;BYDAY=2MO", "2025-01-13", "2025-01-21", "FREQ=MONTHLY;BYDAY=3TU"},
		{"another week of the month", "FREQ=MONTHLY;BYDAY=2MO", "2025-01-13", "2025-01-20", "FREQ=MONTHLY;BYDAY=3MO"},
		{"the last Friday", "FREQ=MONTHLY;BYDAY=-1FR", "2025-01-31", "2025-01-24", "FREQ=MONTHLY;BYDAY=-2FR"},
		{"a fifth one is the last", "FREQ=MONTHLY;BYDAY=2FR", "2025-01-10", "2025-01-31", "FREQ=MONTHLY;BYDAY=-1FR"},
		{"a day of the year", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25", "2025-12-25", "2026-01-06",
			"FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=6"},
		{"the same day of another year", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25", "2025-12-25", "2026-12-25",
			"FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25"},
		{"a month that only limits", "FREQ=WEEKLY;BYMONTH=6,7;BYDAY=MO", "2025-06-30", "2025-07-01",
			"FREQ=WEEKLY;BYMONTH=6,7;BYDAY=TU"},
		{"a weekday of the year", "FREQ=YEARLY;BYDAY=2MO", "2025-01-13", "2025-01-21", "FREQ=YEARLY;BYDAY=3TU"},
		{"a set", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2025-01-31", "2025-02-01",
			"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"},
		{"the first one, five before the last", "FREQ=MONTHLY;BYDAY=-1FR", "2025-01-31", "2025-01-03",
			"FREQ=MONTHLY;BYDAY=1FR"},
		{"a fifth one stays a fifth", "FREQ=MONTHLY;BYDAY=5FR", "2025-01-31", "2025-01-30", "FREQ=MONTHLY;BYDAY=5TH"},
		{"a month beside one that is named already", "FREQ=YEARLY;BYMONTH=1,2;BYMONTHDAY=15", "2025-01-15", "2025-02-20",
			"FREQ=YEARLY;BYMONTH=1,2;BYMONTHDAY=20"},
		{"each Monday of two months", "FREQ=YEARLY;BYMONTH=6,7;BYDAY=MO", "2025-06-30", "2025-07-01",
			"FREQ=YEARLY;BYMONTH=6,7;BYDAY=TU"},
		{"a start that is not of the rule", "FREQ=WEEKLY;BYMONTH=6,7;BYDAY=MO", "2025-08-04", "2025-07-01",
			"FREQ=WEEKLY;BYMONTH=6,7;BYDAY=MO"},
		{"the last workday", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2025-01-31", "2025-01-30",
			"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"},
		{"the second Saturday by range", "FREQ=MONTHLY;BYMONTHDAY=8,9,10,11,12,13,14;BYDAY=SA", "2025-01-11", "2025-01-12",
			"FREQ=MONTHLY;BYMONTHDAY=8,9,10,11,12,13,14;BYDAY=SA"},
		{"election day", "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=TU", "2024-11-05", "2024-11-06",
			"FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=TU"},
		{"Friday the 13th", "FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR", "2025-06-13", "2025-06-14",
			"FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR"},
		{"a week", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "2025-05-12", "2025-05-13", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO"},
		{"a day of the year", "FREQ=YEARLY;BYYEARDAY=100", "2025-04-10", "2025-04-11", "FREQ=YEARLY;BYYEARDAY=100"},
		{"no rule", "FREQ=", "2025-01-06", "2025-01-07", "FREQ="},
	} {
		day := func(date string) item.Item {
			return item.Item{
				product.AttrIsAllDay: item.Bool(true), product.AttrStartDate: item.String(date),
				product.AttrRRule: item.String(c.rule),
			}
		}
		rule, _ := series.Follow(day(c.from), day(c.to))
		require.Equal(t, c.want, rule, c.name)
	}
}

func TestOriginOf_readsTheStartWhereItIs(t *testing.T) {
	t.Parallel()
	before := weekly(t, nil)
	after := before.Clone()
	after[product.AttrStartUtc] = item.String("2025-01-07T03:00:00Z") // still Monday in New York
	rule := func() string { rule, _ := series.Follow(before, after); return rule }
	require.Equal(t, "FREQ=WEEKLY;BYDAY=MO", rule())
	after[product.AttrStartTzid] = item.String("Europe/Paris")
	require.Equal(t, "FREQ=WEEKLY;BYDAY=TU", rule())
	after[product.AttrStartTzid] = item.String("Nowhere/Land")
	require.Equal(t, "FREQ=WEEKLY;BYDAY=MO", rule(), "validation reports what is wrong")
}

func TestFollow_movesAnEndWithItsStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rule, end, start, zone, wantRule, wantEnd string }{
		{"a later hour", "FREQ=WEEKLY;BYDAY=MO;UNTIL=20250127T140000Z", "2025-01-27T13:59:59Z", "2025-01-06T16:00:00Z", "",
			"FREQ=WEEKLY;UNTIL=20250127T160000Z;BYDAY=MO", "2025-01-27T15:59:59Z"},
		{"by the clock", "FREQ=WEEKLY", "2025-06-30T12:59:59Z", "2025-01-06T16:00:00Z", "", "FREQ=WEEKLY",
			"2025-06-30T14:59:59Z"},
		{"another weekday", "FREQ=WEEKLY;BYDAY=MO;UNTIL=20250127", "2025-01-27T13:59:59Z", "2025-01-07T14:00:00Z", "",
			"FREQ=WEEKLY;UNTIL=20250129T045959Z;BYDAY=TU", "2025-01-28T13:59:59Z"},
		{"a weekday before", "FREQ=WEEKLY", "2025-01-27T13:59:59Z", "2025-01-03T14:00:00Z", "", "FREQ=WEEKLY",
			"2025-01-24T13:59:59Z"},
		{"along the series", "FREQ=WEEKLY;UNTIL=20250127", "2025-01-27T13:59:59Z", "2025-01-13T15:00:00Z", "",
			"FREQ=WEEKLY;UNTIL=20250128T045959Z", "2025-01-27T14:59:59Z"},
		{"another zone", "FREQ=WEEKLY;UNTIL=20250630T130000Z", "2025-06-30T13:00:00Z", "2025-01-06T08:00:00Z", "Europe/Paris",
			"FREQ=WEEKLY;UNTIL=20250630T070000Z", "2025-06-30T07:00:00Z"},
		{"without an end", "FREQ=WEEKLY", "", "2025-01-06T16:00:00Z", "", "FREQ=WEEKLY", ""},
		{"without a move", "freq=weekly;until=20250127T140000Z", "2025-01-27T13:59:59Z", "2025-01-06T14:00:00Z", "",
			"freq=weekly;until=20250127T140000Z", "2025-01-27T13:59:59Z"},
	} {
		before := weekly(t, item.Item{product.AttrRRule: item.String(c.rule)})
		if c.end != "" {
			before[product.AttrRRuleUntil] = item.String(c.end)
		}
		after := before.Clone()
		after[product.AttrStartUtc] = item.String(c.start)
		if c.zone != "" {
			after[product.AttrStartTzid] = item.String(c.zone)
		}
		rule, end := series.Follow(before, after)
		require.Equal(t, c.wantRule, rule, c.name)
		require.Equal(t, c.wantEnd != "", !end.IsZero(), c.name)
		if c.wantEnd != "" {
			require.Equal(t, c.wantEnd, item.FormatInstant(end), c.name)
		}
	}
}

func TestFollow_movesTheEndOfWholeDays(t *testing.T) {
	t.Parallel()
	before := newMaster(t, item.Item{
		product.AttrIsAllDay: item.Bool(true), product.AttrStartDate: item.String("2025-01-06"),
		product.AttrRRule:      item.String("FREQ=WEEKLY;UNTIL=20250127T000000"),
		product.AttrRRuleUntil: item.String("2025-01-26T23:59:59Z"),
	})
	after := before.Clone()
	after[product.AttrStartDate] = item.String("2025-01-08")
	rule, end := series.Follow(before, after)
	require.Equal(t, "FREQ=WEEKLY;UNTIL=20250129", rule)
	require.Equal(t, "2025-01-28T23:59:59Z", item.FormatInstant(end))
	delete(after, product.AttrIsAllDay)
	after[product.AttrStartUtc], after[product.AttrStartTzid] = item.String("2025-01-06T14:00:00Z"),
		item.String("America/New_York")
	rule, end = series.Follow(before, after)
	require.Equal(t, "FREQ=WEEKLY;UNTIL=20250127T140000Z", rule, "nine o'clock in New York")
	require.Equal(t, "2025-01-27T04:59:59Z", item.FormatInstant(end), "the last second of 26 January")
}

func TestRestOfRule_hasWhatIsLeftOfItsCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, date, want string }{
		{"FREQ=WEEKLY;BYDAY=MO;COUNT=5", "20250120", "FREQ=WEEKLY;COUNT=3;BYDAY=MO"},
		{"FREQ=WEEKLY;BYDAY=MO;COUNT=5", "20250203", "FREQ=WEEKLY;COUNT=1;BYDAY=MO"},
		{"FREQ=WEEKLY;BYDAY=MO;UNTIL=20250210T140000Z", "20250120", "FREQ=WEEKLY;BYDAY=MO;UNTIL=20250210T140000Z"},
		{"FREQ=WEEKLY;BYDAY=MO", "20250120", "FREQ=WEEKLY;BYDAY=MO"},
	} {
		s := newSeries(t, "UTC", weekly(t, item.Item{
			product.AttrRRule: item.String(c.rule), product.AttrExDate: item.List{item.String("20250113")},
			product.AttrRDate: item.List{item.String("20250116")},
		}))
		o, ok := s.On(c.date)
		require.True(t, ok)
		require.Equal(t, c.want, s.RestOfRule(o))
		require.True(t, s.RuleGives(c.date))
		require.False(t, s.RuleGives("20250116"))
		require.False(t, s.RuleGives("20250113"))
	}
}

func TestExceptions_comeInTheOrderOfTheirDates(t *testing.T) {
	t.Parallel()
	s := newSeries(t, "UTC", weekly(t, nil), cancelled("20250127"),
		moved("20250113", "2025-01-20T14:00:00Z", "2025-01-20T14:30:00Z"), cancelled("20250128"))
	var dates []string
	for _, o := range s.Exceptions() {
		dates = append(dates, o.Date)
	}
	require.Equal(t, []string{"20250113", "20250127"}, dates)
	plain, ok := s.Plain("20250113")
	require.True(t, ok)
	require.True(t, plain.Virtual())
	require.Equal(t, at("2025-01-13T14:00:00Z"), plain.Start)
	_, ok = s.Plain("20250128")
	require.False(t, ok)
}
