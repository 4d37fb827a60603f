package stack_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddAlarmAction_tellsTheTopicOfEveryAlarmAndOfItsEnd(t *testing.T) {
	t.Parallel()
	for folder, topic := range map[string]string{
		adjusted: adjustments()["alarmTopic"].(string), mailed: readFrom(t, mailed, prod).one("AWS::SNS::Topic").ref(),
	} {
		for _, a := range readFrom(t, folder, prod).all(alarmType) {
			require.Equal(t, []string{topic}, texts(a.at("AlarmActions")), a.path())
			require.Equal(t, []string{topic}, texts(a.at("OKActions")), a.path())
		}
	}
	for _, a := range read(t, dev).all(alarmType) {
		require.Nil(t, a.at("AlarmActions"), a.path())
	}
}

func TestAddAlarmTopic_takesFromAlarmsOfThisAccountAloneAndSendsToEachAddress(t *testing.T) {
	t.Parallel()
	made := readFrom(t, mailed, prod)
	topic := made.one("AWS::SNS::Topic")
	subscription := made.one("AWS::SNS::Subscription")
	require.Equal(t, []string{topic.ref(), "email", operator},
		[]string{subscription.text("TopicArn"), subscription.text("Protocol"), subscription.text("Endpoint")})

	policy := made.one("AWS::SNS::TopicPolicy")
	require.Equal(t, []string{topic.ref()}, texts(policy.at("Topics")))
	var publishers, refused int
	for _, member := range policy.at("PolicyDocument", "Statement").([]any) {
		statement := member.(map[string]any)
		require.Equal(t, "sns:Publish", statement["Action"])
		require.Equal(t, topic.ref(), text(statement["Resource"]))
		conditions := statement["Condition"].(map[string]any)
		if statement["Effect"] == "Deny" {
			require.Equal(t, "*", statement["Principal"])
			require.Equal(t, map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}}, conditions)
			refused++
			continue
		}
		require.ElementsMatch(t, []string{"budgets.amazonaws.com", "cloudwatch.amazonaws.com", "costalerts.amazonaws.com"},
			texts(statement["Principal"].(map[string]any)["Service"]))
		account := conditions["StringEquals"].(map[string]any)
		require.Equal(t, "${AWS::AccountId}", text(account["aws:SourceAccount"]))
		publishers++
	}
	require.Equal(t, []int{1, 1}, []int{publishers, refused})
}
