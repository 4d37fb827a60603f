package stack

import (
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfrontorigins"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/api"
	"nexus/pkg/deploy/edge"
	"nexus/pkg/deploy/env"
)

// Settings of what stands before the API.
const (
	edgeSetting       = "edge"
	originDomain      = "originDomain"
	originCertificate = "originCertificate"
	edgeSecret        = "edgeSecret"
)

const (
	edgePrefix = prefix + "edge-"
	// edgeZone is the hosted zone of all distributions, for alias records (AWS General Reference).
	edgeZone = "Z2FDTNDATAQYW2"
	// limited names the body of the answer to what a rule refuses.
	limited = "limited"
)

// Edge describes what stands before the API.
type Edge struct {
	// On says that users reach the API through CloudFront alone.
	On bool
	// OriginDomain is the name by which CloudFront reaches the API, and OriginCertificate the ARN of its certificate in
	// the stage's region; both empty for a stage that never had an edge.
	OriginDomain, OriginCertificate string
	// Secret is the version of the parameter with the header's value.
	Secret int
}

func (r *reader) edge() Edge {
	e := Edge{
		On: r.Flag(edgeSetting), OriginDomain: r.Text(originDomain), OriginCertificate: r.Text(originCertificate), Secret: 1,
	}
	if r.Values[edgeSecret] != nil {
		e.Secret = r.Number(edgeSecret)
	}
	r.Refuse(e.Secret < 1, edgeSecret, "want the number of a version")
	return e
}

// checkEdge refuses an edge that could not be made, or could be walked round.
func (r *reader) checkEdge(s Settings) {
	e := s.Edge
	r.Refuse(e.On && s.Domain == "", edgeSetting, "wants "+domain+", the name under which CloudFront answers")
	r.Refuse(e.On && regionOf(s.Certificate) != edge.Region, certificate,
		"want one in "+edge.Region+" with "+edgeSetting+": CloudFront takes it from no other region")
	r.Refuse(e.On && e.OriginDomain == "", originDomain, "want the name by which CloudFront reaches the API")
	r.Refuse(e.OriginDomain != "" && !isDomain(e.OriginDomain), originDomain, "want a name in small letters")
	r.Refuse(e.OriginDomain != "" && e.OriginDomain == s.Domain, originDomain, "want another name than "+domain)
	r.Refuse(e.OriginCertificate != "" && !certificateForm.MatchString(e.OriginCertificate), originCertificate,
		"want a certificate's ARN")
	r.Refuse(e.OriginCertificate != "" && s.Region != "" && regionOf(e.OriginCertificate) != s.Region, originCertificate,
		"want one in the stage's region")
	r.Refuse((e.OriginDomain == "") != (e.OriginCertificate == ""), originCertificate,
		"want both it and "+originDomain+", or neither")
}

// regionOf returns the region in an ARN.
func regionOf(arn string) string {
	parts := strings.Split(arn, ":")
	if len(parts) < 6 {
		return ""
	}
	return parts[3]
}

// secrets returns the values of the header that functions accept: that of the version, and of the one before, which
// CloudFront adds until its own stack is deployed.
func (e Edge) secrets() string {
	if !e.On {
		return env.EdgeNone
	}
	if e.Secret == 1 {
		return secretOf(1)
	}
	return secretOf(e.Secret) + "," + secretOf(e.Secret-1)
}

// secretOf refers to a version of the parameter: CloudFormation reads it at the deployment, and the template has none.
func secretOf(version int) string {
	return *awscdk.NewCfnDynamicReference(awscdk.CfnDynamicReferenceService_SSM,
		jsii.String(edge.SecretParameter+":"+strconv.Itoa(version))).ToString()
}

// addEdge adds the stack of what stands before the API. It takes everything of the stage from the settings: the
// certificate and web ACL of CloudFront are in a region of their own, from which no stack can refer to another one's.
func addEdge(scope constructs.Construct, s Settings) {
	if !s.Edge.On {
		return
	}
	stack := awscdk.NewStack(scope, jsii.String(edgePrefix+s.Stage), &awscdk.StackProps{
		Env:                   &awscdk.Environment{Region: jsii.String(edge.Region)},
		StackName:             jsii.String(edgePrefix + s.Stage),
		Description:           jsii.String("Nexus: what stands before the API of stage " + s.Stage),
		TerminationProtection: jsii.Bool(s.Protected), AnalyticsReporting: jsii.Bool(false),
	})
	d := &deployment{Stack: stack, settings: s}
	d.tag()
	distribution := d.addDistribution(d.addRates())
	d.output("DomainTarget", "Point "+s.Domain+" at this name: CNAME, or an alias record",
		distribution.DistributionDomainName())
	d.output("DomainTargetZone", "The hosted zone of that name, for an alias record", jsii.String(edgeZone))
	d.output("Distribution", "For aws cloudfront create-invalidation", distribution.DistributionId())
}

