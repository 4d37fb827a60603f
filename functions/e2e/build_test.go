// Package e2e_test runs the functions as Lambda does: the built program, the runtime API, the payloads of events/,
// and the services at the other end of the wire.
package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/bundle"
	"nexus/pkg/deploy/env"
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
	if err := build(bundle.Here(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		if code = m.Run(); code == 0 && !madeAll() {
			code = 1
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// maxBuild bounds a build with a cold cache.
const maxBuild = 5 * time.Minute

// build builds all functions as the deployment does, for the machine.
func build(machine bundle.Machine, dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxBuild)
	defer cancel()
	var packages []string
	for _, f := range env.Functions() {
		packages = append(packages, "nexus/functions/"+string(f))
	}
	return bundle.Build(ctx, "", machine, dir, packages...)
}

// maxProgram bounds the size of a deployed program, in bytes: it is fetched and unpacked before a cold start. Query has
// the index of words, and S3's client for its snapshots.
const (
	maxProgram = 13_000_000
	maxQuery   = 14_250_000
)

func TestFunctions_buildForTheDeploymentAndAreSmall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, build(bundle.Lambda(), dir))
	for _, f := range env.Functions() {
		program, err := os.Stat(filepath.Join(dir, string(f)))
		require.NoError(t, err)
		bound := int64(maxProgram)
		if f == env.Query {
			bound = maxQuery
		}
		require.Less(t, program.Size(), bound, "%s", f)
	}
}
