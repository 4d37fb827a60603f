package wallclock_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/wallclock"
)

func TestLoadLocation_takesANameOfTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"UTC", "Europe/London", "America/Argentina/Buenos_Aires", "America/Port-au-Prince", "Etc/GMT+5",
		"Asia/Kolkata", "Zulu",
	} {
		zone, err := wallclock.LoadLocation(name)
		require.NoError(t, err, name)
		require.Equal(t, name, zone.String())
	}
	for _, name := range []string{
		"", "Local", "EST", "GMT", "Mars/Olympus_Mons",
		// Files that a machine's copy of the database has beside the zones, and other paths to the same file.
		"localtime", "posixrules", "posix/Europe/London", "right/Europe/London", "tzdata.zi",
		"Europe//London", "./UTC", "Europe/./London", "Europe/../UTC", "/Europe/London", "Europe/London/",
		"europe/london", "Europe",
	} {
		_, err := wallclock.LoadLocation(name)
		require.Error(t, err, name)
	}
}

func TestLoadLocation_doesNotRepeatARefusedZoneAtLength(t *testing.T) {
	t.Parallel()
	_, err := wallclock.LoadLocation("Europe/" + strings.Repeat("x", 1<<20))
	require.Error(t, err)
	require.Less(t, len(err.Error()), 200)
}
