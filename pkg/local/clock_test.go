package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A file of a release before has no moves: its records are taken for those of the offset that it has.
func TestClock_readsTheFileOfAReleaseBefore(t *testing.T) {
	t.Parallel()
	machine := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "clock.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"offset":"1h0m0s"}`), 0o600))
	c, err := openClock(func() time.Time { return machine }, file)
	require.NoError(t, err)
	require.Equal(t, machine.Add(time.Hour), c.Now())
	require.Equal(t, machine.Add(time.Hour), c.recorded(machine))
}

// What was recorded before a move had the clock's time as it was then, also after a restart.
func TestClock_knowsWhatItShowedWhenARecordWasMade(t *testing.T) {
	t.Parallel()
	machine := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "clock.json")
	c, err := openClock(func() time.Time { return machine }, file)
	require.NoError(t, err)
	begin := machine
	machine = machine.Add(10 * time.Second)
	require.NoError(t, c.MoveTo(machine.Add(time.Hour)))
	machine = machine.Add(10 * time.Second)
	require.NoError(t, c.MoveTo(c.Now().Add(time.Hour)))
	for range 2 {
		require.Equal(t, begin.Add(9*time.Second), c.recorded(begin.Add(9*time.Second)))
		require.Equal(t, begin.Add(time.Hour+15*time.Second), c.recorded(begin.Add(15*time.Second)))
		require.Equal(t, begin.Add(2*time.Hour+25*time.Second), c.recorded(begin.Add(25*time.Second)))
		require.Equal(t, c.Now(), c.recorded(machine))
		c, err = openClock(func() time.Time { return machine }, file)
		require.NoError(t, err)
	}
}
