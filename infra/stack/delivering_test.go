package stack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

func TestAddDelivering_callsTheFunctionWithEachReminderThatIsDue(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		live, queue := t.live(env.Deliver).ref(), t.named("Untold", "AWS::SQS::Queue")
		rule := t.named("RemindersDue", "AWS::Events::Rule")
		require.Equal(t, t.one("AWS::Events::EventBus").ref(), rule.text("EventBusName"))
		require.Equal(t, []string{"nexus"}, texts(rule.at("EventPattern", "source")), "what others put there is not told")
		require.Equal(t, []string{"ReminderDue"}, texts(rule.at("EventPattern", "detail-type")))
		require.Equal(t, "ENABLED", rule.text("State"))
		targets := rule.at("Targets").([]any)
		require.Len(t, targets, 1)
		target := targets[0].(map[string]any)
		require.Equal(t, live, text(target["Arn"]))
		require.Nil(t, target["Input"], "the function reads the event as it is")
		require.Nil(t, target["InputPath"])
		require.Equal(t, queue.attribute("Arn"), text(target["DeadLetterConfig"].(map[string]any)["Arn"]))
		retries := target["RetryPolicy"].(map[string]any)
		require.Equal(t, []any{185.0, 24 * 3600.0},
			[]any{retries["MaximumRetryAttempts"], retries["MaximumEventAgeInSeconds"]})
		var allowed []string
		for _, p := range t.all("AWS::Lambda::Permission") {
			if p.text("Principal") == "events.amazonaws.com" && p.text("SourceArn") == rule.attribute("Arn") {
				allowed = append(allowed, p.text("FunctionName"))
			}
		}
		require.Equal(t, []string{live}, allowed)
		require.True(t, mayPut(t, queue, rule), "the rule may put what it could not call into the queue")
	})
}

// mayPut reports whether a policy of the queue lets the bus' service put messages, in the name of that rule alone.
func mayPut(t *template, queue, rule resource) bool {
	t.Helper()
	for _, p := range t.all("AWS::SQS::QueuePolicy") {
		if texts(p.at("Queues"))[0] != queue.ref() {
			continue
		}
		for _, s := range p.at("PolicyDocument", "Statement").([]any) {
			statement := s.(map[string]any)
			principal, _ := statement["Principal"].(map[string]any)
			if statement["Effect"] != "Allow" || text(principal["Service"]) != "events.amazonaws.com" {
				continue
			}
			condition := statement["Condition"].(map[string]any)["ArnEquals"].(map[string]any)
			return text(statement["Action"]) == "sqs:SendMessage" && text(condition["aws:SourceArn"]) == rule.attribute("Arn")
		}
	}
	return false
}

func TestAddFunction_keepsAnEventThatDeliverCouldNotAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		queue := t.named("Untold", "AWS::SQS::Queue")
		config := t.named("DeliverLive/EventInvokeConfig", "AWS::Lambda::EventInvokeConfig")
		require.Equal(t, t.function(env.Deliver).ref(), config.text("FunctionName"))
		require.Equal(t, t.liveQualifier(env.Deliver), config.text("Qualifier"))
		require.Equal(t, queue.attribute("Arn"), config.text("DestinationConfig", "OnFailure", "Destination"))
		require.Equal(t, 2.0, config.at("MaximumRetryAttempts"))
		require.NotEmpty(t, alarmsOn(t, "QueueName", queue.attribute("QueueName")), alarm.DeliverQueue)
		require.Equal(t, 14*24*3600.0, queue.at("MessageRetentionPeriod"), "an erasure waits for its end")
	})
}

// The secret key is in no template: a function reads it by itself.
func TestValue_hasThePublicKeyAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for _, f := range env.Functions() {
			variables, _ := t.function(f).at("Environment", "Variables").(map[string]any)
			for name, value := range variables {
				if name != env.PushKeyParameter {
					require.NotRegexp(t, `/nexus/push(:|}|$)`, text(value), "%s of %s", name, f)
				}
			}
		}
	})
}

func TestSettings_boundTheHostsOfPushServices(t *testing.T) {
	t.Parallel()
	made := readFrom(t, adjusted, prod)
	require.Equal(t, "push.example.com,notify.example.net",
		made.function(env.Command).text("Environment", "Variables", env.PushHosts))
}
