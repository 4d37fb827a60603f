package stack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
)

func TestAddDomain_letsTheAPIAnswerUnderTheStagesName(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{dev, prod} {
		made := readFrom(t, whole, stage)
		name := made.one("AWS::ApiGatewayV2::DomainName")
		require.Equal(t, "nexus.example.net", name.text("DomainName"))
		require.Equal(t, []any{map[string]any{
			"CertificateArn": certificateARN, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_2",
		}}, name.at("DomainNameConfigurations"))
		mapping := made.one("AWS::ApiGatewayV2::ApiMapping")
		require.Equal(t, made.one("AWS::ApiGatewayV2::Api").ref(), mapping.text("ApiId"))
		require.Equal(t, made.one("AWS::ApiGatewayV2::Stage").ref(), mapping.text("Stage"))
		require.Equal(t, name.ref(), mapping.text("DomainName"))
		require.Equal(t, name.attribute("RegionalDomainName"), text(made.outputs["DomainTarget"]))
		require.Equal(t, name.attribute("RegionalHostedZoneId"), text(made.outputs["DomainTargetZone"]))
		require.Equal(t, "https://nexus.example.net",
			made.function(env.Command).text("Environment", "Variables", env.FeedOrigin))
	}
}

func TestOrigin_isTheOnlyAddressOfTheAPIInOutputsAndVariables(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]string{
		whole: "https://nexus.example.net", assembly: "https://${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}",
	} {
		for _, stage := range []string{dev, prod} {
			made := readFrom(t, folder, stage)
			require.Equal(t, want, text(made.outputs["Address"]))
			told := map[string]any{}
			for name, value := range made.outputs {
				told["output "+name] = value
			}
			for _, f := range env.Functions() {
				variables, _ := made.function(f).at("Environment", "Variables").(map[string]any)
				for name, value := range variables {
					told[string(f)+" "+name] = value
				}
			}
			for name, value := range told {
				spelled := text(value)
				if strings.Contains(spelled, "execute-api") || strings.Contains(spelled, "${Api}") ||
					strings.Contains(spelled, "nexus.example.net") {
					require.Equal(t, want, spelled, name)
				}
			}
		}
	}
}

func TestNew_warnsOfAProtectedStageWithoutADomain(t *testing.T) {
	t.Parallel()
	// Deployments are made from stacks without warnings only.
	for path, want := range map[string]bool{
		filepath.Join(assembly, "nexus-dev"): false, filepath.Join(assembly, "nexus-prod"): true,
		filepath.Join(whole, "nexus-dev"): false, filepath.Join(whole, "nexus-prod"): false,
	} {
		text, err := os.ReadFile(path + ".metadata.json")
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(string(text), "nexus:domain"), path)
	}
	// A stage of which all is set has none: the identity stack is the issuer.
	all, err := filepath.Glob(filepath.Join(whole, "nexus-*.metadata.json"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, path := range all {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(text), "aws:cdk:warning", path)
	}
}
