package boot

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"nexus/pkg/deploy/env"
	"nexus/pkg/mask"
	"nexus/pkg/pepper"
)

// NewLogger returns the function's logger: JSON under the names by which Lambda filters and shows lines ("timestamp",
// "level", "message"), each line with the id of its invocation and without the id of a user.
func NewLogger(out io.Writer, f env.Function, p pepper.Pepper) *slog.Logger {
	lines := slog.NewJSONHandler(out, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr})
	return slog.New(mask.New(invocation{lines}, p)).With(slog.String("function", string(f)))
}

// invocation adds the id of the invocation whose context a line is logged with.
type invocation struct{ slog.Handler }

func (h invocation) Handle(ctx context.Context, r slog.Record) error {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		r = r.Clone()
		r.AddAttrs(slog.String("invocationId", lc.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

func (h invocation) WithAttrs(attrs []slog.Attr) slog.Handler {
	return invocation{h.Handler.WithAttrs(attrs)}
}

func (h invocation) WithGroup(name string) slog.Handler { return invocation{h.Handler.WithGroup(name)} }

// Others receives the lines that libraries write to the log of package log, so that they are JSON, too. It drops the
// Lambda library's line about a failed invocation, which has been logged with the invocation's id.
func Others(log *slog.Logger) slog.Handler { return others{log.Handler()} }

type others struct{ slog.Handler }

func (h others) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, `{"errorMessage":`) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}
