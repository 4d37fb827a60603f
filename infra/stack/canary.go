package stack

import (
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

// deployed returns the functions of the stage: all, or all but a canary that has no credentials.
func (s Settings) deployed() []env.Function {
	return slices.DeleteFunc(env.Functions(), func(f env.Function) bool { return f == env.Canary && s.CanaryClient == "" })
}

// addCanary has the function that uses the API as a user does called from time to time.
func (d *deployment) addCanary() {
	if d.functions[env.Canary] != nil {
		d.callRegularly("CanaryCalls", env.Canary, size.CanaryEvery)
	}
}

// canaryValue returns a variable of the canary.
func (d *deployment) canaryValue(variable string) *string {
	switch s := d.settings; variable {
	case env.APIAddress:
		return jsii.String(d.origin())
	case env.TokenEndpoint:
		return jsii.String(s.CanaryTokenEndpoint)
	case env.TokenScope:
		return jsii.String(s.ReadScopes[0] + " " + s.WriteScopes[0])
	case env.ClientID:
		return jsii.String(s.CanaryClient)
	case env.ClientSecret:
		// CloudFormation reads the value at the deployment, and the template has none.
		return awscdk.NewCfnDynamicReference(awscdk.CfnDynamicReferenceService_SECRETS_MANAGER,
			jsii.String(s.CanarySecret+":SecretString")).ToString()
	}
	panic("stack: a function reads " + variable + ", which nothing is known of")
}

// isPossible reports whether everything that an alarm watches is there.
func (d *deployment) isPossible(a alarm.Alarm) bool {
	return !slices.ContainsFunc(a.Of, func(m alarm.Metric) bool {
		return slices.ContainsFunc(m.Of, func(s alarm.Subject) bool {
			return s.Dimension == alarm.FunctionName && d.functions[env.Function(s.Value)] == nil
		})
	})
}

// checkCanary refuses credentials that are incomplete.
func (r *reader) checkCanary(s Settings) {
	all := []string{s.CanaryTokenEndpoint, s.CanaryClient, s.CanarySecret}
	if strings.Join(all, "") == "" {
		return
	}
	if slices.Contains(all, "") {
		r.Refuse(true, canaryClient, "want it with "+canaryToken+" and "+canarySecret+", or none of them")
		return
	}
	address, err := url.Parse(s.CanaryTokenEndpoint)
	r.Refuse(err != nil || address.Scheme != "https" || address.Host == "" || address.RawQuery != "", canaryToken,
		"want an address with https")
	r.Refuse(!secretForm.MatchString(s.CanarySecret), canarySecret, "want a secret's ARN")
}
