package stack_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddDeployer_isTrustedByOneRepositoryAndEnvironmentAlone(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{dev, prod} {
		made := readFrom(t, whole, "deployer-"+stage)
		provider := made.one("AWS::IAM::OIDCProvider")
		require.Equal(t, "https://token.actions.githubusercontent.com", provider.text("Url"))
		require.Equal(t, []string{"sts.amazonaws.com"}, texts(provider.at("ClientIdList")))

		role := made.one("AWS::IAM::Role")
		statements := role.at("AssumeRolePolicyDocument", "Statement").([]any)
		require.Len(t, statements, 1)
		statement := statements[0].(map[string]any)
		require.Equal(t, "sts:AssumeRoleWithWebIdentity", statement["Action"])
		require.Equal(t, "Allow", statement["Effect"])
		require.Equal(t, provider.attribute("Arn"), text(statement["Principal"].(map[string]any)["Federated"]))
		require.Equal(t, map[string]any{"StringEquals": map[string]any{
			"token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
			"token.actions.githubusercontent.com:sub": "repo:example/nexus:environment:" + stage,
		}}, statement["Condition"], "no pattern: another branch, pull request or environment gets no role")

		bootstrapped := func(name string) string {
			return "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/cdk-hnb659fds-" + name +
				"-role-${AWS::AccountId}-${AWS::Region}"
		}
		require.Equal(t, flat([]right{{
			[]string{"sts:AssumeRole"},
			[]string{bootstrapped("deploy"), bootstrapped("file-publishing"), bootstrapped("lookup")}, nil,
		}}), flat(rightsOf(made, role)))
		require.Equal(t, role.attribute("Arn"), text(made.outputs["DeployRole"]))
	}
}
