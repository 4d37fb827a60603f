package stack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

func TestAddAccounts_callsTheFunctionEveryFewMinutes(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		live := t.live(env.Account).ref()
		rule := t.named("Accounts", "AWS::Events::Rule")
		require.Equal(t, "rate(5 minutes)", rule.text("ScheduleExpression"))
		require.Equal(t, "ENABLED", rule.text("State"))
		targets := rule.at("Targets").([]any)
		require.Len(t, targets, 1)
		require.Equal(t, live, text(targets[0].(map[string]any)["Arn"]))
		may := t.all("AWS::Lambda::Permission")
		var allowed []string
		for _, p := range may {
			if p.text("Principal") == "events.amazonaws.com" && p.text("SourceArn") == rule.attribute("Arn") {
				allowed = append(allowed, p.text("FunctionName"))
			}
		}
		require.Equal(t, []string{live}, allowed)
		config := t.named("AccountLive/EventInvokeConfig", "AWS::Lambda::EventInvokeConfig")
		require.Equal(t, t.function(env.Account).ref(), config.text("FunctionName"))
		require.Equal(t, t.liveQualifier(env.Account), config.text("Qualifier"))
		require.Equal(t, 0.0, config.at("MaximumRetryAttempts"), "the next call takes up what is left")
		require.GreaterOrEqual(t, float64(size.For(env.Account).Reserved),
			size.For(env.Account).Timeout.Seconds()/size.AccountEvery.Seconds()+1, "calls that overlap are not refused")
	})
}
