package series_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestItem_hasOnlyWhatAnExceptionNames(t *testing.T) {
	t.Parallel()
	master := weekly(t, item.Item{
		"location": item.String("room 1"), entity.AttrTags: item.Strings("work"), product.AttrReminderMinutes: item.Ints(15),
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
	require.Equal(t, []int64{15}, it.Ints(product.AttrReminderMinutes))
	require.Equal(t, "2025-01-13T14:00:00Z", it.Str(product.AttrStartUtc), "no time is named, so they are the series'")
	require.Equal(t, "2025-01-13T14:30:00Z", it.Str(product.AttrEndUtc))
	require.Equal(t, []string{entity.AttrTitle, "description", entity.AttrTags}, it.Strings(product.AttrModifiedFields))
	require.Equal(t, row.Key(), it.Key())
	require.Empty(t, product.Instance().Validate(it))
}

func TestHasOwnTimes_isTrueForAllTimesOrNone(t *testing.T) {
	t.Parallel()
	row := exception("20250113", item.Item{
		product.AttrIsAllDay: item.Bool(true), product.AttrStartDate: item.String("2025-01-14"),
	}, product.AttrIsAllDay, product.AttrStartDate)
	s := newSeries(t, "Asia/Kolkata", weekly(t, nil), row)
	o, _ := s.On("20250113")
	require.Equal(t, "2025-01-13T18:30:00Z", item.FormatInstant(o.Start), "an all-day exception floats")
	it := s.Item(o)
	require.False(t, it.Has(product.AttrStartUtc))
	require.False(t, it.Has(product.AttrStartTzid))
	require.Equal(t, "2025-01-14", it.Str(product.AttrStartDate))
	require.Equal(t, "2025-01-13T14:00:00Z", it.Str(product.AttrRecurrenceID))
	require.Empty(t, product.Instance().Validate(it))
}

func TestVirtual_isAnInstanceWithTheSeriesVersion(t *testing.T) {
	t.Parallel()
	master := weekly(t, item.Item{
		"color": item.String("#22c55e"), entity.AttrStatus: item.String(product.StatusTentative),
	})
	master[entity.AttrVersion] = item.Int(7)
	s := newSeries(t, "UTC", master)
	o, ok := s.On("20250310")
	require.True(t, ok)
	require.True(t, o.Virtual())
	it := s.Item(o)
	require.Equal(t, entity.ItemKey(user, entity.Ref{Type: entity.TypeInstance, ID: "inst_20250310_standup"}), it.Key())
	require.Equal(t, map[string]string{
		"type": entity.TypeInstance, "id": "inst_20250310_standup", "series": masterID,
		"recurrence": "2025-03-10T13:00:00Z", "start": "2025-03-10T13:00:00Z", "status": product.StatusTentative,
	}, map[string]string{
		"type": it.Str(entity.AttrType), "id": it.Str(product.AttrEventID), "series": it.Str(product.AttrMasterID),
		"recurrence": it.Str(product.AttrRecurrenceID), "start": it.Str(product.AttrStartUtc),
		"status": it.Str(entity.AttrStatus),
	})
	require.Equal(t, int64(7), it.Int(entity.AttrVersion))
	require.False(t, it.Has(product.AttrRRule))
	require.Empty(t, product.Instance().Validate(it))
}

func TestRecurrenceID_isTheReadingInASeriesOfWholeDays(t *testing.T) {
	t.Parallel()
	master := newMaster(t, item.Item{
		product.AttrIsAllDay: item.Bool(true), product.AttrStartDate: item.String("2025-12-24"),
		product.AttrRRule: item.String("FREQ=YEARLY"),
	})
	s := newSeries(t, "Pacific/Apia", master)
	o, ok := s.On("20261224")
	require.True(t, ok)
	it := s.Item(o)
	require.Equal(t, "2026-12-24T00:00:00Z", it.Str(product.AttrRecurrenceID))
	require.Equal(t, "2026-12-24", it.Str(product.AttrStartDate))
	require.Equal(t, "2026-12-25", it.Str(product.AttrEndDate))
}
