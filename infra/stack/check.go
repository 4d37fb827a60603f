package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// check checks everything below the scope against the rules of AWS Solutions when it is synthesized. A violation is an
// error of the synthesis, and is listed in a report beside the template.
func check(scope constructs.IConstruct) {
	awscdk.Aspects_Of(scope).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
}

// suppress gives the reason why a rule does not apply to a construct and its parts. For a rule with several findings
// it may cover some alone: texts, or regular expressions.
func suppress(construct constructs.IConstruct, rule, reason string, findings ...any) {
	exception := &cdknag.NagPackSuppression{Id: jsii.String(rule), Reason: jsii.String(reason)}
	if len(findings) > 0 {
		exception.AppliesTo = &findings
	}
	cdknag.NagSuppressions_AddResourceSuppressions(construct, &[]*cdknag.NagPackSuppression{exception}, jsii.Bool(true))
}
