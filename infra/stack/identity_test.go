package stack_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const clientType = "AWS::Cognito::UserPoolClient"

// eachIdentity runs a test on the identity stacks of both stages.
func eachIdentity(t *testing.T, test func(t *template)) {
	t.Helper()
	for _, stage := range []string{dev, prod} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			test(readFrom(t, whole, "identity-"+stage))
		})
	}
}

func TestAddPool_keepsTheUsersOfAProtectedStage(t *testing.T) {
	t.Parallel()
	eachIdentity(t, func(t *template) {
		pool := t.one("AWS::Cognito::UserPool")
		isKept := t.settings.Protected
		require.Equal(t, map[bool]string{true: "ACTIVE", false: "INACTIVE"}[isKept], pool.text("DeletionProtection"))
		require.Equal(t, isKept, strings.HasPrefix(pool.DeletionPolicy, "Retain"), pool.DeletionPolicy)
		require.Equal(t, "OPTIONAL", pool.text("MfaConfiguration"))
		require.Equal(t, true, pool.at("AdminCreateUserConfig", "AllowAdminCreateUserOnly"), "selfSignUp is not set")
	})
}

func TestAddIdentity_offersTheScopesThatTheStageAsksFor(t *testing.T) {
	t.Parallel()
	eachIdentity(t, func(t *template) {
		server := t.one("AWS::Cognito::UserPoolResourceServer")
		var offered []string
		for _, scope := range server.at("Scopes").([]any) {
			offered = append(offered, server.text("Identifier")+"/"+text(scope.(map[string]any)["ScopeName"]))
		}
		require.ElementsMatch(t, append(t.settings.ReadScopes, t.settings.WriteScopes...), offered)
		for _, client := range t.all(clientType) {
			require.Subset(t, texts(client.at("AllowedOAuthScopes")), offered, client.path())
		}
	})
}

func TestAddClients_givesAppsTheCodeFlowAndNoSecret(t *testing.T) {
	t.Parallel()
	eachIdentity(t, func(t *template) {
		apps := t.named("Apps", clientType)
		require.Equal(t, false, apps.at("GenerateSecret"))
		require.Equal(t, true, apps.at("AllowedOAuthFlowsUserPoolClient"))
		require.Equal(t, []string{"code"}, texts(apps.at("AllowedOAuthFlows")))
		require.Equal(t, []string{"https://app.nexus.example/in", "http://localhost:5173/in"}, texts(apps.at("CallbackURLs")))
		require.Equal(t, map[string]any{"AccessToken": "hours", "IdToken": "hours", "RefreshToken": "days"},
			apps.at("TokenValidityUnits"))
		require.Equal(t, 1.0, apps.at("AccessTokenValidity"))
		require.Equal(t, 30.0, apps.at("RefreshTokenValidity"))
		require.Equal(t, "ENABLED", apps.text("RefreshTokenRotation", "Feature"))
		require.NotContains(t, texts(apps.at("ExplicitAuthFlows")), "ALLOW_REFRESH_TOKEN_AUTH",
			"Cognito refuses it beside the rotation")

		canary := t.named("Canary", clientType)
		require.Equal(t, true, canary.at("GenerateSecret"))
		require.Equal(t, []string{"client_credentials"}, texts(canary.at("AllowedOAuthFlows")))
		for name, value := range t.outputs {
			require.NotContains(t, strings.ToLower(text(value)), "secret", name)
		}
	})
}

func TestAddIdentity_isTheIssuerOfItsStage(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{dev, prod} {
		of := readFrom(t, whole, "identity-"+stage)
		exported := map[string]string{} // values of what one stack tells another, by name
		for name, value := range of.outputs {
			if strings.HasPrefix(name, "ExportsOutput") {
				exported["nexus-identity-"+stage+":"+name] = text(value)
			}
		}
		made := readFrom(t, whole, stage)
		told := func(value any) string {
			name, _ := value.(map[string]any)["Fn::ImportValue"].(string)
			return exported[name]
		}
		authorizer := made.one("AWS::ApiGatewayV2::Authorizer")
		require.Equal(t, of.one("AWS::Cognito::UserPool").attribute("ProviderURL"),
			told(authorizer.at("JwtConfiguration", "Issuer")))
		var audience []string
		for _, value := range authorizer.at("JwtConfiguration", "Audience").([]any) {
			audience = append(audience, told(value))
		}
		require.Equal(t, []string{of.named("Apps", clientType).ref(), of.named("Canary", clientType).ref()}, audience)
	}
}
