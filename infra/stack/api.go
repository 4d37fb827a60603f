package stack

import (
	"net/http"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/api"
	"nexus/pkg/deliver"
	"nexus/pkg/deploy/env"
	"nexus/pkg/product"
)

const (
	// integrationMilliseconds is the longest time that an HTTP API waits for a function.
	integrationMilliseconds = 30_000
	// unrouted is the key of the route for all other paths.
	unrouted = "$default"
	// everyPath matches each path as a whole.
	everyPath = "/{proxy+}"
	jwt       = "JWT"
	open      = "NONE"
)

// addAPI makes the routes of the HTTP API: each route of the surface leads to the function that serves it, and requires
// a token unless it is open. A path without a route leads to query, which reports the unknown path or method to a user.
func (d *deployment) addAPI() {
	authorizer := awsapigatewayv2.NewCfnAuthorizer(d.Stack, jsii.String("Users"), &awsapigatewayv2.CfnAuthorizerProps{
		ApiId: d.api, Name: jsii.String("users"), AuthorizerType: jsii.String(jwt),
		IdentitySource: jsii.Strings("$request.header.Authorization"),
		JwtConfiguration: &awsapigatewayv2.CfnAuthorizer_JWTConfigurationProperty{
			Issuer: jsii.String(d.settings.Issuer), Audience: jsii.Strings(d.settings.Audience...),
		},
	})
	targets := map[api.Side]*string{
		api.SideCommands: d.integrate(env.Command),
		api.SideQueries:  d.integrate(env.Query),
	}
	limits := map[string]any{} // by route; passed on unchanged, so the members have CloudFormation's names
	var routes []awsapigatewayv2.CfnRoute
	for _, r := range append(d.routes(), api.Route{Path: unrouted, Operation: "unrouted", Side: api.SideQueries}) {
		routes = append(routes, d.addRoute(r, targets[r.Side], authorizer.Ref()))
		if r.Open {
			share := openShare(r)
			limits[routeKey(r)] = map[string]any{
				"ThrottlingRateLimit":  max(d.settings.RatePerSecond*share/100, 1),
				"ThrottlingBurstLimit": max(d.settings.Burst*share/100, 1),
			}
		}
	}
	stage := d.addStage(limits)
	for _, route := range routes { // a limit of a route that does not exist yet is refused
		stage.AddResourceDependency(route, nil)
	}
	d.addDomains(stage)
}

// openShare returns the part of the stage's requests that a route without a user may use, in percent. Programs read
// calendars all day. A browser asks once in two hours whether a page may call the API, and a client once an hour for
// addresses. Actions of notifications come together, as reminders do. No caller needs many others.
func openShare(r api.Route) int {
	switch {
	case r.Method == http.MethodOptions, r.Method == http.MethodGet && r.Operation == "getAddresses",
		strings.HasPrefix(r.Path, deliver.ActPath):
		return 10
	case r.Method == http.MethodGet && strings.HasPrefix(r.Path, api.FeedPath):
		return 30
	}
	return 1
}

// cors returns what browsers allow pages of other origins; the names come from the surface. The API answers preflights
// by itself and sets the headers of each answer. Nil if the stage allows no origin.
func (d *deployment) cors() *awsapigatewayv2.CfnApi_CorsProperty {
	if len(d.settings.AllowedOrigins) == 0 {
		return nil
	}
	return &awsapigatewayv2.CfnApi_CorsProperty{
		AllowOrigins: jsii.Strings(d.settings.AllowedOrigins...), AllowMethods: jsii.Strings(api.CORSMethods()...),
		AllowHeaders: jsii.Strings(api.CORSRequestHeaders()...), ExposeHeaders: jsii.Strings(api.CORSExposedHeaders()...),
		MaxAge: jsii.Number(api.CORSMaxAge.Seconds()), AllowCredentials: jsii.Bool(false),
	}
}

