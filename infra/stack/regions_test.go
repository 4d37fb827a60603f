package stack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplicas_areAsProtectedAndRecoverableAsTheTable(t *testing.T) {
	t.Parallel()
	made := readFrom(t, spread, prod).one(tableType)
	regions := map[string]map[string]any{}
	for _, replica := range made.at("Replicas").([]any) {
		r := replica.(map[string]any)
		regions[r["Region"].(string)] = r
	}
	require.Len(t, regions, 3)
	own := regions["eu-central-1"]
	require.Equal(t, true, own["DeletionProtectionEnabled"])
	for _, other := range []string{"eu-west-1", "eu-north-1"} {
		for _, property := range []string{"DeletionProtectionEnabled", "PointInTimeRecoverySpecification"} {
			require.NotNil(t, own[property], property)
			require.Equal(t, own[property], regions[other][property], "%s in %s", property, other)
		}
		require.ElementsMatch(t, own["Tags"], regions[other]["Tags"], other)
	}
	require.Equal(t, "RetainExceptOnCreate", made.DeletionPolicy)
}

func TestReplicas_haveNoReader(t *testing.T) {
	t.Parallel()
	made := readFrom(t, spread, prod)
	mappings := made.streamMappings()
	require.Len(t, mappings, 2, "those of the stage's own region")
	for _, m := range mappings {
		require.Equal(t, made.one(tableType).attribute("StreamArn"), m.text("EventSourceArn"))
	}
}

func TestEnvironment_isThatOfAStageWithARegionAlone(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(spread, "manifest.json"))
	require.NoError(t, err)
	var manifest struct {
		Artifacts map[string]struct{ Environment string }
	}
	require.NoError(t, json.Unmarshal(text, &manifest))
	for _, name := range []string{"nexus-prod", "nexus-identity-prod"} {
		require.Equal(t, "aws://unknown-account/eu-central-1", manifest.Artifacts[name].Environment, name)
	}
	text, err = os.ReadFile(filepath.Join(spread, "nexus-prod.metadata.json"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "aws:cdk:error", "the rules hold with replicas, too")
}
