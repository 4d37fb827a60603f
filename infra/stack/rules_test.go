package stack_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
)

func TestCheck_findsNoBrokenRuleAndAReasonForEachException(t *testing.T) {
	t.Parallel()
	for folder, stacks := range map[string][]string{
		assembly: {"dev", "prod"},
		doors:    {"prod"},
		whole: {"dev", "prod", "identity-dev", "identity-prod", "deployer-dev", "deployer-prod",
			"copies-dev", "copies-prod"},
	} {
		reports, err := filepath.Glob(filepath.Join(folder, "AwsSolutions--*-NagReport.csv"))
		require.NoError(t, err)
		require.Len(t, reports, len(stacks))
		for _, name := range stacks {
			compliant := checkReport(t, filepath.Join(folder, "AwsSolutions--nexus-"+name+"-NagReport.csv"))
			rules := []string{
				"AwsSolutions-APIG4", "AwsSolutions-IAM4", "AwsSolutions-S10", "AwsSolutions-SQS4",
			}
			switch {
			case strings.HasPrefix(name, "identity-"):
				rules = []string{"AwsSolutions-COG1"}
			case strings.HasPrefix(name, "copies-"):
				rules = []string{"AwsSolutions-S10"}
			case strings.HasPrefix(name, "deployer-"):
				rules = []string{"AwsSolutions-IAM4", "AwsSolutions-IAM5"}
			}
			for _, rule := range rules {
				require.True(t, compliant[rule], "%s was not looked at", rule)
			}
		}
	}
}

// checkReport holds a report of the rules against what a stack may have, and returns which rules a resource keeps.
func checkReport(t *testing.T, path string) (compliant map[string]bool) {
	t.Helper()
	report, err := os.ReadFile(path)
	require.NoError(t, err)
	lines, err := csv.NewReader(bytes.NewReader(report)).ReadAll()
	require.NoError(t, err)
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	compliant = map[string]bool{}
	for _, line := range lines[1:] {
		rule, verdict := line[column["Rule ID"]], line[column["Compliance"]]
		require.Contains(t, []string{"Compliant", "Suppressed"}, verdict, "%v", line)
		compliant[rule] = compliant[rule] || verdict == "Compliant"
		if verdict == "Suppressed" {
			require.Greater(t, len(line[column["Exception Reason"]]), 40, "%v", line)
		}
	}
	return compliant
}

func TestNew_warnsOfUnsetSettingsAloneAndRaisesNoError(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{dev, prod} {
		text, err := os.ReadFile(filepath.Join(assembly, "nexus-"+stage+".metadata.json"))
		require.NoError(t, err)
		var metadata map[string][]struct {
			Type string
			Data any
		}
		require.NoError(t, json.Unmarshal(text, &metadata))
		for path, entries := range metadata {
			for _, entry := range entries {
				require.NotEqual(t, "aws:cdk:error", entry.Type, "%s: %v", path, entry.Data)
				if entry.Type == "aws:cdk:warning" {
					require.Regexp(t, `nexus:(issuer|subjectForm|alarms|copies|domain|budget)\b`, entry.Data, path)
				}
			}
		}
	}
}

func TestNew_warnsOfAnIssuerThatIsAnExample(t *testing.T) {
	t.Parallel()
	// Deployments are made from stacks without warnings only.
	for folder, want := range map[string]bool{
		assembly: strings.HasSuffix(read(t, prod).settings.Issuer, "example.com"), adjusted: false,
	} {
		text, err := os.ReadFile(filepath.Join(folder, "nexus-prod.metadata.json"))
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(string(text), "nexus:issuer"), folder)
	}
}

func TestNew_warnsOfAProtectedStageWhoseAlarmsTellNobody(t *testing.T) {
	t.Parallel()
	// No alarm of the first folder has an action: synthesize takes what cdk.json says of it away.
	for _, c := range []struct {
		folder, stage string
		want          bool
	}{{assembly, prod, true}, {assembly, dev, false}, {adjusted, prod, false}, {mailed, prod, false}} {
		text, err := os.ReadFile(filepath.Join(c.folder, "nexus-"+c.stage+".metadata.json"))
		require.NoError(t, err)
		require.Equal(t, c.want, strings.Contains(string(text), "nexus:alarms"), "%s of %s", c.stage, c.folder)
	}
}

func TestNew_warnsOfAStageThatSaysNotHowUsersAreNamed(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]bool{
		assembly: read(t, prod).settings.SubjectForm == 0, adjusted: false,
	} {
		text, err := os.ReadFile(filepath.Join(folder, "nexus-prod.metadata.json"))
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(string(text), "nexus:subjectForm"), folder)
	}
	variables := func(made *template) any {
		return made.function(env.Query).at("Environment", "Variables", env.SubjectForm)
	}
	require.Equal(t, "1", variables(read(t, prod)), "users of a stage with data keep their accounts")
	require.Equal(t, "2", variables(readFrom(t, adjusted, prod)))
}

func TestNew_namesNeitherAccountNorRegion(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(assembly, "manifest.json"))
	require.NoError(t, err)
	var manifest struct {
		Artifacts map[string]struct {
			Type, Environment string
			Properties        struct{ TerminationProtection bool }
		}
	}
	require.NoError(t, json.Unmarshal(text, &manifest))
	for _, stage := range []string{dev, prod} {
		artifact, ok := manifest.Artifacts["nexus-"+stage]
		require.True(t, ok, stage)
		require.Equal(t, "aws://unknown-account/unknown-region", artifact.Environment)
		require.Equal(t, read(t, stage).settings.Protected, artifact.Properties.TerminationProtection)
	}
}