// routes returns the routes of the surface. If the stage allows origins, there is one for preflights, which have no
// token: without it they would lead to the route for all other paths, which requires one.
func (d *deployment) routes() []api.Route {
	routes := api.Routes(product.Registry())
	if len(d.settings.AllowedOrigins) > 0 {
		routes = append(routes, api.Route{
			Method: http.MethodOptions, Path: everyPath, Operation: "preflight", Side: api.SideQueries, Open: true,
		})
	}
	return routes
}

// addRoute leads a route to its target. A client with only the scopes to read cannot reach a route that writes.
func (d *deployment) addRoute(r api.Route, target, authorizer *string) awsapigatewayv2.CfnRoute {
	id := jsii.String("Route-" + r.Method + r.Operation)
	props := &awsapigatewayv2.CfnRouteProps{ApiId: jsii.String(d.api), RouteKey: jsii.String(routeKey(r)), Target: target}
	if r.Open {
		props.AuthorizationType = jsii.String(open)
		route := awsapigatewayv2.NewCfnRoute(d.Stack, id, props)
		suppress(route, "AwsSolutions-APIG4",
			"Open by contract: it tells nothing about a user, or what its secret address is for.")
		return route
	}
	scopes := jsii.Strings(d.settings.scopes(r.Side)...)
	props.AuthorizationType, props.AuthorizerId, props.AuthorizationScopes = jsii.String(jwt), authorizer, scopes
	return awsapigatewayv2.NewCfnRoute(d.Stack, id, props)
}

// routeKey names a route for the API.
func routeKey(r api.Route) string {
	if r.Path == unrouted {
		return unrouted
	}
	return r.Method + " " + r.Path
}

// integrate lets the API call the function by its alias, and returns the target for routes.
func (d *deployment) integrate(f env.Function) *string {
	alias := d.live[f]
	awslambda.NewCfnPermission(d.Stack, jsii.String(construct(f)+"Requests"), &awslambda.CfnPermissionProps{
		Action: jsii.String("lambda:InvokeFunction"), FunctionName: alias.FunctionArn(),
		Principal: jsii.String("apigateway.amazonaws.com"),
		SourceArn: jsii.String(d.arn("execute-api", d.api, "*/*", awscdk.ArnFormat_SLASH_RESOURCE_NAME)),
	})
	integration := awsapigatewayv2.NewCfnIntegration(d.Stack, jsii.String(construct(f)+"Integration"),
		&awsapigatewayv2.CfnIntegrationProps{
			ApiId: jsii.String(d.api), IntegrationType: jsii.String("AWS_PROXY"), IntegrationUri: alias.FunctionArn(),
			PayloadFormatVersion: jsii.String("2.0"), TimeoutInMillis: jsii.Number(integrationMilliseconds),
		})
	return awscdk.Fn_Join(jsii.String("/"), &[]*string{jsii.String("integrations"), integration.Ref()})
}

// addStage publishes the API, with its limits. It has no access log: the functions log the requests that reach them,
// and the API's own refusals and errors are metrics, of which an alarm watches the errors.
func (d *deployment) addStage(limits map[string]any) awsapigatewayv2.CfnStage {
	stage := awsapigatewayv2.NewCfnStage(d.Stack, jsii.String("Stage"), &awsapigatewayv2.CfnStageProps{
		ApiId: jsii.String(d.api), StageName: jsii.String("$default"), AutoDeploy: jsii.Bool(true),
		DefaultRouteSettings: &awsapigatewayv2.CfnStage_RouteSettingsProperty{
			ThrottlingRateLimit: jsii.Number(d.settings.RatePerSecond), ThrottlingBurstLimit: jsii.Number(d.settings.Burst),
		},
		RouteSettings: limits, StageVariables: d.addresses(),
	})
	suppress(stage, "AwsSolutions-APIG1",
		"The functions log each request that they refuse, and a part of the others. A second line for each costs more.")
	return stage
}
