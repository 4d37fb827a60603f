package stack_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

func TestAddCanary_callsItEveryFiveMinutesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		rule := t.named("CanaryCalls", "AWS::Events::Rule")
		require.Equal(t, "rate(5 minutes)", rule.text("ScheduleExpression"))
		require.Equal(t, "ENABLED", rule.text("State"))
		targets := rule.at("Targets").([]any)
		require.Len(t, targets, 1)
		require.Equal(t, t.live(env.Canary).ref(), text(targets[0].(map[string]any)["Arn"]))
		require.Less(t, size.For(env.Canary).Timeout, size.CanaryEvery, "one call at a time")
		require.Len(t, rightsOf(t, roleOf(t, env.Canary)), 1, "it writes its log, and asks for nothing as a role")
	})
}

func TestAddCanary_leavesItOutWithoutCredentialsAndWhateverNeedsIt(t *testing.T) {
	t.Parallel()
	made := readFrom(t, bare, prod)
	require.Len(t, made.all("AWS::Lambda::Function"), len(env.Functions())-1)
	var names []string
	for _, a := range made.all(alarmType) {
		names = append(names, a.text("AlarmName"))
	}
	var want []string
	for _, a := range alarmsOf(made) {
		if !slices.ContainsFunc(a.Of, func(m alarm.Metric) bool {
			return slices.Contains(m.Of, alarm.Subject{Dimension: alarm.FunctionName, Value: string(env.Canary)})
		}) {
			want = append(want, a.Name)
		}
	}
	require.ElementsMatch(t, want, names)
	require.NotContains(t, want, "nexus-effects-silent")
	for folder, warned := range map[string]bool{bare: true, mailed: false} {
		text, err := os.ReadFile(filepath.Join(folder, "nexus-prod.metadata.json"))
		require.NoError(t, err)
		require.Equal(t, warned, strings.Contains(string(text), "nexus:canary"), folder)
	}
}
