package stack

import (
	"net/http"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/api"
	"nexus/pkg/deploy/edge"
)

// addRates makes the web ACL with the rules on rates. What they refuse is answered as the HTTP API's throttle answers,
// with the time after which a client that waits passes for certain.
func (d *deployment) addRates() awswafv2.CfnWebACL {
	var rules []any
	for i, rule := range edge.Rules(d.settings.Limits) {
		rules = append(rules, &awswafv2.CfnWebACL_RuleProperty{
			Name: jsii.String(rule.By), Priority: jsii.Number(i), VisibilityConfig: counted(edgePrefix + rule.By),
			Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: rateOf(rule)},
			Action: &awswafv2.CfnWebACL_RuleActionProperty{Block: &awswafv2.CfnWebACL_BlockActionProperty{
				CustomResponse: &awswafv2.CfnWebACL_CustomResponseProperty{
					ResponseCode: jsii.Number(http.StatusTooManyRequests), CustomResponseBodyKey: jsii.String(limited),
					ResponseHeaders: &[]any{&awswafv2.CfnWebACL_CustomHTTPHeaderProperty{
						Name: jsii.String("Retry-After"), Value: jsii.String(strconv.Itoa(int(edge.Window.Seconds()))),
					}},
				},
			}},
		})
	}
	return awswafv2.NewCfnWebACL(d.Stack, jsii.String("Rates"), &awswafv2.CfnWebACLProps{
		Scope: jsii.String("CLOUDFRONT"), Rules: &rules, VisibilityConfig: counted(edgePrefix + "all"),
		DefaultAction: &awswafv2.CfnWebACL_DefaultActionProperty{Allow: &awswafv2.CfnWebACL_AllowActionProperty{}},
		CustomResponseBodies: &map[string]any{limited: &awswafv2.CfnWebACL_CustomResponseBodyProperty{
			ContentType: jsii.String("APPLICATION_JSON"), Content: jsii.String(`{"message":"Too Many Requests"}`),
		}},
	})
}

// rateOf returns a rule's statement. A path is counted as the function reads it, decoded.
func rateOf(rule edge.Rule) *awswafv2.CfnWebACL_RateBasedStatementProperty {
	out := &awswafv2.CfnWebACL_RateBasedStatementProperty{
		Limit: jsii.Number(rule.Limit), EvaluationWindowSec: jsii.Number(edge.Window.Seconds()),
		AggregateKeyType: jsii.String("CUSTOM_KEYS"),
	}
	switch rule.By {
	case edge.Address:
		out.AggregateKeyType = jsii.String("IP")
	case edge.Token:
		out.CustomKeys = &[]any{&awswafv2.CfnWebACL_RateBasedStatementCustomKeyProperty{
			Header: &awswafv2.CfnWebACL_RateLimitHeaderProperty{
				Name: jsii.String("authorization"), TextTransformations: transformed("LOWERCASE", "COMPRESS_WHITE_SPACE"),
			},
		}}
	case edge.Feed:
		out.CustomKeys = &[]any{&awswafv2.CfnWebACL_RateBasedStatementCustomKeyProperty{
			UriPath: &awswafv2.CfnWebACL_RateLimitUriPathProperty{TextTransformations: transformed("URL_DECODE")},
		}}
		out.ScopeDownStatement = &awswafv2.CfnWebACL_StatementProperty{
			ByteMatchStatement: &awswafv2.CfnWebACL_ByteMatchStatementProperty{
				FieldToMatch:         &awswafv2.CfnWebACL_FieldToMatchProperty{UriPath: &map[string]any{}},
				PositionalConstraint: jsii.String("STARTS_WITH"), SearchString: jsii.String(api.FeedPath),
				TextTransformations: transformed("URL_DECODE"),
			},
		}
	default:
		panic("stack: a rule by " + rule.By + ", which nothing is known of")
	}
	return out
}

func transformed(kinds ...string) *[]any {
	out := make([]any, len(kinds))
	for i, kind := range kinds {
		out[i] = &awswafv2.CfnWebACL_TextTransformationProperty{Priority: jsii.Number(i), Type: jsii.String(kind)}
	}
	return &out
}

// counted returns that a rule has a metric. It has no samples of requests, which would show tokens.
func counted(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
	return &awswafv2.CfnWebACL_VisibilityConfigProperty{
		CloudWatchMetricsEnabled: jsii.Bool(true), MetricName: jsii.String(name), SampledRequestsEnabled: jsii.Bool(false),
	}
}
