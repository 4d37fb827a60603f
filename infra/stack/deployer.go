package stack

import (
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

const (
	// repository is the setting that names the repository whose workflow deploys the stage.
	repository = "repository"

	deployerPrefix = prefix + "deployer-"
	// githubTokens issues the tokens of workflows (GitHub Docs, "Configuring OpenID Connect in Amazon Web Services").
	githubTokens = "token.actions.githubusercontent.com"
	// qualifier is that of the roles that `cdk bootstrap` makes.
	qualifier = "hnb659fds"
	hourLong  = 1
)

var repositoryForm = regexp.MustCompile(`^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$`)

func (r *reader) checkRepository(s Settings) {
	r.Refuse(s.Repository != "" && !repositoryForm.MatchString(s.Repository), repository, "want owner/name")
}

// addDeployer adds the stack of the role with which a workflow of the repository deploys the stage. Only a job in the
// environment of the stage's name gets the role, and the role may only take those that the bootstrap made.
func addDeployer(scope constructs.Construct, s Settings) {
	if s.Repository == "" {
		return
	}
	stack := awscdk.NewStack(scope, jsii.String(deployerPrefix+s.Stage), &awscdk.StackProps{
		StackName:             jsii.String(deployerPrefix + s.Stage),
		Description:           jsii.String("Nexus: the role with which a workflow deploys stage " + s.Stage),
		TerminationProtection: jsii.Bool(s.Protected), AnalyticsReporting: jsii.Bool(false),
	})
	d := &deployment{Stack: stack, settings: s}
	d.tag()
	provider := awsiam.NewCfnOIDCProvider(stack, jsii.String("Workflows"), &awsiam.CfnOIDCProviderProps{
		Url: jsii.String("https://" + githubTokens), ClientIdList: jsii.Strings("sts.amazonaws.com"),
	})
	var roles []string
	for _, name := range []string{"deploy", "file-publishing", "lookup"} {
		roles = append(roles, *stack.FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("iam"), Region: jsii.String(""), Resource: jsii.String("role"),
			ResourceName: jsii.String("cdk-" + qualifier + "-" + name + "-role-" + *stack.Account() + "-" + *stack.Region()),
		}))
	}
	role := awsiam.NewRole(stack, jsii.String("Deployer"), &awsiam.RoleProps{
		Description: jsii.String("Nexus: takes the roles of the bootstrap, for a workflow of " + s.Repository),
		AssumedBy: awsiam.NewFederatedPrincipal(provider.AttrArn(), &map[string]any{"StringEquals": map[string]any{
			githubTokens + ":aud": "sts.amazonaws.com",
			githubTokens + ":sub": "repo:" + s.Repository + ":environment:" + s.Stage,
		}}, jsii.String("sts:AssumeRoleWithWebIdentity")),
		MaxSessionDuration: awscdk.Duration_Hours(jsii.Number(hourLong)),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"Deploy": policy(allow([]string{"sts:AssumeRole"}, roles, nil)),
		},
	})
	d.output("DeployRole", "DEPLOY_ROLE of environment "+s.Stage, role.RoleArn())
}
