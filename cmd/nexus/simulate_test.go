package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulateCommand_printsWhatItPlayed(t *testing.T) {
	t.Parallel()
	code, results, messages := nexus(t, "simulate", "--seeds", "5", "--from", "7", "--steps", "40")
	require.Equal(t, exitDone, code, messages)
	require.Regexp(t, `^5 histories, \d+ operations, 0 violations, \d+ operations a second\n$`, results)

	code, results, messages = nexus(t, "simulate", "--seeds", "3", "--skip", "0-4,9", "--calm", "12", "--json")
	require.Equal(t, exitDone, code, messages)
	var answer struct {
		Histories  int
		Operations int64
		Violations []any
	}
	require.NoError(t, json.Unmarshal([]byte(results), &answer))
	require.Equal(t, 3, answer.Histories)
	require.Positive(t, answer.Operations)
	require.Empty(t, answer.Violations)

	for _, args := range [][]string{{"--skip", "4-2"}, {"--calm", "x"}, {"--steps", "0"}, {"--seeds", "x"}} {
		code, results, _ := nexus(t, append([]string{"simulate"}, args...)...)
		require.Equal(t, exitUsage, code, "%v", args)
		require.Empty(t, results)
	}
}
