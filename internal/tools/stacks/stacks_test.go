package stacks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/stacks"
)

const described = `[["Address","https://nexus.example.net"],["Release","0.2.0"]]`

func TestOutputs_returnsThoseOfTheStackAndNoneWithoutOne(t *testing.T) {
	t.Parallel()
	r := stacks.Reader{Run: func(_ context.Context, environ []string, args ...string) ([]byte, error) {
		require.Empty(t, environ)
		require.Equal(t, []string{"cloudformation", "describe-stacks", "--stack-name", "nexus-dev"}, args[:4])
		return []byte(described), nil
	}}
	got, err := r.Outputs(t.Context(), "nexus-dev")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Address": "https://nexus.example.net", "Release": "0.2.0"}, got)

	for answer, want := range map[string]string{
		"Stack with id nexus-dev does not exist": "", "Could not connect to the endpoint": "Could not connect",
	} {
		r.Run = func(context.Context, []string, ...string) ([]byte, error) { return nil, errors.New(answer) }
		got, err = r.Outputs(t.Context(), "nexus-dev")
		if want == "" {
			require.NoError(t, err)
			require.Empty(t, got)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

func TestCall_takesTheRoleForReadingOnceItIsRefused(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-central-1")
	taken := 0
	r := stacks.Reader{Run: func(_ context.Context, environ []string, args ...string) ([]byte, error) {
		switch {
		case args[0] == "sts" && args[1] == "get-caller-identity":
			return []byte("123456789012\n"), nil
		case args[0] == "sts":
			taken++
			require.Contains(t, args, "arn:aws:iam::123456789012:role/cdk-hnb659fds-lookup-role-123456789012-eu-central-1")
			return []byte(`["id","hush","token"]`), nil
		case slices.Contains(environ, "AWS_SECRET_ACCESS_KEY=hush"):
			return []byte(described), nil
		}
		return nil, errors.New("An error occurred (AccessDenied) when calling the DescribeStacks operation")
	}}
	for range 2 {
		got, err := r.Outputs(t.Context(), "nexus-dev")
		require.NoError(t, err)
		require.Equal(t, "0.2.0", got["Release"])
	}
	require.Equal(t, 1, taken)

	r = stacks.Reader{Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
		return nil, errors.New("AccessDenied: " + strings.Join(args[:2], " "))
	}}
	_, err := r.Outputs(t.Context(), "nexus-dev")
	require.ErrorContains(t, err, "AccessDenied: cloudformation describe-stacks")
	require.ErrorContains(t, err, "AccessDenied: sts get-caller-identity")
}
