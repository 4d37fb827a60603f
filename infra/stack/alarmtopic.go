package stack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// addAlarmAction returns what an alarm does when it changes its state; nil for nothing. It tells the stage's topic, or
// one that the stack makes for the stage's addresses.
func (d *deployment) addAlarmAction() awscloudwatch.IAlarmAction {
	switch s := d.settings; {
	case s.AlarmTopic != "":
		d.alarmTopic = jsii.String(s.AlarmTopic)
		topic := awssns.Topic_FromTopicArn(d.Stack, jsii.String("AlarmTopic"), d.alarmTopic)
		return awscloudwatchactions.NewSnsAction(topic)
	case len(s.AlarmEmail) > 0:
		topic := d.addAlarmTopic()
		d.alarmTopic = topic.TopicArn()
		return awscloudwatchactions.NewSnsAction(topic)
	}
	return nil
}

// addAlarmTopic makes a topic with a subscription for each address, which its owner confirms by hand. Only alarms, the
// budget and the watch on costs of this account publish there, over TLS. It has no key of its own: alarms could not use
// one of AWS's.
func (d *deployment) addAlarmTopic() awssns.Topic {
	topic := awssns.NewTopic(d.Stack, jsii.String("Alarms"), &awssns.TopicProps{
		DisplayName: jsii.String("Nexus " + d.settings.Stage), EnforceSSL: jsii.Bool(true),
	})
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{
			awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil),
			awsiam.NewServicePrincipal(jsii.String("budgets.amazonaws.com"), nil),
			awsiam.NewServicePrincipal(jsii.String("costalerts.amazonaws.com"), nil),
		},
		Actions: jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": d.Account()}},
	}))
	for i, address := range d.settings.AlarmEmail {
		awssns.NewSubscription(d.Stack, jsii.String(fmt.Sprintf("AlarmEmail%d", i+1)), &awssns.SubscriptionProps{
			Topic: topic, Protocol: awssns.SubscriptionProtocol_EMAIL, Endpoint: jsii.String(address),
		})
	}
	return topic
}

// isSilent reports whether the alarms of a protected stage would reach no operator.
func (s Settings) isSilent() bool { return s.Protected && s.AlarmTopic == "" && len(s.AlarmEmail) == 0 }
