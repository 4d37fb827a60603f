package series_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
)

func all(series.Occurrence) bool { return true }

func TestNext_isWhereExceptionsMovedTo(t *testing.T) {
	t.Parallel()
	s := newSeries(t, "UTC", weekly(t, nil), // Mondays 09:00 in New York
		moved("20250113", "2025-02-05T20:00:00Z", "2025-02-05T21:00:00Z"), // weeks later
		cancelled("20250120"),
		moved("20250303", "2025-01-28T10:00:00Z", "2025-01-28T10:30:00Z"), // weeks earlier
		moved("20250310", "2025-02-10T14:00:00Z", "2025-02-10T14:30:00Z"), // onto another
	)
	var dates []string
	after := at("2025-01-06T13:59:59Z")
	for range 6 {
		o, ok := s.Next(after, all)
		require.True(t, ok)
		dates = append(dates, o.Date)
		after = o.Start
	}
	require.Equal(t, []string{"20250106", "20250127", "20250303", "20250203", "20250113", "20250210"}, dates)

	o, ok := s.Next(at("2025-02-06T00:00:00Z"), func(o series.Occurrence) bool { return o.Date != "20250210" })
	require.True(t, ok)
	require.Equal(t, "20250310", o.Date, "the other that starts together with it")
	require.Equal(t, "2025-03-10T13:00:00Z", item.FormatInstant(s.RecurrenceID(o)), "named after where the rule has it")
}

func TestNext_isMissingAtTheEndUnlessAnExceptionMoved(t *testing.T) {
	t.Parallel()
	master := weekly(t, item.Item{product.AttrRRule: item.String("FREQ=WEEKLY;COUNT=2")})
	s := newSeries(t, "UTC", master)
	_, ok := s.Next(at("2025-01-13T14:00:00Z"), all)
	require.False(t, ok)
	s = newSeries(t, "UTC", master, moved("20250106", "2025-06-01T10:00:00Z", "2025-06-01T11:00:00Z"))
	o, ok := s.Next(at("2025-01-13T14:00:00Z"), all)
	require.True(t, ok)
	require.Equal(t, "20250106", o.Date)
	_, ok = s.Next(at("2025-01-13T14:00:00Z"), func(series.Occurrence) bool { return false })
	require.False(t, ok)
}

func TestRecurrenceID_isTheReadingInAFloatingSeries(t *testing.T) {
	t.Parallel()
	master := newMaster(t, item.Item{
		product.AttrStartUtc: item.String("2025-01-06T09:00:00Z"), product.AttrRRule: item.String("FREQ=DAILY"),
	})
	for _, zone := range []string{"UTC", "Asia/Tokyo", "America/New_York"} {
		s := newSeries(t, zone, master)
		o, ok := s.On("20250110")
		require.True(t, ok)
		require.Equal(t, "2025-01-10T09:00:00Z", item.FormatInstant(s.RecurrenceID(o)), zone)
	}
}
