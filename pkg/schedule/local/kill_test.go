package local_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
	"nexus/pkg/schedule/local"
)

// childDir tells a copy of the test binary to put schedules there until it is killed.
const childDir = "NEXUS_SCHEDULE_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		putUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// putUntilKilled prints each name when Put has returned. The bound ends a child that nobody kills.
func putUntilKilled(dir string) {
	s, err := local.New(local.Config{Dir: dir, Target: func(context.Context, schedule.Schedule) error { return nil }})
	for i := 0; err == nil && i < 1_000_000; i++ {
		name := fmt.Sprint("s", i)
		if err = s.Put(context.Background(), one(name, noon)); err == nil {
			fmt.Println(name)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestWhatWasPutSurvivesAKill(t *testing.T) {
	t.Parallel()
	const enough = 40
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())

	var acknowledged []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		acknowledged = append(acknowledged, strings.TrimSpace(lines.Text()))
		if len(acknowledged) == enough {
			require.NoError(t, child.Process.Kill())
		}
	}
	_ = child.Wait() // killed
	require.GreaterOrEqual(t, len(acknowledged), enough)

	states := setup(t, dir, nil).states()
	for _, name := range acknowledged {
		require.Equal(t, local.Pending, states[name], name)
	}
	require.LessOrEqual(t, len(states), len(acknowledged)+1, "at most one put was under way")
}
