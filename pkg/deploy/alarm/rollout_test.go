package alarm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

func TestReverting_namesTheAlarmsOfTheFunctionAndOfTheCanaryThatExist(t *testing.T) {
	t.Parallel()
	var all []alarm.Alarm
	for _, name := range []string{
		"nexus-parked", "nexus-canary-failed", "nexus-canary-silent", "nexus-command-errors", "nexus-functions-throttled",
		"nexus-command-slow", "nexus-query-errors", "nexus-notify-errors", "nexus-server-errors",
	} {
		all = append(all, alarm.Alarm{Name: name})
	}
	require.Equal(t, []string{
		"nexus-canary-failed", "nexus-command-errors", "nexus-command-slow", "nexus-server-errors",
	}, alarm.Reverting(env.Command, all))
	require.Equal(t, []string{"nexus-canary-failed", "nexus-notify-errors"}, alarm.Reverting(env.Notify, all))
	require.Empty(t, alarm.Reverting(env.Command, nil))
}
