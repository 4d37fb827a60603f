package stack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
)

// preflights is the route of what browsers ask before they send a token.
const preflights = "OPTIONS /{proxy+}"

func TestCors_letsPagesOfTheStagesOriginsCallTheAPI(t *testing.T) {
	t.Parallel()
	stage := readFrom(t, adjusted, prod)
	cors, ok := stage.one("AWS::ApiGatewayV2::Api").at("CorsConfiguration").(map[string]any)
	require.True(t, ok)
	require.Equal(t, []string{"https://app.nexus.example", "http://localhost:5173"}, texts(cors["AllowOrigins"]))
	require.Equal(t, api.CORSMethods(), texts(cors["AllowMethods"]))
	require.Equal(t, api.CORSRequestHeaders(), texts(cors["AllowHeaders"]))
	require.Equal(t, api.CORSExposedHeaders(), texts(cors["ExposeHeaders"]))
	require.Equal(t, 7200.0, cors["MaxAge"])
	require.Equal(t, false, cors["AllowCredentials"])

	route := routeOf(stage, preflights)
	require.NotNil(t, route, "else preflights lead to the route for everything, which asks for a token")
	require.Equal(t, "NONE", route.text("AuthorizationType"))
	integration := stage.named("QueryIntegration", "AWS::ApiGatewayV2::Integration")
	require.Equal(t, "integrations/"+integration.ref(), route.text("Target"))
	limits, _ := stage.one("AWS::ApiGatewayV2::Stage").at("RouteSettings").(map[string]any)
	require.Contains(t, limits, preflights)
}

func TestCors_hasNoRouteForPagesWithoutAnOrigin(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		require.Empty(t, t.settings.AllowedOrigins)
		require.Nil(t, t.one("AWS::ApiGatewayV2::Api").at("CorsConfiguration"))
		require.Nil(t, routeOf(t, preflights))
	})
}

func routeOf(t *template, key string) *resource {
	for _, r := range t.all("AWS::ApiGatewayV2::Route") {
		if r.text("RouteKey") == key {
			return &r
		}
	}
	return nil
}
