package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/bundle"
)

func TestFirstRequest_measuresAStartUntilAnInvocationIsAskedFor(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, bundle.Build(t.Context(), "", bundle.Here(), folder, "./"+empty))
	one, err := start(t.Context(), filepath.Join(folder, empty), environment())
	require.NoError(t, err)
	require.Positive(t, one.clock)
	require.Positive(t, one.processor)
}

func TestFirstRequest_failsWithTheOutputOfAProgramThatEnds(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho TABLE_NAME is missing >&2\nexit 1\n"), 0o755))
	_, err := start(t.Context(), program, nil)
	require.ErrorContains(t, err, "TABLE_NAME is missing")
}

func TestReport_comparesMediansWithThoseOfTheEmptyFunction(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	measured := map[string][]began{}
	for name, milliseconds := range map[string][]time.Duration{empty: {9, 2, 1}, "notify": {3, 50, 4}} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), make([]byte, 1234), 0o755))
		for _, n := range milliseconds {
			measured[name] = append(measured[name], began{n * time.Millisecond, 2 * n * time.Millisecond})
		}
	}
	var out bytes.Buffer
	require.NoError(t, report(&out, 3, []string{empty, "notify"}, measured, folder))
	require.Regexp(t, `notify +4\.00 ms +3\.00 ms +2\.00 +2 +8\.00 ms +2\.00 +1234`, out.String())
}
