package e2e_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
)

// refused runs a program that must not start, and returns what it reported to Lambda.
func refused(t *testing.T, f env.Function, environment map[string]string) string {
	t.Helper()
	fn := start(t, f, environment)
	select {
	case err := <-fn.ended:
		fn.ended <- err
		var exit *exec.ExitError
		require.True(t, errors.As(err, &exit), "%v", err)
		require.Equal(t, 1, exit.ExitCode())
	case <-time.After(patience):
		t.Fatal("the program goes on")
	}
	var told failure
	select {
	case told = <-fn.runtime.failed: // posted before the program ended
	default:
		t.Fatalf("nothing was reported to Lambda:\n%s", fn.log)
	}
	line, _, _ := strings.Cut(fn.log.String(), "\n")
	require.Equal(t, told.ErrorMessage, object(t, line)["error"])
	require.Equal(t, "ERROR", object(t, line)["level"])
	return told.ErrorMessage
}

func TestFunctions_nameEachMissingVariableAndEnd(t *testing.T) {
	t.Parallel()
	always := []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	for _, f := range env.Functions() {
		message := refused(t, f, nil)
		names := append(always, f.Variables()...)
		for _, name := range names {
			require.Contains(t, message, name+" is missing", "%s", f)
		}
		require.Equal(t, len(names), strings.Count(message, " is missing"), "%s", message)
	}
}

func TestFunctions_nameAMalformedVariableAndEnd(t *testing.T) {
	t.Parallel()
	message := refused(t, env.Notify, map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "hush",
		"AWS_ENDPOINT_URL": "ftp://hush@example.com", env.TableName: "a table", env.BusName: busName,
		env.ScheduleGroup: group, env.ScheduleTargetARN: roleARN, env.ScheduleRoleARN: roleARN,
		env.ScheduleDeadLetterARN: deadLetter,
	})
	for _, name := range []string{
		"AWS_ENDPOINT_URL is not", env.TableName + " is not", env.ScheduleTargetARN + " is not",
	} {
		require.Contains(t, message, name)
	}
	require.NotContains(t, message, "hush")
	require.NotContains(t, message, env.ScheduleRoleARN)
}
