package entity_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
)

// shell runs what an operator would type.
func shell(t *testing.T, line string) string {
	t.Helper()
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("no sha256sum")
	}
	out, err := exec.Command("sh", "-c", line).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func TestTraceID_isWhatTheOperatorsShellSays(t *testing.T) {
	t.Parallel()
	trace := entity.TraceID("ann", "task_4c2d7b90-19aa-4f0e-a8f6-6b1de2b0c702", 3)
	require.Equal(t,
		shell(t, `printf '%s#%s#%s' ann task_4c2d7b90-19aa-4f0e-a8f6-6b1de2b0c702 3 | sha256sum | cut -c 1-32`), trace)
}

func TestTraceID_differsForEachWriteOfEachItemAndUser(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, user := range []string{"ann", "bob"} {
		for _, id := range []string{"task_1", "task_11"} {
			for _, version := range []int64{1, 2, 11} {
				seen[entity.TraceID(user, id, version)] = true
			}
		}
	}
	require.Len(t, seen, 12)
}
