package stack

import (
	"net/url"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Settings of the issuer that the deployment can make itself.
const (
	identity   = "identity"
	callbacks  = "callbacks"
	selfSignUp = "selfSignUp"

	// cognito is the only value of identity; without one the issuer is another provider.
	cognito = "cognito"
)

const (
	// identityPrefix begins the names of the stacks of issuers.
	identityPrefix = prefix + "identity-"
	// resources is the identifier of the resource server: scopes are nexus/read and nexus/write, as in cdk.json.
	resources = "nexus"

	accessHours    = 1
	refreshDays    = 30
	passwordLength = 12
	// graceSeconds is how long a rotated refresh token is still good: a client that lost the answer asks again. It is the
	// longest time that Cognito takes.
	graceSeconds = 60
)

// checkIdentity refuses a provider that is not known, and addresses to which no code may be sent.
func (r *reader) checkIdentity(s Settings) {
	r.Refuse(s.Identity != "" && s.Identity != cognito, identity, "want cognito, or none")
	r.Refuse(s.Identity == cognito && len(s.Callbacks) == 0, callbacks, "want the addresses to which sign-in returns")
	r.Refuse(s.Identity == "" && len(s.Callbacks) > 0, callbacks, "are those of identity")
	for _, address := range s.Callbacks {
		u, err := url.Parse(address)
		r.Refuse(err != nil || u.Fragment != "" || u.Host == "" && u.Path == "" ||
			u.Scheme == "http" && u.Hostname() != "localhost" || u.Scheme == "", callbacks,
			"want https://, http://localhost or an app's own scheme: "+address)
	}
}

// addIdentity adds the stack of the stage's issuer, and returns the settings with its address and its clients. It is a
// stack of its own: users outlive every deployment.
func addIdentity(scope constructs.Construct, s Settings) Settings {
	if s.Identity != cognito {
		return s
	}
	stack := awscdk.NewStack(scope, jsii.String(identityPrefix+s.Stage), &awscdk.StackProps{
		Env:                   s.environment(),
		StackName:             jsii.String(identityPrefix + s.Stage),
		Description:           jsii.String("Nexus: the users of stage " + s.Stage + ", and what issues their tokens"),
		TerminationProtection: jsii.Bool(s.Protected), AnalyticsReporting: jsii.Bool(false),
	})
	d := &deployment{Stack: stack, settings: s}
	d.tag()
	pool := d.addPool()
	server := awscognito.NewCfnUserPoolResourceServer(stack, jsii.String("Scopes"),
		&awscognito.CfnUserPoolResourceServerProps{
			UserPoolId: pool.Ref(), Identifier: jsii.String(resources), Name: jsii.String(resources),
			Scopes: &[]any{scopeOf("read", "Read one's own data"), scopeOf("write", "Change one's own data")},
		})
	apps, canary := d.addClients(pool, server)
	// Names of domains are one space for all accounts of a region.
	login := awscognito.NewCfnUserPoolDomain(stack, jsii.String("LoginDomain"), &awscognito.CfnUserPoolDomainProps{
		UserPoolId: pool.Ref(), Domain: jsii.String(prefix + s.Stage + "-" + *stack.Account()),
	})
	d.output("Issuer", "The issuer of the stage's tokens", pool.AttrProviderUrl())
	d.output("UserPool", "The pool of the users", pool.Ref())
	d.output("AppsClient", "The client of apps: code flow with PKCE, without a secret", apps.Ref())
	d.output("CanaryClient", "The client of programs that watch: client credentials", canary.Ref())
	d.output("Login", "Below it are /oauth2/authorize and /oauth2/token",
		jsii.String("https://"+*login.Ref()+".auth."+*stack.Region()+".amazoncognito.com"))
	s.Issuer, s.Audience = *pool.AttrProviderUrl(), []string{*apps.Ref(), *canary.Ref()}
	return s
}

func scopeOf(name, says string) *awscognito.CfnUserPoolResourceServer_ResourceServerScopeTypeProperty {
	return &awscognito.CfnUserPoolResourceServer_ResourceServerScopeTypeProperty{
		ScopeName: jsii.String(name), ScopeDescription: jsii.String(says),
	}
}

// addPool makes the pool of users, who sign in with their mail address.
func (d *deployment) addPool() awscognito.CfnUserPool {
	protection := "INACTIVE"
	if d.settings.Protected {
		protection = "ACTIVE"
	}
	pool := awscognito.NewCfnUserPool(d.Stack, jsii.String("Users"), &awscognito.CfnUserPoolProps{
		UserPoolName: jsii.String(prefix + d.settings.Stage), UserPoolTier: jsii.String("ESSENTIALS"),
		DeletionProtection: jsii.String(protection),
		UsernameAttributes: jsii.Strings("email"), AutoVerifiedAttributes: jsii.Strings("email"),
		UsernameConfiguration: &awscognito.CfnUserPool_UsernameConfigurationProperty{CaseSensitive: jsii.Bool(false)},
		MfaConfiguration:      jsii.String("OPTIONAL"), EnabledMfas: jsii.Strings("SOFTWARE_TOKEN_MFA"),
		AdminCreateUserConfig: &awscognito.CfnUserPool_AdminCreateUserConfigProperty{
			AllowAdminCreateUserOnly: jsii.Bool(!d.settings.SelfSignUp),
		},
		AccountRecoverySetting: &awscognito.CfnUserPool_AccountRecoverySettingProperty{
			RecoveryMechanisms: &[]any{&awscognito.CfnUserPool_RecoveryOptionProperty{
				Name: jsii.String("verified_email"), Priority: jsii.Number(1),
			}},
		},
		Policies: &awscognito.CfnUserPool_PoliciesProperty{
			PasswordPolicy: &awscognito.CfnUserPool_PasswordPolicyProperty{
				MinimumLength: jsii.Number(passwordLength), RequireLowercase: jsii.Bool(true),
				RequireUppercase: jsii.Bool(true), RequireNumbers: jsii.Bool(true), RequireSymbols: jsii.Bool(true),
			},
		},
	})
	pool.ApplyRemovalPolicy(d.removalPolicy(), nil)
	suppress(pool, "AwsSolutions-COG2", "A user chooses whether to have a second factor: it is a calendar, and no bank.")
	for _, rule := range []string{"AwsSolutions-COG3", "AwsSolutions-COG8"} {
		suppress(pool, rule, "Threat protection is a tier at several times the price of each user: the operator's choice.")
	}
	return pool
}

// addClients makes the client of apps, which has no secret, and that of the canary.
func (d *deployment) addClients(pool awscognito.CfnUserPool, server awscognito.CfnUserPoolResourceServer) (
	apps, canary awscognito.CfnUserPoolClient,
) {
	scopes := []string{resources + "/read", resources + "/write"}
	props := &awscognito.CfnUserPoolClientProps{
		UserPoolId: pool.Ref(), ClientName: jsii.String("apps"), GenerateSecret: jsii.Bool(false),
		AllowedOAuthFlowsUserPoolClient: jsii.Bool(true), AllowedOAuthFlows: jsii.Strings("code"),
		AllowedOAuthScopes:         jsii.Strings(slices.Concat([]string{"openid"}, scopes)...),
		CallbackUrLs:               jsii.Strings(d.settings.Callbacks...),
		SupportedIdentityProviders: jsii.Strings("COGNITO"),
		// Without a list there would be more flows, and one with ALLOW_REFRESH_TOKEN_AUTH excludes the rotation.
		ExplicitAuthFlows:    jsii.Strings("ALLOW_USER_SRP_AUTH"),
		AccessTokenValidity:  jsii.Number(accessHours),
		IdTokenValidity:      jsii.Number(accessHours),
		RefreshTokenValidity: jsii.Number(refreshDays),
		TokenValidityUnits: &awscognito.CfnUserPoolClient_TokenValidityUnitsProperty{
			AccessToken: jsii.String("hours"), IdToken: jsii.String("hours"), RefreshToken: jsii.String("days"),
		},
		RefreshTokenRotation: &awscognito.CfnUserPoolClient_RefreshTokenRotationProperty{
			Feature: jsii.String("ENABLED"), RetryGracePeriodSeconds: jsii.Number(graceSeconds),
		},
		EnableTokenRevocation: jsii.Bool(true), PreventUserExistenceErrors: jsii.String("ENABLED"),
	}
	apps = awscognito.NewCfnUserPoolClient(d.Stack, jsii.String("Apps"), props)
	canary = awscognito.NewCfnUserPoolClient(d.Stack, jsii.String("Canary"), &awscognito.CfnUserPoolClientProps{
		UserPoolId: pool.Ref(), ClientName: jsii.String("canary"), GenerateSecret: jsii.Bool(true),
		AllowedOAuthFlowsUserPoolClient: jsii.Bool(true), AllowedOAuthFlows: jsii.Strings("client_credentials"),
		AllowedOAuthScopes: jsii.Strings(scopes...), ExplicitAuthFlows: jsii.Strings("ALLOW_REFRESH_TOKEN_AUTH"),
		AccessTokenValidity: jsii.Number(accessHours),
		TokenValidityUnits: &awscognito.CfnUserPoolClient_TokenValidityUnitsProperty{
			AccessToken: jsii.String("hours"),
		},
	})
	for _, client := range []awscognito.CfnUserPoolClient{apps, canary} {
		client.AddResourceDependency(server, nil) // its scopes are refused before they exist
	}
	return apps, canary
}
