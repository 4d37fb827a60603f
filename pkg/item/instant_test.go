package item_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
)

func TestResolve_readsWallTimesAsRFC5545Does(t *testing.T) {
	for _, c := range []struct{ zone, wall, instant string }{
		{"UTC", "2025-03-09T02:30:00Z", "2025-03-09T02:30:00Z"},
		{"America/New_York", "2025-03-09T02:30:00Z", "2025-03-09T07:30:00Z"},    // gap: forward to 03:30
		{"America/New_York", "2025-11-02T01:30:00Z", "2025-11-02T05:30:00Z"},    // overlap: the first
		{"Europe/London", "2025-03-30T01:15:00Z", "2025-03-30T01:15:00Z"},       // gap east of the transition
		{"Europe/London", "2025-10-26T01:30:00Z", "2025-10-26T00:30:00Z"},       // overlap
		{"Australia/Lord_Howe", "2025-10-05T02:15:00Z", "2025-10-04T15:45:00Z"}, // half-hour gap
		{"Australia/Lord_Howe", "2025-04-06T01:45:00Z", "2025-04-05T14:45:00Z"}, // half-hour overlap
		{"Pacific/Apia", "2011-12-30T12:00:00Z", "2011-12-30T22:00:00Z"},        // a whole day is skipped
		{"Pacific/Apia", "2011-12-31T12:00:00Z", "2011-12-30T22:00:00Z"},
		{"Asia/Kolkata", "2025-06-01T12:00:00Z", "2025-06-01T06:30:00Z"},
		{"Pacific/Kiritimati", "2025-06-01T00:00:00Z", "2025-05-31T10:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		wall, err := item.ParseInstant(c.wall)
		require.NoError(t, err)
		require.Equal(t, c.instant, item.FormatInstant(item.Resolve(wall, zone)), "%s in %s", c.wall, c.zone)
	}
}

func TestWall_isTheInverseOfResolve(t *testing.T) {
	for _, name := range []string{"America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Europe/London"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for at := time.Date(2011, 12, 1, 0, 15, 0, 0, time.UTC); at.Year() < 2013; at = at.Add(97 * time.Minute) {
			back := item.Resolve(item.Wall(at, zone), zone)
			if !back.Equal(at) { // only the second showing of a repeated reading may differ
				require.True(t, back.Before(at), "%s in %s", at, name)
				require.Equal(t, item.Wall(at, zone), item.Wall(back, zone))
			}
		}
	}
}
