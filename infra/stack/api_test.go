package stack_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
	"nexus/pkg/product"
)

// serving holds the function that serves each part of the surface.
var serving = map[api.Side]env.Function{api.SideCommands: env.Command, api.SideQueries: env.Query}

func TestRoutes_leadToTheirFunctionsAndAskForATokenUnlessOpen(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		made := map[string]resource{}
		for _, r := range t.all("AWS::ApiGatewayV2::Route") {
			made[r.text("RouteKey")] = r
		}
		routes := api.Routes(product.Registry())
		require.Len(t, made, len(routes)+1, "and the one for all else")
		authorizer := t.one("AWS::ApiGatewayV2::Authorizer").ref()
		scopes := map[api.Side][]string{api.SideCommands: t.settings.WriteScopes, api.SideQueries: t.settings.ReadScopes}
		var open []string
		for _, r := range append(routes, api.Route{Path: "$default", Side: api.SideQueries}) {
			key := strings.TrimSpace(r.Method + " " + r.Path)
			route, ok := made[key]
			require.True(t, ok, key)
			integration := t.named(title(serving[r.Side])+"Integration", "AWS::ApiGatewayV2::Integration")
			require.Equal(t, "integrations/"+integration.ref(), route.text("Target"), key)
			if r.Open {
				open = append(open, key)
				require.Equal(t, "NONE", route.text("AuthorizationType"), key)
				continue
			}
			require.Equal(t, "JWT", route.text("AuthorizationType"), key)
			require.Equal(t, authorizer, route.text("AuthorizerId"), key)
			require.Equal(t, scopes[r.Side], texts(route.at("AuthorizationScopes")), key)
		}
		require.ElementsMatch(t, []string{
			"GET /healthz", "HEAD /healthz", "GET /openapi.json", "HEAD /openapi.json", "GET /feed/{address}",
			"HEAD /feed/{address}", "GET /.well-known/nexus", "HEAD /.well-known/nexus", "POST /v1/act/{act}",
		}, open, "what is open is agreed on with everybody")
	})
}

func TestIntegrate_waitsLongerThanTheFunctionRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		id := t.one("AWS::ApiGatewayV2::Api").ref()
		require.Len(t, t.all("AWS::Lambda::Permission"), len(serving)+3, "only three rules may call others")
		for _, f := range serving {
			live := t.live(f).ref()
			integration := t.named(title(f)+"Integration", "AWS::ApiGatewayV2::Integration")
			require.Equal(t, "AWS_PROXY", integration.text("IntegrationType"))
			require.Equal(t, "2.0", integration.text("PayloadFormatVersion"), "what the functions read")
			require.Equal(t, live, integration.text("IntegrationUri"))
			require.Greater(t, integration.at("TimeoutInMillis"), float64(size.For(f).Timeout.Milliseconds()))
			permission := t.named(title(f)+"Requests", "AWS::Lambda::Permission")
			require.Equal(t, live, permission.text("FunctionName"))
			require.Equal(t, "apigateway.amazonaws.com", permission.text("Principal"))
			require.Equal(t, arn("execute-api", id+"/*/*"), permission.text("SourceArn"))
		}
	})
}

func TestAddAPI_checksTokensAgainstTheStagesIssuerAndAudience(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		authorizer := t.one("AWS::ApiGatewayV2::Authorizer")
		require.Equal(t, "JWT", authorizer.text("AuthorizerType"))
		require.Equal(t, []string{"$request.header.Authorization"}, texts(authorizer.at("IdentitySource")))
		require.Equal(t, t.settings.Issuer, authorizer.text("JwtConfiguration", "Issuer"))
		require.Equal(t, t.settings.Audience, texts(authorizer.at("JwtConfiguration", "Audience")))
	})
}

func TestAddStage_boundsRequestsAndMoreThoseWithoutAUser(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		stage := t.one("AWS::ApiGatewayV2::Stage")
		require.Equal(t, map[string]any{
			"ThrottlingRateLimit": float64(t.settings.RatePerSecond), "ThrottlingBurstLimit": float64(t.settings.Burst),
		}, stage.at("DefaultRouteSettings"))
		limits, _ := stage.at("RouteSettings").(map[string]any)
		for _, r := range api.Routes(product.Registry()) {
			if !r.Open {
				require.NotContains(t, limits, r.Method+" "+r.Path)
				continue
			}
			limit, _ := limits[r.Method+" "+r.Path].(map[string]any)
			for name, bound := range map[string]int{
				"ThrottlingRateLimit": t.settings.RatePerSecond, "ThrottlingBurstLimit": t.settings.Burst,
			} {
				require.Positive(t, limit[name], r.Path)
				share := 1
				switch {
				case r.Method == http.MethodGet && r.Operation == "getFeedCalendar":
					share = 30
				case r.Method == http.MethodGet && r.Operation == "getAddresses", r.Operation == "actOnNotification":
					share = 10
				}
				require.InDelta(t, max(1, bound*share/100), limit[name], 0, "%s %s", r.Method, r.Path)
			}
		}
	})
}

// The functions log requests: a log of the API would say the same again, and has no pseudonyms.
func TestAddStage_keepsNoAccessLog(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		require.Nil(t, t.one("AWS::ApiGatewayV2::Stage").at("AccessLogSettings"))
	})
}
