package series_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

func TestAnExceptionHasOfItsOwnOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	master := weekly(t, item.Item{
		"location": item.String("room 1"), entity.AttrTags: item.Strings("work"), entity.AttrReminderMinutes: item.Ints(15),
	})
	row := exception("20250113", item.Item{
		entity.AttrTitle: item.String("standup, short"), "location": item.String("never shown"),
	}, entity.AttrTitle, "description", entity.AttrTags)
	s := newSeries(t, "UTC", master, row)
	o, ok := s.On("20250113")
	require.True(t, ok)
	it := s.Item(o)
	require.Equal(t, "standup, short", it.Str(entity.AttrTitle))
	require.Equal(t, "room 1", it.Str("location"), "a field that is not named is the series'")
	require.False(t, it.Has(entity.AttrTags), "named and absent: deliberately empty")
	require.Equal(t, []int64{15}, it.Ints(entity.AttrReminderMinutes))
	require.Equal(t, "2025-01-13T14:00:00Z", it.Str(entity.AttrStartUtc), "no time is named, so they are the series'")
	require.Equal(t, "2025-01-13T14:30:00Z", it.Str(entity.AttrEndUtc))
	require.Equal(t, []string{entity.AttrTitle, "description", entity.AttrTags}, it.Strings(entity.AttrModifiedFields))
	require.Equal(t, row.Key(), it.Key())
	require.Empty(t, entity.Instance().Validate(it))
}

func TestTimesAreAnExceptionsOwnAllOrNone(t *testing.T) {
	t.Parallel()
	row := exception("20250113", item.Item{
		entity.AttrIsAllDay: item.Bool(true), entity.AttrStartDate: item.String("2025-01-14"),
	}, entity.AttrIsAllDay, entity.AttrStartDate)
	s := newSeries(t, "Asia/Kolkata", weekly(t, nil), row)
	o, _ := s.On("20250113")
	require.Equal(t, "2025-01-13T18:30:00Z", item.FormatInstant(o.Start), "an all-day exception floats")
	it := s.Item(o)
	require.False(t, it.Has(entity.AttrStartUtc))
	require.False(t, it.Has(entity.AttrStartTzid))
	require.Equal(t, "2025-01-14", it.Str(entity.AttrStartDate))
	require.Equal(t, "2025-01-13T14:00:00Z", it.Str(entity.AttrRecurrenceID))
	require.Empty(t, entity.Instance().Validate(it))
}

func TestAVirtualOccurrenceIsAnInstanceWithTheSeriesVersion(t *testing.T) {
	t.Parallel()
	master := weekly(t, item.Item{"color": item.String("#22c55e"), entity.AttrStatus: item.String(entity.StatusTentative)})
	master[entity.AttrVersion] = item.Int(7)
	s := newSeries(t, "UTC", master)
	o, ok := s.On("20250310")
	require.True(t, ok)
	require.True(t, o.Virtual())
	it := s.Item(o)
	require.Equal(t, entity.ItemKey(user, entity.Ref{Type: entity.TypeInstance, ID: "inst_20250310_standup"}), it.Key())
	require.Equal(t, map[string]string{
		"type": entity.TypeInstance, "id": "inst_20250310_standup", "series": masterID,
		"recurrence": "2025-03-10T13:00:00Z", "start": "2025-03-10T13:00:00Z", "status": entity.StatusTentative,
	}, map[string]string{
		"type": it.Str(entity.AttrType), "id": it.Str(entity.AttrEventID), "series": it.Str(entity.AttrMasterID),
		"recurrence": it.Str(entity.AttrRecurrenceID), "start": it.Str(entity.AttrStartUtc), "status": it.Str(entity.AttrStatus),
	})
	require.Equal(t, int64(7), it.Int(entity.AttrVersion))
	require.False(t, it.Has(entity.AttrRRule))
	require.Empty(t, entity.Instance().Validate(it))
}

func TestOfASeriesOfWholeDaysTheRecurrenceIDIsTheReading(t *testing.T) {
	t.Parallel()
	master := newMaster(t, item.Item{
		entity.AttrIsAllDay: item.Bool(true), entity.AttrStartDate: item.String("2025-12-24"), entity.AttrRRule: item.String("FREQ=YEARLY"),
	})
	s := newSeries(t, "Pacific/Apia", master)
	o, ok := s.On("20261224")
	require.True(t, ok)
	it := s.Item(o)
	require.Equal(t, "2026-12-24T00:00:00Z", it.Str(entity.AttrRecurrenceID))
	require.Equal(t, "2026-12-24", it.Str(entity.AttrStartDate))
	require.Equal(t, "2026-12-25", it.Str(entity.AttrEndDate))
}
