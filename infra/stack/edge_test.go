package stack_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/deploy/edge"
	"nexus/pkg/deploy/env"
	"nexus/pkg/limit"
	"nexus/pkg/product"
)

const (
	gatewayName  = "AWS::ApiGatewayV2::DomainName"
	distribution = "AWS::CloudFront::Distribution"
	webACL       = "AWS::WAFv2::WebACL"
)

// config returns a value of the distribution's configuration.
func (r resource) config(names ...string) any {
	return r.at(slices.Concat([]string{"DistributionConfig"}, names)...)
}

func TestAddEdge_letsUsersReachTheAPIThroughCloudFrontAlone(t *testing.T) {
	t.Parallel()
	stage, front := readFrom(t, edged, prod), readFrom(t, edged, "edge-prod")
	require.Equal(t, true, stage.one("AWS::ApiGatewayV2::Api").at("DisableExecuteApiEndpoint"))
	name := stage.one(gatewayName)
	require.Equal(t, originName, name.text("DomainName"), "and under no other")
	require.Equal(t, []any{map[string]any{
		"CertificateArn": originARN, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_2",
	}}, name.at("DomainNameConfigurations"))
	mapping := stage.one("AWS::ApiGatewayV2::ApiMapping")
	require.Equal(t, name.ref(), mapping.text("DomainName"))
	require.Equal(t, stage.one("AWS::ApiGatewayV2::Api").ref(), mapping.text("ApiId"))
	require.Equal(t, name.attribute("RegionalDomainName"), text(stage.outputs["OriginTarget"]))
	require.NotContains(t, stage.outputs, "DomainTarget")
	require.Equal(t, "https://nexus.example.net", text(stage.outputs["Address"]))
	for _, f := range []env.Function{env.Canary, env.Command} {
		variables, _ := stage.function(f).at("Environment", "Variables").(map[string]any)
		for name, value := range variables {
			require.NotContains(t, text(value), originName, "%s of %s", name, f)
		}
	}
	require.Equal(t, "https://nexus.example.net",
		stage.function(env.Canary).text("Environment", "Variables", env.APIAddress), "the canary goes by the edge")

	made := front.one(distribution)
	require.Equal(t, []any{"nexus.example.net"}, made.config("Aliases"))
	require.Equal(t, map[string]any{
		"AcmCertificateArn": edgeARN, "MinimumProtocolVersion": "TLSv1.2_2021", "SslSupportMethod": "sni-only",
	}, made.config("ViewerCertificate"))
	require.Equal(t, front.one(webACL).attribute("Arn"), text(made.config("WebACLId")))
	require.Equal(t, false, made.config("IPV6Enabled"))
	require.Nil(t, made.config("Logging"), "paths are secrets")
	origins := made.config("Origins").([]any)
	require.Len(t, origins, 1)
	origin := origins[0].(map[string]any)
	require.Equal(t, originName, origin["DomainName"])
	custom := origin["CustomOriginConfig"].(map[string]any)
	require.Equal(t, "https-only", custom["OriginProtocolPolicy"])
	require.Equal(t, []any{"TLSv1.2"}, custom["OriginSSLProtocols"])
	require.Equal(t, made.attribute("DomainName"), text(front.outputs["DomainTarget"]))
	require.Equal(t, "Z2FDTNDATAQYW2", text(front.outputs["DomainTargetZone"]))
}

// The functions know what CloudFront adds, and before it has been told of a new one what it added until then.
func TestAddEdge_addsTheHeaderThatTheFunctionsRequire(t *testing.T) {
	t.Parallel()
	stage, front := readFrom(t, edged, prod), readFrom(t, edged, "edge-prod")
	const now, before = "{{resolve:ssm:/nexus/edge:3}}", "{{resolve:ssm:/nexus/edge:2}}"
	origin := front.one(distribution).config("Origins").([]any)[0].(map[string]any)
	require.Equal(t, []any{map[string]any{"HeaderName": edge.Header, "HeaderValue": now}}, origin["OriginCustomHeaders"])
	for _, f := range []env.Function{env.Command, env.Query} {
		require.Equal(t, now+","+before, stage.function(f).text("Environment", "Variables", env.EdgeSecrets), "%s", f)
	}
	for _, denied := range []string{"X-Amz-", "X-Edge-"} {
		require.False(t, strings.HasPrefix(edge.Header, denied), "CloudFront adds no such header")
	}
}

