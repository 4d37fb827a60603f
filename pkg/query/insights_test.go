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
	require.Equal(t, []query.DayCount{{"2025-11-30", 1}, {"2025-12-01", 2}, {"2025-12-02", 0}, {"2025-12-03", 1}}, in.Days)
	require.Equal(t, 4, in.Completed)
	require.Equal(t, map[int64]int{1: 1, 2: 1, 3: 2}, in.ByPriority)
	require.Equal(t, 2, in.Streak, "Sunday and today")
	require.Empty(t, b.insights("2025-12-02", "2025-12-02").ByPriority)
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

// A week is one unit, its streak another.
func TestInsights_costAsMuchAsTheRowsOfTheWindow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 35 {
		b.done(ann, "x"+time.Duration(i).String(), b.now.AddDate(0, 0, -i/5).Format(time.DateOnly), "3")
	}
	b.trips()
	b.readUnits()
	b.insights("2025-11-25", "2025-12-01")
	require.Equal(t, map[string]int{"Get": 1, "Query": 3}, b.trips())
	require.LessOrEqual(t, b.readUnits(), 4.0)
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
	_, err := b.service.Insights(ctx, ann, "2025-01-01", "2026-01-01")
	require.NoError(t, err, "366 days")
	_, err = b.service.Insights(ctx, "a#b", "", "")
	require.ErrorIs(t, err, entity.ErrID)
}
