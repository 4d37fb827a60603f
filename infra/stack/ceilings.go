package stack

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsce"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"
)

// Settings of what a stage may use and cost.
const (
	maxReads      = "maxReadUnits"
	maxWrites     = "maxWriteUnits"
	warmWrites    = "warmWriteUnits"
	monthlyBudget = "monthlyBudget"
)

// Ceilings are the bounds of what a stage uses and costs; 0 is none.
type Ceilings struct {
	// ReadUnits and WriteUnits are the most that DynamoDB allows a second: the table, and each index by itself.
	ReadUnits, WriteUnits int
	// WarmWriteUnits is the number of write units a second that the table and its indexes take at once, before a launch
	// or an import.
	WarmWriteUnits int
	// MonthlyBudget is the cost of a month in dollars at which operators are told.
	MonthlyBudget int
}

// leastWarm counts the write units a second that a table on demand takes from its first second on (Amazon DynamoDB
// Developer Guide, "Understanding DynamoDB warm throughput").
const leastWarm = 4000

// ceilings reads the bounds of a stage.
func (r *reader) ceilings() Ceilings {
	c := Ceilings{
		ReadUnits: r.Number(maxReads), WriteUnits: r.Number(maxWrites), WarmWriteUnits: r.Number(warmWrites),
		MonthlyBudget: r.Number(monthlyBudget),
	}
	for name, n := range map[string]int{maxReads: c.ReadUnits, maxWrites: c.WriteUnits, monthlyBudget: c.MonthlyBudget} {
		r.Refuse(n < 0, name, "want a number above 0")
	}
	r.Refuse(c.WarmWriteUnits != 0 && c.WarmWriteUnits < leastWarm, warmWrites,
		fmt.Sprintf("want at least %d, which every table takes", leastWarm))
	r.Refuse(c.WriteUnits > 0 && c.WarmWriteUnits > c.WriteUnits, warmWrites, "want at most "+maxWrites)
	return c
}

// units returns a ceiling as a property, which is left out for none.
func units(n int) *float64 {
	if n == 0 {
		return nil
	}
	return jsii.Number(n)
}

func (c Ceilings) billing() awsdynamodb.Billing {
	return awsdynamodb.Billing_OnDemand(&awsdynamodb.MaxThroughputProps{
		MaxReadRequestUnits: units(c.ReadUnits), MaxWriteRequestUnits: units(c.WriteUnits),
	})
}

func (c Ceilings) warm() *awsdynamodb.WarmThroughput {
	if c.WarmWriteUnits == 0 {
		return nil
	}
	return &awsdynamodb.WarmThroughput{WriteUnitsPerSecond: jsii.Number(c.WarmWriteUnits)}
}

// Parts of the budget in percent at which operators are told: of what was spent, and of what the month will cost as
// AWS forecasts it. anomaly is the least surprise in dollars that they are told of.
const (
	spentPart    = 80
	forecastPart = 100
	anomaly      = "20"
)

// addBudget makes the budget of the account, and the watch on unusual costs of what has the stack's tag. Both tell the
// topic of the alarms. The budget is the account's: costs of what has no tag, such as traffic and taxes, are in it.
func (d *deployment) addBudget() {
	if d.settings.MonthlyBudget == 0 {
		if d.settings.Protected {
			awscdk.Annotations_Of(d.Stack).AddWarningV2(jsii.String("nexus:budget"),
				jsii.String("stage "+d.settings.Stage+" has no "+monthlyBudget+": no operator would be told what it costs"))
		}
		return
	}
	var told []any
	if topic := d.alarmTopic; topic != nil {
		told = []any{d.threshold(topic, "ACTUAL", spentPart), d.threshold(topic, "FORECASTED", forecastPart)}
		d.addAnomalies(topic)
	}
	awsbudgets.NewCfnBudget(d.Stack, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			// It has no name: a change of who is told replaces it.
			BudgetType: jsii.String("COST"), TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{
				Amount: jsii.Number(d.settings.MonthlyBudget), Unit: jsii.String("USD"),
			},
		},
		NotificationsWithSubscribers: &told,
	})
}

func (d *deployment) threshold(topic *string, kind string, percent int) any {
	return &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
		Notification: &awsbudgets.CfnBudget_NotificationProperty{
			NotificationType: jsii.String(kind), ComparisonOperator: jsii.String("GREATER_THAN"),
			Threshold: jsii.Number(percent), ThresholdType: jsii.String("PERCENTAGE"),
		},
		Subscribers: &[]any{
			&awsbudgets.CfnBudget_SubscriberProperty{SubscriptionType: jsii.String("SNS"), Address: topic},
		},
	}
}

// addAnomalies makes a monitor of its own: an account has only one for its services, and AWS makes that by itself.
func (d *deployment) addAnomalies(topic *string) {
	monitor := awsce.NewCfnAnomalyMonitor(d.Stack, jsii.String("Costs"), &awsce.CfnAnomalyMonitorProps{
		MonitorName: jsii.String(prefix + d.settings.Stage), MonitorType: jsii.String("CUSTOM"),
		MonitorSpecification: jsii.String(document(map[string]any{"Tags": map[string]any{
			"Key": "Stage", "Values": []string{d.settings.Stage}, "MatchOptions": []string{"EQUALS"},
		}})),
	})
	awsce.NewCfnAnomalySubscription(d.Stack, jsii.String("UnusualCosts"), &awsce.CfnAnomalySubscriptionProps{
		SubscriptionName: jsii.String(prefix + d.settings.Stage), Frequency: jsii.String("IMMEDIATE"),
		MonitorArnList: &[]any{monitor.AttrMonitorArn()},
		Subscribers: &[]any{
			&awsce.CfnAnomalySubscription_SubscriberProperty{Type: jsii.String("SNS"), Address: topic},
		},
		ThresholdExpression: jsii.String(document(map[string]any{"Dimensions": map[string]any{
			"Key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE", "Values": []string{anomaly},
			"MatchOptions": []string{"GREATER_THAN_OR_EQUAL"},
		}})),
	})
}

// document returns a condition as the JSON text that the property takes.
func document(condition map[string]any) string {
	text, err := json.Marshal(condition)
	if err != nil {
		panic(fmt.Sprintf("stack: condition %v: %v", condition, err)) // only texts
	}
	return string(text)
}