// addDistribution makes the distribution. It caches calendars at their secret addresses and nothing else. These come
// without the headers of a client: an Origin in the key of the cache would let everybody ask past it. Its addresses are
// of IPv4, as the API's own: one client has too many of IPv6 for a rule to count them.
func (d *deployment) addDistribution(rates awswafv2.CfnWebACL) awscloudfront.Distribution {
	s := d.settings
	origin := awscloudfrontorigins.NewHttpOrigin(jsii.String(s.Edge.OriginDomain),
		&awscloudfrontorigins.HttpOriginProps{
			ProtocolPolicy:     awscloudfront.OriginProtocolPolicy_HTTPS_ONLY,
			OriginSslProtocols: &[]awscloudfront.OriginSslPolicy{awscloudfront.OriginSslPolicy_TLS_V1_2},
			CustomHeaders:      &map[string]*string{edge.Header: jsii.String(secretOf(s.Edge.Secret))},
		})
	feeds := awscloudfront.NewCachePolicy(d.Stack, jsii.String("Feeds"), &awscloudfront.CachePolicyProps{
		Comment: jsii.String("Nexus: calendars at their secret addresses, by the path and the part of the calendar"),
		MinTtl:  awscdk.Duration_Seconds(jsii.Number(0)), DefaultTtl: awscdk.Duration_Seconds(jsii.Number(0)),
		MaxTtl:                   awscdk.Duration_Seconds(jsii.Number(api.FeedCached.Seconds())),
		QueryStringBehavior:      awscloudfront.CacheQueryStringBehavior_AllowList(jsii.String(api.FeedPart)),
		EnableAcceptEncodingGzip: jsii.Bool(true),
	})
	distribution := awscloudfront.NewDistribution(d.Stack, jsii.String("Edge"), &awscloudfront.DistributionProps{
		Comment:     jsii.String("Nexus: the API of stage " + s.Stage),
		DomainNames: jsii.Strings(s.Domain),
		Certificate: awscertificatemanager.Certificate_FromCertificateArn(d.Stack, jsii.String("Certificate"),
			jsii.String(s.Certificate)),
		MinimumProtocolVersion: awscloudfront.SecurityPolicyProtocol_TLS_V1_2_2021,
		HttpVersion:            awscloudfront.HttpVersion_HTTP2_AND_3,
		PriceClass:             awscloudfront.PriceClass_PRICE_CLASS_100,
		EnableIpv6:             jsii.Bool(false),
		WebAclId:               rates.AttrArn(),
		DefaultBehavior: &awscloudfront.BehaviorOptions{
			Origin: origin, AllowedMethods: awscloudfront.AllowedMethods_ALLOW_ALL(), Compress: jsii.Bool(false),
			CachePolicy:          awscloudfront.CachePolicy_CACHING_DISABLED(),
			OriginRequestPolicy:  awscloudfront.OriginRequestPolicy_ALL_VIEWER_EXCEPT_HOST_HEADER(),
			ViewerProtocolPolicy: awscloudfront.ViewerProtocolPolicy_HTTPS_ONLY,
		},
		AdditionalBehaviors: &map[string]*awscloudfront.BehaviorOptions{api.FeedPath + "*": {
			Origin: origin, AllowedMethods: awscloudfront.AllowedMethods_ALLOW_GET_HEAD(), Compress: jsii.Bool(false),
			CachePolicy: feeds, ViewerProtocolPolicy: awscloudfront.ViewerProtocolPolicy_HTTPS_ONLY,
		}},
		ErrorResponses: uncached(),
	})
	suppress(distribution, "AwsSolutions-CFR1", "Users travel: which country a request comes from says nothing about it.")
	suppress(distribution, "AwsSolutions-CFR3",
		"A log of it would have addresses of clients, and secret addresses of calendars, which no log of Nexus has.")
	return distribution
}

// uncached says that no error is kept. By default CloudFront keeps some for ten seconds, also where caching is disabled
// and whatever the answer says: another user's request for the same path would get them (Amazon CloudFront Developer
// Guide, "How CloudFront processes HTTP 4xx and 5xx status codes from your origin"). These are all that it may keep.
func uncached() *[]*awscloudfront.ErrorResponse {
	var out []*awscloudfront.ErrorResponse
	for _, status := range []int{400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504} {
		out = append(out, &awscloudfront.ErrorResponse{
			HttpStatus: jsii.Number(status), Ttl: awscdk.Duration_Seconds(jsii.Number(0)),
		})
	}
	return &out
}
