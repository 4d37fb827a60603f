package stack

import (
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/jsii-runtime-go"
)

// Settings of the stage's own name.
const (
	domain      = "domain"
	certificate = "certificate"
)

var (
	domainForm      = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`)
	certificateForm = regexp.MustCompile(`^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[A-Za-z0-9-]+$`)
)

// checkDomain refuses a name without its certificate, and each of them in another form.
func (r *reader) checkDomain(s Settings) {
	r.Refuse(s.Domain != "" && !isDomain(s.Domain), domain,
		"want a name in small letters, such as nexus.example.com")
	r.Refuse(s.Certificate != "" && !certificateForm.MatchString(s.Certificate), certificate, "want a certificate's ARN")
	r.Refuse((s.Domain == "") != (s.Certificate == ""), certificate, "want both domain and certificate, or neither")
}

func isDomain(s string) bool { return domainForm.MatchString(s) && len(s) <= 253 }

// makeAPI makes the HTTP API without its routes. Its address stands in variables of the functions that serve it. Behind
// an edge it does not answer under its own address.
func (d *deployment) makeAPI() {
	d.api = *awsapigatewayv2.NewCfnApi(d.Stack, jsii.String("Api"), &awsapigatewayv2.CfnApiProps{
		Name: jsii.String(prefix + d.settings.Stage), ProtocolType: jsii.String("HTTP"), CorsConfiguration: d.cors(),
		// Said in any case: what an update leaves out, API Gateway leaves as it is.
		DisableExecuteApiEndpoint: jsii.Bool(d.settings.Edge.On),
	}).Ref()
}

// origin returns where clients reach the API: the stage's own name, which outlives the API, or the API's address.
func (d *deployment) origin() string {
	if d.settings.Domain != "" {
		return "https://" + d.settings.Domain
	}
	return "https://" + d.api + ".execute-api." + *d.Region() + "." + *d.UrlSuffix()
}

// addDomains lets the API's stage answer under the stage's own name, unless an edge does, and under the name by which
// an edge reaches it. It exports the names to point DNS at.
func (d *deployment) addDomains(stage awsapigatewayv2.CfnStage) {
	s := d.settings
	if s.Domain != "" && !s.Edge.On {
		name := d.addDomain("Domain", s.Domain, s.Certificate, stage)
		d.output("DomainTargetZone", "The hosted zone of that name, for an alias record", name.AttrRegionalHostedZoneId())
	}
	if s.Edge.OriginDomain != "" {
		d.addDomain("Origin", s.Edge.OriginDomain, s.Edge.OriginCertificate, stage)
	}
}

func (d *deployment) addDomain(id, domain, certificate string, stage awsapigatewayv2.CfnStage,
) awsapigatewayv2.CfnDomainName {
	name := awsapigatewayv2.NewCfnDomainName(d.Stack, jsii.String(id), &awsapigatewayv2.CfnDomainNameProps{
		DomainName: jsii.String(domain),
		DomainNameConfigurations: &[]any{&awsapigatewayv2.CfnDomainName_DomainNameConfigurationProperty{
			CertificateArn: jsii.String(certificate), EndpointType: jsii.String("REGIONAL"),
			SecurityPolicy: jsii.String("TLS_1_2"),
		}},
	})
	awsapigatewayv2.NewCfnApiMapping(d.Stack, jsii.String(id+"Mapping"), &awsapigatewayv2.CfnApiMappingProps{
		ApiId: d.api, DomainName: name.Ref(), Stage: stage.Ref(),
	})
	d.output(id+"Target", "Point "+domain+" at this name: CNAME, or an alias record", name.AttrRegionalDomainName())
	return name
}
