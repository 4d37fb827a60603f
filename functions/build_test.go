// Package functions_test runs the functions as Lambda does: the built program, the runtime API, the payloads of events/,
// and the services at the other end of the wire.
package functions_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/env"
)

// bin is the folder of the programs, built for this machine before the first test runs.
var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "nexus-functions-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	bin = dir
	code := 1
	if out, err := build(dir); err != nil {
		fmt.Fprintf(os.Stderr, "build the functions: %v\n%s", err, out)
	} else {
		code = m.Run()
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// maxBuild bounds a build with a cold cache.
const maxBuild = 5 * time.Minute

// build builds all functions as the deployment does, except for what the environment says of the target.
func build(dir string, environment ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxBuild)
	defer cancel()
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-tags", "lambda.norpc", "-o", dir + string(filepath.Separator)}
	for _, f := range env.Functions() {
		args = append(args, "./"+string(f))
	}
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = append(append(os.Environ(), "CGO_ENABLED=0"), environment...)
	return command.CombinedOutput()
}

// maxProgram is what a deployed program may have, in bytes: it is read whole at a cold start.
const maxProgram = 13 << 20

func TestEveryFunctionBuildsForTheDeploymentAndIsSmall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := build(dir, "GOOS=linux", "GOARCH=arm64")
	require.NoError(t, err, "%s", out)
	for _, f := range env.Functions() {
		program, err := os.Stat(filepath.Join(dir, string(f)))
		require.NoError(t, err)
		require.Less(t, program.Size(), int64(maxProgram), "%s", f)
	}
}
