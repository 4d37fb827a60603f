package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// check holds everything below the scope against the rules of AWS Solutions when it is synthesized. What breaks one is
// an error of the synthesis, and stands in a report beside the template.
func check(scope constructs.IConstruct) {
	awscdk.Aspects_Of(scope).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
}

// suppress says why a rule does not hold for a construct and what it is made of. Of a rule with several findings it may
// be for some alone: texts, or regular expressions.
func suppress(construct constructs.IConstruct, rule, reason string, findings ...any) {
	exception := &cdknag.NagPackSuppression{Id: jsii.String(rule), Reason: jsii.String(reason)}
	if len(findings) > 0 {
		exception.AppliesTo = &findings
	}
	cdknag.NagSuppressions_AddResourceSuppressions(construct, &[]*cdknag.NagPackSuppression{exception}, jsii.Bool(true))
}
