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
	r.refuse(s.Domain != "" && (!domainForm.MatchString(s.Domain) || len(s.Domain) > 253), domain,
		"want a name in small letters, such as nexus.example.com")
	r.refuse(s.Certificate != "" && !certificateForm.MatchString(s.Certificate), certificate, "want a certificate's ARN")
	r.refuse((s.Domain == "") != (s.Certificate == ""), certificate, "want both domain and certificate, or neither")
}

// makeAPI makes the HTTP API without its routes. Its address stands in variables of the functions that serve it.
func (d *deployment) makeAPI() {
	httpAPI := awsapigatewayv2.NewCfnApi(d.Stack, jsii.String("Api"), &awsapigatewayv2.CfnApiProps{
		Name: jsii.String(prefix + d.settings.Stage), ProtocolType: jsii.String("HTTP"), CorsConfiguration: d.cors(),
	})
	d.api = *httpAPI.Ref()
}

// origin returns where clients reach the API: the stage's own name, which outlives the API, or the API's address.
func (d *deployment) origin() string {
	if d.settings.Domain != "" {
		return "https://" + d.settings.Domain
	}
	return "https://" + d.api + ".execute-api." + *d.Region() + "." + *d.UrlSuffix()
}

// addDomain lets the API's stage answer under the stage's own name, and exports the name to point DNS at.
func (d *deployment) addDomain(stage awsapigatewayv2.CfnStage) {
	if d.settings.Domain == "" {
		return
	}
	name := awsapigatewayv2.NewCfnDomainName(d.Stack, jsii.String("Domain"), &awsapigatewayv2.CfnDomainNameProps{
		DomainName: jsii.String(d.settings.Domain),
		DomainNameConfigurations: &[]any{&awsapigatewayv2.CfnDomainName_DomainNameConfigurationProperty{
			CertificateArn: jsii.String(d.settings.Certificate), EndpointType: jsii.String("REGIONAL"),
			SecurityPolicy: jsii.String("TLS_1_2"),
		}},
	})
	awsapigatewayv2.NewCfnApiMapping(d.Stack, jsii.String("DomainMapping"), &awsapigatewayv2.CfnApiMappingProps{
		ApiId: d.api, DomainName: name.Ref(), Stage: stage.Ref(),
	})
	d.output("DomainTarget", "Point "+d.settings.Domain+" at this name: CNAME, or an alias record",
		name.AttrRegionalDomainName())
	d.output("DomainTargetZone", "The hosted zone of that name, for an alias record", name.AttrRegionalHostedZoneId())
}
