package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// logGroupPrefix begins the names of the functions' logs.
const logGroupPrefix = "/aws/lambda/"

// log makes a log group with the stage's retention.
func (d *deployment) log(id, name string) awslogs.LogGroup {
	return awslogs.NewLogGroup(d.Stack, jsii.String(id), &awslogs.LogGroupProps{
		LogGroupName: jsii.String(name), Retention: retentions()[d.settings.LogDays], RemovalPolicy: d.removalPolicy(),
	})
}

// retentions returns the retention periods of CloudWatch logs in days, up to two years (CloudWatch Logs API Reference,
// PutRetentionPolicy), as the CDK defines them.
func retentions() map[int]awslogs.RetentionDays {
	return map[int]awslogs.RetentionDays{
		1: awslogs.RetentionDays_ONE_DAY, 3: awslogs.RetentionDays_THREE_DAYS, 5: awslogs.RetentionDays_FIVE_DAYS,
		7: awslogs.RetentionDays_ONE_WEEK, 14: awslogs.RetentionDays_TWO_WEEKS, 30: awslogs.RetentionDays_ONE_MONTH,
		60: awslogs.RetentionDays_TWO_MONTHS, 90: awslogs.RetentionDays_THREE_MONTHS, 120: awslogs.RetentionDays_FOUR_MONTHS,
		150: awslogs.RetentionDays_FIVE_MONTHS, 180: awslogs.RetentionDays_SIX_MONTHS, 365: awslogs.RetentionDays_ONE_YEAR,
		400: awslogs.RetentionDays_THIRTEEN_MONTHS, 545: awslogs.RetentionDays_EIGHTEEN_MONTHS,
		731: awslogs.RetentionDays_TWO_YEARS,
	}
}
