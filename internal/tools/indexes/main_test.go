package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/stacks"
)

// template has a table with indexes, each as name or name:key.
func template(indexes ...string) []byte {
	var parts []string
	for _, index := range indexes {
		name, key, _ := strings.Cut(index, ":")
		parts = append(parts, `{"IndexName":"`+name+`","KeySchema":[{"AttributeName":"PK`+key+`","KeyType":"HASH"}],`+
			`"Projection":{"ProjectionType":"ALL"},"WriteOnDemandThroughputSettings":{"MaxWriteRequestUnits":`+
			strings.Repeat("1", 1+len(indexes))+`}}`)
	}
	return []byte(`{"Resources":{"Bus":{"Type":"AWS::Events::EventBus"},"Table":{"Type":"AWS::DynamoDB::GlobalTable",` +
		`"Properties":{"GlobalSecondaryIndexes":[` + strings.Join(parts, ",") + `]}}}}`)
}

func TestCheck_allowsOneChangeOfIndexesAtOnce(t *testing.T) {
	t.Parallel()
	before := template("GSI1", "GSI2")
	for name, after := range map[string][]byte{
		"none": before, "one more": template("GSI1", "GSI2", "GSI3"), "one less": template("GSI2"),
		"one with other keys": template("GSI1", "GSI2:x"), "no table": []byte(`{}`),
	} {
		require.NoError(t, check(before, after), name)
	}
	require.NoError(t, check([]byte(`{}`), template("GSI1", "GSI2", "GSI3")), "a new table")
	for name, after := range map[string][]byte{
		"two more": template("GSI1", "GSI2", "GSI3", "GSI4"), "two less": template(),
		"one for another": template("GSI1", "GSI3"), "both with other keys": template("GSI1:x", "GSI2:x"),
	} {
		require.ErrorContains(t, check(before, after), "table Table: 2 indexes change", name)
	}
	require.ErrorContains(t, check([]byte("x"), before), "deployed template")
}

func TestRun_comparesWithWhatIsDeployed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "nexus-dev.template.json")
	require.NoError(t, os.WriteFile(path, template("GSI1", "GSI2", "GSI3"), 0o600))
	answer := func(text []byte, err error) error {
		return run(t.Context(), &stacks.Reader{Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
			require.Contains(t, args, "nexus-dev")
			return text, err
		}}, folder, "nexus-dev")
	}
	require.NoError(t, answer(template("GSI1", "GSI2"), nil))
	require.ErrorContains(t, answer(template("GSI1"), nil), "2 indexes change")
	require.NoError(t, answer(nil, errors.New("Stack with id nexus-dev does not exist")))
	require.ErrorContains(t, answer(nil, errors.New("no credentials")), "no credentials")
	require.Error(t, run(t.Context(), nil, folder, "nexus-prod"), "it was not synthesized")
}
