package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"nexus/pkg/local/engine"
)

// buildFlagsVariable names flags for building the binary under test, such as -race, separated by spaces.
const buildFlagsVariable = "NEXUS_E2E_BUILDFLAGS"

// workDir is the folder that the whole test binary may write to. It is removed at its end.
var workDir string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "nexus-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	workDir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// built builds the binary once, on first use.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(workDir, "nexus")
	args := append([]string{"build", "-buildvcs=false", "-o", path}, strings.Fields(os.Getenv(buildFlagsVariable))...)
	build := exec.Command("go", append(args, "nexus/cmd/nexus")...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(build.Args[1:], " "), err, out)
	}
	return path, nil
})

func binary(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatalf("build the binary under test: %v", err)
	}
	return path
}

// engineVariable is the environment in which a process finds the engine from any working directory.
func engineVariable(t testing.TB) string {
	t.Helper()
	path, err := engine.Find()
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		t.Fatalf("this test needs the local DynamoDB engine: %v", err)
	}
	return engine.BinaryVariable + "=" + path
}

// enginesOn returns the processes of the engine that have a file in the directory open as their database.
func enginesOn(dir string) ([]int, error) {
	if dir == "" {
		return nil, errors.New("engines of which directory")
	}
	out, err := exec.Command("ps", "-axww", "-o", "pid=,stat=,args=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		var pid int
		var state string
		if _, err := fmt.Sscan(line, &pid, &state); err != nil {
			return nil, fmt.Errorf("list processes: %q: %w", line, err)
		}
		dead := strings.HasPrefix(state, "Z")
		if !dead && strings.Contains(line, "--db-path "+strings.TrimSuffix(dir, "/")+"/") {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
