package boot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/stretchr/testify/require"

	"nexus/functions/internal/boot"
	"nexus/pkg/deploy/env"
	"nexus/pkg/pepper"
)

// invoke handles an invocation and returns what was logged.
func invoke(t *testing.T, h boot.Handler) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "request-1"})
	func() {
		defer func() { _ = recover() }()
		_, _ = boot.Logged(h, boot.NewLogger(&out, env.Notify, pepper.Pepper{}))(ctx, nil)
	}()
	var lines []map[string]any
	for text := range strings.Lines(out.String()) {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		lines = append(lines, line)
	}
	return lines
}

func TestLogged_logsAFailedInvocationOnceUnderItsID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler boot.Handler
		level   string
	}{
		"error":   {func(context.Context, []byte) ([]byte, error) { return nil, errors.New("bus unavailable") }, "ERROR"},
		"refusal": {func(context.Context, []byte) ([]byte, error) { return nil, &boot.Refusal{Message: "no user"} }, "INFO"},
		"panic":   {func(context.Context, []byte) ([]byte, error) { panic("out of range") }, "ERROR"},
	} {
		lines := invoke(t, c.handler)
		require.Len(t, lines, 1, name)
		require.Equal(t, []any{"invocation failed", c.level, "request-1", "notify"},
			[]any{lines[0]["message"], lines[0]["level"], lines[0]["invocationId"], lines[0]["function"]}, name)
	}
	require.Empty(t, invoke(t, func(context.Context, []byte) ([]byte, error) { return nil, nil }))
}

func TestLogged_passesAPanicOnAfterItsLine(t *testing.T) {
	t.Parallel()
	h := boot.Logged(func(context.Context, []byte) ([]byte, error) { panic("out of range") },
		slog.New(slog.DiscardHandler))
	require.PanicsWithValue(t, "out of range", func() { _, _ = h(t.Context(), nil) })
}

func TestOthers_logsLibrariesAsJSONAndNoFailureTwice(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(boot.Others(boot.NewLogger(&out, env.Query, pepper.Pepper{})))
	log.Info(`{"errorMessage":"bus unavailable","errorType":"errorString"}`)
	require.Empty(t, out.String())
	log.Info("Unsolicited response received on idle HTTP channel")
	require.True(t, json.Valid(out.Bytes()))
}
