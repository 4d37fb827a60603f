package local_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
	"nexus/pkg/schedule/local"
)

const (
	// childDir asks a copy of the test binary to put schedules there until it is killed.
	childDir = "NEXUS_SCHEDULE_TEST_DIR"
	// childCall has it call one schedule instead, and says what the call does to it: "delete" or "replace".
	childCall = "NEXUS_SCHEDULE_TEST_CALL"
)

func TestMain(m *testing.M) {
	if dir, call := os.Getenv(childDir), os.Getenv(childCall); call != "" {
		callUntilKilled(dir, call)
	} else if dir != "" {
		putUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// callUntilKilled calls a schedule, which replaces or deletes itself, says so, and goes on until standard input ends.
func callUntilKilled(dir, call string) {
	var s *local.Scheduler
	s, err := local.New(local.Config{Dir: dir, Target: func(ctx context.Context, in schedule.Schedule) error {
		var err error
		if call == "delete" {
			err = s.Delete(ctx, in.Name)
		} else {
			err = s.Put(ctx, one(in.Name, noon.Add(time.Hour)))
		}
		if err == nil {
			fmt.Println("inside")
			_, err = io.Copy(io.Discard, os.Stdin)
		}
		return err
	}})
	if err == nil {
		if err = s.Put(context.Background(), one("a", noon)); err == nil {
			_, err = s.Fire(context.Background(), noon)
		}
	}
	fmt.Fprintln(os.Stderr, "not killed:", err)
	os.Exit(1)
}

func TestFire_repeatsAKilledCallWhoseScheduleIsGone(t *testing.T) {
	t.Parallel()
	for call, after := range map[string]int{"delete": 1, "replace": 2} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			child := exec.CommandContext(t.Context(), os.Args[0])
			child.Env = append(os.Environ(), childDir+"="+dir, childCall+"="+call)
			in, err := child.StdinPipe()
			require.NoError(t, err)
			defer in.Close()
			out, err := child.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, child.Start())
			lines := bufio.NewScanner(out)
			require.True(t, lines.Scan())
			require.Equal(t, "inside", lines.Text())
			require.NoError(t, child.Process.Kill())
			_ = child.Wait() // killed

			b := setup(t, dir, nil)
			require.Equal(t, 1, b.fire(t, noon))
			require.Equal(t, []schedule.Schedule{one("a", noon)}, b.called)
			b.fire(t, noon.Add(time.Hour))
			require.Len(t, b.called, after)
			b.nothingLeft(t, dir)
		})
	}
}

// putUntilKilled prints each name when Put has returned. The bound ends a child that is never killed.
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

func TestPut_survivesAKill(t *testing.T) {
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
