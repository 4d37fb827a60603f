package query_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/insights"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// done puts the row of a completion.
func (b *fixture) done(user, id, day, priority string) {
	row := entity.LedgerKey(user, insights.Name, "task_"+id).Item()
	row["v"], row["c"] = item.Int(2), item.String("i1 DONE#TASK#"+day+" "+priority)
	row[item.AttrGSI3PK], row[item.AttrGSI3SK] = item.String(entity.UserPK(user)), item.String("DONE#TASK#"+day)
	b.put(row)
}

func (b *fixture) insights(from, to string) query.Insights {
	in, err := b.service.Insights(ctx, ann, from, to)
	require.NoError(b, err)
	return in
}

func (b *fixture) settings(zone string, weekStart int64) {
	meta := product.NewUserMeta(ann, noon)
	meta[entity.AttrVersion], meta[product.AttrDefaultTzid] = item.Int(1), item.String(zone)
	meta.Map(product.AttrPreferences)["weekStart"] = item.Int(weekStart)
	b.put(meta)
}

func TestInsights_countTheDaysOfAWindow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.done(ann, "a", "2025-11-30", "1")
	b.done(ann, "b", "2025-12-01", "2")
	for id, day := range map[string]string{"c": "2025-12-01", "d": "2025-12-03", "e": "2025-12-04"} {
		b.done(ann, id, day, "3")
	}
	b.done("bob", "f", "2025-12-02", "1")
	b.add(ann, product.Task(), `{"title":"archived","status":"ARCHIVED"}`, nil)
	in := b.insights("2025-11-30", "2025-12-03")
	require.Equal(t, []query.DayCount{
		{"2025-11-30", 1, 0}, {"2025-12-01", 2, 0}, {"2025-12-02", 0, 0}, {"2025-12-03", 1, 0},
	}, in.Days)
	require.Equal(t, 4, in.Completed)
	require.Equal(t, map[int64]int{1: 1, 2: 1, 3: 2}, in.ByPriority)
	require.Equal(t, 2, in.Streak, "Sunday and today")
	require.Empty(t, b.insights("2025-12-02", "2025-12-02").ByPriority)
}

// overdue puts the row of an open task that is due at the time.
func (b *fixture) overdue(user, id, clock, due string) {
	row := entity.LedgerKey(user, "stats", "task_"+id).Item()
	row[item.AttrGSI3PK], row[item.AttrGSI3SK] = item.String(entity.UserPK(user)), item.String("OPEN#TASK#"+clock+"#"+due)
	b.put(row)
}

// A task is overdue from its time on, an all-day one from the midnight that ends its day: both count on that day.
func TestInsights_countWhatBecameOverdueByDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, zone, now, clock, due, want string }{
		{"at noon", "UTC", "2025-12-05T12:00:00Z", "Z", "2025-12-03T12:00:00Z", "2025-12-03"},
		{"all day", "UTC", "2025-12-05T12:00:00Z", "Z", "2025-12-04T00:00:00Z", "2025-12-03"},
		{"now", "UTC", "2025-12-05T12:00:00Z", "Z", "2025-12-05T12:00:00Z", "2025-12-05"},
		{"in a second", "UTC", "2025-12-05T12:00:00Z", "Z", "2025-12-05T12:00:01Z", ""},
		{"before the window", "UTC", "2025-12-05T12:00:00Z", "Z", "2025-12-01T00:00:00Z", ""},
		{"first second", "UTC", "2025-12-05T12:00:00Z", "Z", "2025-12-01T00:00:01Z", "2025-12-01"},
		{"end of the window", "UTC", "2025-12-09T12:00:00Z", "Z", "2025-12-08T00:00:00Z", "2025-12-07"},
		{"after the window", "UTC", "2025-12-09T12:00:00Z", "Z", "2025-12-08T00:00:01Z", ""},
		{"east", "Pacific/Kiritimati", "2025-12-05T12:00:00Z", "Z", "2025-12-03T10:00:01Z", "2025-12-04"},
		{"west", "Pacific/Pago_Pago", "2025-12-05T12:00:00Z", "Z", "2025-12-04T11:00:00Z", "2025-12-03"},
		{"floating", "Pacific/Kiritimati", "2025-12-05T12:00:00Z", "F", "2025-12-06T02:00:00Z", "2025-12-06"},
		{"floating, to come", "Pacific/Pago_Pago", "2025-12-05T12:00:00Z", "F", "2025-12-05T02:00:00Z", ""},
		{"floating, first", "Pacific/Pago_Pago", "2025-12-05T12:00:00Z", "F", "2025-12-01T00:00:01Z", "2025-12-01"},
	} {
		b := setup(t)
		b.settings(c.zone, 1)
		b.now, _ = item.ParseInstant(c.now)
		b.overdue(ann, "a", c.clock, c.due)
		b.overdue("bob", "b", c.clock, c.due)
		in := b.insights("2025-12-01", "2025-12-07")
		got, sum := "", 0
		for _, day := range in.Days {
			if day.Overdue > 0 {
				got += day.Date
			}
			sum += day.Overdue
		}
		require.Equal(t, c.want, got, c.name)
		require.Equal(t, sum, in.Overdue, c.name)
	}
}