func TestAddDistribution_cachesCalendarsAtSecretAddressesAlone(t *testing.T) {
	t.Parallel()
	front := readFrom(t, edged, "edge-prod")
	made, policy := front.one(distribution), front.one("AWS::CloudFront::CachePolicy")
	all := made.config("DefaultCacheBehavior").(map[string]any)
	// The ids of the managed policies CachingDisabled and AllViewerExceptHostHeader.
	require.Equal(t, "4135ea2d-6df8-44a3-9df3-4b5a84be39ad", all["CachePolicyId"])
	require.Equal(t, "b689b0a8-53d0-40ab-baf2-68738e2966ac", all["OriginRequestPolicyId"])
	require.Equal(t, "https-only", all["ViewerProtocolPolicy"])
	for _, r := range api.Routes(product.Registry()) {
		require.Contains(t, all["AllowedMethods"], r.Method)
	}
	require.Contains(t, all["AllowedMethods"], http.MethodOptions, "the API answers preflights")

	behaviors := made.config("CacheBehaviors").([]any)
	require.Len(t, behaviors, 1)
	feeds := behaviors[0].(map[string]any)
	require.Equal(t, "/feed/*", feeds["PathPattern"])
	require.Equal(t, policy.ref(), text(feeds["CachePolicyId"]))
	require.Nil(t, feeds["OriginRequestPolicyId"], "nothing of a client comes to the API that is not in the key")
	require.Equal(t, []any{http.MethodGet, http.MethodHead}, feeds["AllowedMethods"])
	config := policy.at("CachePolicyConfig").(map[string]any)
	require.Equal(t, []any{0.0, 0.0, api.FeedCached.Seconds()},
		[]any{config["MinTTL"], config["DefaultTTL"], config["MaxTTL"]})
	require.Equal(t, map[string]any{
		"CookiesConfig": map[string]any{"CookieBehavior": "none"}, "EnableAcceptEncodingGzip": true,
		"EnableAcceptEncodingBrotli": false, "HeadersConfig": map[string]any{"HeaderBehavior": "none"},
		"QueryStringsConfig": map[string]any{"QueryStringBehavior": "whitelist", "QueryStrings": []any{"part"}},
	}, config["ParametersInCacheKeyAndForwardedToOrigin"])

	// By default CloudFront would keep them for ten seconds, for the next user who asks for the same path.
	kept := map[float64]any{}
	for _, one := range made.config("CustomErrorResponses").([]any) {
		response := one.(map[string]any)
		require.Len(t, response, 2, "the answer stays as it is")
		kept[response["ErrorCode"].(float64)] = response["ErrorCachingMinTTL"]
	}
	want := map[float64]any{}
	for _, status := range []float64{400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504} {
		want[status] = 0.0
	}
	require.Equal(t, want, kept)
}

func TestAddRates_refuseByAddressByTokenAndByCalendar(t *testing.T) {
	t.Parallel()
	acl := readFrom(t, edged, "edge-prod").one(webACL)
	require.Equal(t, "CLOUDFRONT", acl.text("Scope"))
	require.Equal(t, map[string]any{"Allow": map[string]any{}}, acl.at("DefaultAction"))
	numbers, err := limit.Default().With(map[string]int{limit.User: 700})
	require.NoError(t, err)
	decoded := []any{map[string]any{"Priority": 0.0, "Type": "URL_DECODE"}}
	by := map[string]map[string]any{
		edge.Address: {"AggregateKeyType": "IP"},
		edge.Token: {"AggregateKeyType": "CUSTOM_KEYS", "CustomKeys": []any{map[string]any{"Header": map[string]any{
			"Name": "authorization", "TextTransformations": []any{
				map[string]any{"Priority": 0.0, "Type": "LOWERCASE"},
				map[string]any{"Priority": 1.0, "Type": "COMPRESS_WHITE_SPACE"},
			},
		}}}},
		edge.Feed: {
			"AggregateKeyType": "CUSTOM_KEYS",
			"CustomKeys":       []any{map[string]any{"UriPath": map[string]any{"TextTransformations": decoded}}},
			"ScopeDownStatement": map[string]any{"ByteMatchStatement": map[string]any{
				"FieldToMatch": map[string]any{"UriPath": map[string]any{}}, "PositionalConstraint": "STARTS_WITH",
				"SearchString": "/feed/", "TextTransformations": decoded,
			}},
		},
	}
	rules := acl.at("Rules").([]any)
	require.Len(t, rules, len(by))
	for i, want := range edge.Rules(numbers) {
		rule := rules[i].(map[string]any)
		require.Equal(t, want.By, rule["Name"])
		require.Equal(t, float64(i), rule["Priority"])
		statement := by[want.By]
		statement["Limit"], statement["EvaluationWindowSec"] = float64(want.Limit), 300.0
		require.Equal(t, statement, rule["Statement"].(map[string]any)["RateBasedStatement"])
		require.Equal(t, map[string]any{"Block": map[string]any{"CustomResponse": map[string]any{
			"ResponseCode": 429.0, "CustomResponseBodyKey": "limited",
			"ResponseHeaders": []any{map[string]any{"Name": "Retry-After", "Value": "300"}},
		}}}, rule["Action"])
		require.Equal(t, map[string]any{
			"CloudWatchMetricsEnabled": true, "MetricName": "nexus-edge-" + want.By, "SampledRequestsEnabled": false,
		}, rule["VisibilityConfig"], "samples would show tokens and secret addresses")
	}
	body := acl.at("CustomResponseBodies", "limited").(map[string]any)
	require.Equal(t, "APPLICATION_JSON", body["ContentType"])
	require.JSONEq(t, `{"message":"Too Many Requests"}`, body["Content"].(string))
}

