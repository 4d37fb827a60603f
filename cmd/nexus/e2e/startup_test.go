package e2e_test

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startupSpan is a little longer than a start takes.
const startupSpan = 120 * time.Millisecond

func TestDev_startsAfterAKillDuringTheStart(t *testing.T) {
	t.Parallel()
	s := onDirectory(t)
	c := s.client("early")
	c.create("tasks", map[string]any{"title": "kept"})
	s.waitUntilIdle()
	rows := s.scan()
	s.kill()
	chance := rand.New(rand.NewPCG(seed(t), 1))
	for range amount(t, "kills during a start", 5, 150) {
		p := begin(t, launch{
			args: append([]string{"dev", "--addr", s.addr}, s.args...),
			env:  append(os.Environ(), engineVariable(t)), dir: s.data,
		})
		// Not a wait for something: the test varies the instant of the crash.
		p.ended(time.Duration(chance.Int64N(int64(startupSpan))))
		select {
		case <-p.done:
			require.Fail(t, "the process ended by itself", "%s", p.stderr.text())
		default:
		}
		p.signal(t, syscall.SIGKILL)
		require.True(t, p.ended(endBound))
	}
	s.start()
	s.waitUntilIdle()
	require.Empty(t, changes(rows, s.scan()), "rows")
	require.Len(t, s.engines(), 1, "engines on the data")
}