// The present week is that of the user's clock and first weekday.
func TestInsights_areOfThisWeekUnlessAsked(t *testing.T) {
	t.Parallel()
	b := setup(t) // Monday noon in UTC
	for _, c := range []struct {
		zone      string
		weekStart int64
		now       string
		from, to  string
	}{
		{"UTC", 1, "2025-12-01T12:00:00Z", "2025-12-01", "2025-12-07"},
		{"UTC", 0, "2025-12-01T12:00:00Z", "2025-11-30", "2025-12-06"},
		{"UTC", 0, "2025-11-30T00:00:00Z", "2025-11-30", "2025-12-06"},
		{"UTC", 1, "2025-11-30T23:59:59Z", "2025-11-24", "2025-11-30"},
		{"Pacific/Kiritimati", 1, "2025-11-30T10:00:00Z", "2025-12-01", "2025-12-07"},
		{"Pacific/Pago_Pago", 1, "2025-12-01T10:59:59Z", "2025-11-24", "2025-11-30"},
		{"Europe/London", 1, "2025-12-31T12:00:00Z", "2025-12-29", "2026-01-04"}, // the last week of a year
	} {
		b.settings(c.zone, c.weekStart)
		b.now, _ = item.ParseInstant(c.now)
		in := b.insights("", "")
		require.Equal(t, [2]string{c.from, c.to}, [2]string{in.From, in.To}, c)
		require.Len(t, in.Days, 7)
	}
}

func TestInsights_countAStreakUpToTodayOrYesterday(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		days []int // before today
		want int
	}{
		"none": {nil, 0}, "today": {[]int{0}, 1}, "yesterday": {[]int{1}, 1}, "the day before": {[]int{2}, 0},
		"with a gap": {[]int{0, 1, 3}, 2}, "from yesterday": {[]int{1, 2, 3, 5}, 3}, "tomorrow": {[]int{-1, 0, 1}, 2},
		"only tomorrow": {[]int{-1}, 0},
	} {
		b := setup(t)
		for i, before := range c.days {
			day := b.now.AddDate(0, 0, -before).Format(time.DateOnly)
			for k := range 60 { // more than a page
				b.done(ann, string(rune('a'+i))+string(rune('A'+k)), day, "3")
			}
		}
		require.Equal(t, c.want, b.insights("", "").Streak, name)
	}
}

func TestInsights_countAStreakInsideAYear(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for before := range 400 {
		b.done(ann, "x"+time.Duration(before).String(), b.now.AddDate(0, 0, -before).Format(time.DateOnly), "3")
	}
	in := b.insights("2024-12-01", "2025-12-01")
	require.Equal(t, 366, in.Streak)
	require.Equal(t, 366, in.Completed)
}

// A week is one unit, its streak another, and each range of overdue tasks half of one if it is empty.
func TestInsights_costAsMuchAsTheRowsOfTheWindow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 35 {
		b.done(ann, "x"+time.Duration(i).String(), b.now.AddDate(0, 0, -i/5).Format(time.DateOnly), "3")
	}
	b.trips()
	b.readUnits()
	b.insights("2025-11-25", "2025-12-01")
	require.Equal(t, map[string]int{"Get": 1, "Query": 5}, b.trips())
	require.LessOrEqual(t, b.readUnits(), 5.0)
}

func TestInsights_refuseAWindowThatIsNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range [][3]string{
		{"2025-02-30", "", "/from"}, {"x", "y", "/from"}, {"", "2025-11-01", "/to"}, {"2025-12-03", "2025-12-02", "/to"},
		{"2025-01-01", "2026-01-02", "/to"}, {"1899-12-31", "", "/from"}, {"", "2200-01-01", "/to"},
	} {
		_, err := b.service.Insights(ctx, ann, c[0], c[1])
		var invalid *entity.ValidationError
		require.ErrorAs(t, err, &invalid, c)
		require.Equal(t, c[2], invalid.Fields[0].Pointer, c)
	}
	for _, c := range [][3]string{
		{"2025-12-20", "", "/from must not be after to, which is 2025-12-"},
		{"2024-01-01", "", "/from must be at most 366 days from to, which is 2025-12-"},
		{"", "2025-11-01", "/to must not be before from, which is 2025-12-01, the first day of this week"},
		{"", "2027-11-01", "/to must be at most 366 days from from, which is 2025-12-01, the first day of this week, that"},
		{"2025-12-03", "2025-12-02", "/to must not be before from, which is 2025-12-03"},
	} {
		_, err := b.service.Insights(ctx, ann, c[0], c[1])
		var invalid *entity.ValidationError
		require.ErrorAs(t, err, &invalid, c)
		require.Contains(t, invalid.Fields[0].Pointer+" "+invalid.Fields[0].Detail, c[2])
	}
	_, err := b.service.Insights(ctx, ann, "2025-01-01", "2026-01-01")
	require.NoError(t, err, "366 days")
	_, err = b.service.Insights(ctx, "a#b", "", "")
	require.ErrorIs(t, err, entity.ErrID)
}
