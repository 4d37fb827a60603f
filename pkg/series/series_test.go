package series_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestSeries_showsAnExceptionInPlaceOfItsOccurrence(t *testing.T) {
	t.Parallel()
	s := newSeries(t, "UTC", weekly(t, nil),
		moved("20250113", "2025-01-15T20:00:00Z", "2025-01-15T21:00:00Z"), // two days later
		moved("20250120", "2025-01-06T10:00:00Z", "2025-01-06T10:30:00Z"), // into another week, before all others
		cancelled("20250127"),
		exception("20250203", item.Item{entity.AttrTitle: item.String("retrospective")}, entity.AttrTitle),
	)
	require.Equal(t, []string{
		"20250120 2025-01-06T10:00:00Z 2025-01-06T10:30:00Z",
		"20250106 2025-01-06T14:00:00Z 2025-01-06T14:30:00Z",
		"20250113 2025-01-15T20:00:00Z 2025-01-15T21:00:00Z",
		"20250203 2025-02-03T14:00:00Z 2025-02-03T14:30:00Z",
	}, spans(s.Overlapping(at("2025-01-06T00:00:00Z"), at("2025-02-04T00:00:00Z"))))
	require.Empty(t, s.Overlapping(at("2025-01-19T00:00:00Z"), at("2025-01-28T00:00:00Z")),
		"one moved away, one cancelled")
	require.Empty(t, s.Idle())
}

func TestOverlapping_returnsWhatGoesOnInTheWindow(t *testing.T) {
	t.Parallel()
	// two days long
	s := newSeries(t, "UTC", weekly(t, item.Item{product.AttrEndUtc: item.String("2025-01-08T14:00:00Z")}))
	for _, c := range []struct {
		from, to string
		want     int
	}{
		{"2025-01-07T00:00:00Z", "2025-01-07T01:00:00Z", 1},
		{"2025-01-08T13:59:59Z", "2025-01-08T15:00:00Z", 1},
		{"2025-01-08T14:00:00Z", "2025-01-08T15:00:00Z", 0}, // it ends as the window begins
		{"2025-01-06T14:00:00Z", "2025-01-06T14:00:01Z", 1},
		{"2025-01-06T13:00:00Z", "2025-01-06T14:00:00Z", 0}, // the window ends as it begins
	} {
		require.Len(t, s.Overlapping(at(c.from), at(c.to)), c.want, "%s to %s", c.from, c.to)
	}
	point := newMaster(t, item.Item{
		product.AttrStartUtc: item.String("2025-01-06T14:00:00Z"), product.AttrStartTzid: item.String("UTC"),
		product.AttrRRule: item.String("FREQ=DAILY"),
	})
	require.Len(t, newSeries(t, "UTC", point).Overlapping(at("2025-01-07T14:00:00Z"), at("2025-01-07T14:00:01Z")), 1,
		"without length it is where it starts")
}

func TestIdle_isAnExceptionWhoseDateTheSeriesLost(t *testing.T) {
	t.Parallel()
	late := moved("20250310", "2025-03-12T14:00:00Z", "2025-03-12T15:00:00Z")
	for name, change := range map[string]item.Item{
		"another rule": {product.AttrRRule: item.String("FREQ=WEEKLY;BYDAY=TU")},
		"an end":       {product.AttrRRuleUntil: item.String("2025-03-01T00:00:00Z")},
		"an exdate":    {product.AttrExDate: item.List{item.String("20250310")}},
	} {
		s := newSeries(t, "UTC", weekly(t, change), late)
		require.Equal(t, []item.Item{late}, s.Idle(), name)
		require.Empty(t, s.Overlapping(at("2025-03-12T00:00:00Z"), at("2025-03-13T00:00:00Z")), name)
		_, ok := s.On("20250310")
		require.False(t, ok, name)
	}
}

func TestSeries_ignoresExceptionsUndoneOrOfOtherSeries(t *testing.T) {
	t.Parallel()
	other := moved("20250113", "2025-01-15T20:00:00Z", "2025-01-15T21:00:00Z")
	other[product.AttrEventID] = item.String(entity.InstanceID("mst_other", "20250113"))
	s := newSeries(t, "UTC", weekly(t, nil), exception("20250106", item.Item{}), other)
	o, ok := s.On("20250106")
	require.True(t, ok)
	require.True(t, o.Virtual())
	o, _ = s.On("20250113")
	require.True(t, o.Virtual())
	require.Empty(t, s.Idle())
}

