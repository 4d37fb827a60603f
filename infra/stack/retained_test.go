package stack_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// namesOf are the properties that name a resource.
func namesOf() []string {
	return []string{"TableName", "BucketName", "QueueName", "LogGroupName", "Name"}
}

// What a deleted protected stack leaves under fixed names stands in the way of the next deployment, until it is
// imported: the manual lists it, and nothing else.
func TestStack_leavesOnlyWhatTheManualImports(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(manual), "## A stack that was deleted\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 3 && strings.Contains(cells[1], "`") {
			listed = append(listed, strings.Trim(cells[1], " `"))
		}
	}
	var left []string
	for _, r := range read(t, prod).resources {
		if !strings.HasPrefix(r.DeletionPolicy, "Retain") || r.Type == "AWS::Lambda::Version" {
			continue
		}
		name := r.id
		for _, property := range namesOf() {
			if is, ok := r.Properties[property]; ok {
				name = text(is)
			}
		}
		left = append(left, r.Type+" "+name)
	}
	slices.Sort(left)
	require.Equal(t, strings.Join(left, "\n"), strings.Join(listed, "\n"))
}