// On the way to an edge, and on the way back, both names lead to the API, and no header is required.
func TestAddDomains_answerUnderBothNamesBeforeAnEdgeIsOn(t *testing.T) {
	t.Parallel()
	stage := readFrom(t, opened, prod)
	names := map[string]string{}
	for _, r := range stage.all(gatewayName) {
		names[r.text("DomainName")] = r.at("DomainNameConfigurations").([]any)[0].(map[string]any)["CertificateArn"].(string)
	}
	require.Equal(t, map[string]string{"nexus.example.net": certificateARN, originName: originARN}, names)
	require.Equal(t, false, stage.one("AWS::ApiGatewayV2::Api").at("DisableExecuteApiEndpoint"))
	require.Equal(t, env.EdgeNone, stage.function(env.Query).text("Environment", "Variables", env.EdgeSecrets))
	require.Contains(t, stage.outputs, "DomainTarget")
	require.Contains(t, stage.outputs, "OriginTarget")
	require.NoFileExists(t, filepath.Join(opened, "nexus-edge-prod.template.json"))
	before, behind := stage.named("Origin", gatewayName), readFrom(t, edged, prod).named("Origin", gatewayName)
	require.Equal(t, before.id, behind.id)
	require.Equal(t, before.Properties, behind.Properties, "switching on replaces no name")
}

func TestAddEdge_makesNothingWithoutTheSetting(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{assembly, whole} {
		for _, stage := range []string{dev, prod} {
			require.NoFileExists(t, filepath.Join(folder, "nexus-edge-"+stage+".template.json"))
			for _, r := range readFrom(t, folder, stage).resources {
				require.NotContains(t, r.Type, "AWS::CloudFront::")
				require.NotContains(t, r.Type, "AWS::WAFv2::")
			}
		}
	}
}

func TestAddEdge_isInTheRegionOfCloudFrontAndKeepsTheRules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(edged, "manifest.json"))
	require.NoError(t, err)
	var manifest struct {
		Artifacts map[string]struct {
			Environment string
			Properties  struct{ TerminationProtection bool }
		}
	}
	require.NoError(t, json.Unmarshal(text, &manifest))
	require.Equal(t, "aws://unknown-account/us-east-1", manifest.Artifacts["nexus-edge-prod"].Environment)
	require.Equal(t, "aws://unknown-account/eu-central-1", manifest.Artifacts["nexus-prod"].Environment)
	require.True(t, manifest.Artifacts["nexus-edge-prod"].Properties.TerminationProtection)
	for _, name := range []string{"nexus-edge-prod", "nexus-prod"} {
		compliant := checkReport(t, filepath.Join(edged, "AwsSolutions--"+name+"-NagReport.csv"))
		if name == "nexus-edge-prod" {
			for _, rule := range []string{"AwsSolutions-CFR2", "AwsSolutions-CFR4", "AwsSolutions-CFR5"} {
				require.True(t, compliant[rule], "%s was not looked at", rule)
			}
		}
		text, err := os.ReadFile(filepath.Join(edged, name+".metadata.json"))
		require.NoError(t, err)
		require.NotContains(t, string(text), "aws:cdk:error", name)
		require.NotContains(t, string(text), "aws:cdk:warning", name)
	}
}