func TestEnd_keepsTheLengthOfTheFirstOccurrence(t *testing.T) {
	t.Parallel()
	// 01:00 to 04:00
	night := item.Item{
		product.AttrStartUtc: item.String("2025-03-07T06:00:00Z"), product.AttrEndUtc: item.String("2025-03-07T09:00:00Z"),
	}
	zoned := newMaster(t, with(night, product.AttrStartTzid, "America/New_York"))
	// three hours, until 05:00 on the clock
	require.Equal(t, []string{"20250309 2025-03-09T06:00:00Z 2025-03-09T09:00:00Z"},
		spans(newSeries(t, "UTC", zoned).Overlapping(at("2025-03-09T05:00:00Z"), at("2025-03-09T10:00:00Z"))))

	floating := newMaster(t, item.Item{
		product.AttrStartUtc: item.String("2025-03-07T01:00:00Z"), product.AttrEndUtc: item.String("2025-03-07T04:00:00Z"),
		product.AttrRRule: item.String("FREQ=DAILY"),
	})
	// until 04:00 on the viewer's clock
	require.Equal(t, []string{"20250309 2025-03-09T06:00:00Z 2025-03-09T08:00:00Z"},
		spans(newSeries(t, "America/New_York", floating).Overlapping(at("2025-03-09T05:00:00Z"), at("2025-03-09T10:00:00Z"))))

	days := newMaster(t, item.Item{
		product.AttrIsAllDay: item.Bool(true), product.AttrStartDate: item.String("2025-03-08"),
		product.AttrEndDate: item.String("2025-03-10"), product.AttrRRule: item.String("FREQ=YEARLY"),
	})
	require.Equal(t, []string{"20250308 2025-03-08T05:00:00Z 2025-03-10T04:00:00Z"},
		spans(newSeries(t, "America/New_York", days).Overlapping(at("2025-03-10T03:59:00Z"), at("2025-03-10T12:00:00Z"))))
}

func with(it item.Item, name, value string) item.Item {
	out := it.Clone()
	out[name] = item.String(value)
	out[product.AttrRRule] = item.String("FREQ=DAILY")
	return out
}

func TestWith_addsExceptionsAndLeavesTheSeriesAsItIs(t *testing.T) {
	t.Parallel()
	s := newSeries(t, "UTC", weekly(t, nil), cancelled("20250127"))
	more := s.With(moved("20250113", "2025-01-15T20:00:00Z", "2025-01-15T21:00:00Z"), cancelled("20250114"))
	require.Equal(t, []string{
		"20250106 2025-01-06T14:00:00Z 2025-01-06T14:30:00Z",
		"20250113 2025-01-15T20:00:00Z 2025-01-15T21:00:00Z",
		"20250120 2025-01-20T14:00:00Z 2025-01-20T14:30:00Z",
	}, spans(more.Overlapping(at("2025-01-06T00:00:00Z"), at("2025-01-28T00:00:00Z"))))
	require.Len(t, more.Idle(), 1)
	o, _ := s.On("20250113")
	require.True(t, o.Virtual())
	require.Empty(t, s.Idle())
}

func TestTags_areTheSeriesUnlessTheOccurrenceHasItsOwn(t *testing.T) {
	t.Parallel()
	s := newSeries(t, "UTC", weekly(t, item.Item{entity.AttrTags: item.Strings("work", "team")}),
		exception("20250106", item.Item{entity.AttrTitle: item.String("x")}, entity.AttrTitle),
		exception("20250113", item.Item{entity.AttrTags: item.Strings("home")}, entity.AttrTags),
		exception("20250120", item.Item{}, entity.AttrTags))
	for date, want := range map[string][]string{
		"20250106": {"team", "work"}, "20250113": {"home"}, "20250120": nil, "20250127": {"team", "work"},
	} {
		o, ok := s.On(date)
		require.True(t, ok)
		require.Equal(t, want, s.Tags(o), date)
	}
}
