package item_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
)

func TestParseInstant_readsStoredTimesAsTheirLayoutsSay(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "x", "2025-12-01T12:34:56Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2024-02-29T00:00:00Z",
		"2025-02-29T00:00:00Z",
		"1900-02-29T00:00:00Z", "2025-13-01T00:00:00Z", "2025-00-01T00:00:00Z", "2025-01-00T00:00:00Z",
		"2025-04-31T00:00:00Z",
		"2025-01-01T24:00:00Z", "2025-01-01T00:60:00Z", "2025-01-01T00:00:60Z", "2025-01-01 00:00:00Z",
		"2025-01-01T00:00:00z",
		"2025/01/01T00:00:00Z", "2025-01-01T00.00:00Z", "+025-01-01T00:00:00Z", "2025-01-01T-1:00:00Z",
		"2025-1-001T00:00:00Z",
		"2025-01-01", "2024-02-29", "2025-02-30", "2025-01-1", "20250101", "20240229", "20250229", "2025 101", "202501011",
		"２０２５",
	}
	for _, text := range texts {
		for layout, parse := range map[string]func(string) (time.Time, error){
			"2006-01-02T15:04:05Z": item.ParseInstant, "2006-01-02": item.ParseDate, "20060102": item.ParseCompactDate,
		} {
			want, wrong := time.Parse(layout, text)
			got, err := parse(text)
			require.Equal(t, wrong == nil, err == nil, "%q as %s", text, layout)
			if err == nil {
				require.Equal(t, want, got, "%q as %s", text, layout)
			}
		}
	}
}

func TestFormatInstant_writesStoredTimesAsTheirLayoutsSay(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	for at := time.Date(-1, 12, 30, 20, 17, 59, 999,
		time.UTC); at.Year() < 10_002; at = at.Add(977*24*time.Hour + 1234567*time.Millisecond) {
		for _, in := range []time.Time{at, at.In(zone)} {
			require.Equal(t, at.Format("2006-01-02T15:04:05Z"), item.FormatInstant(in))
			require.Equal(t, in.Format("2006-01-02"), item.FormatDate(in))
			require.Equal(t, in.Format("20060102"), item.CompactDate(in))
		}
	}
}
