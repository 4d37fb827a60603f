package cloud

import (
	"context"
	"errors"
	"net/http"

	smithy "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// counting returns an option of a client that reports each answer 5xx of the service. It runs inside the retry loop:
// each attempt counts.
func counting(failed func()) func(*smithy.Stack) error {
	handle := func(ctx context.Context, in smithy.FinalizeInput, next smithy.FinalizeHandler) (
		smithy.FinalizeOutput, smithy.Metadata, error,
	) {
		out, metadata, err := next.HandleFinalize(ctx, in)
		var answer *smithyhttp.ResponseError
		if errors.As(err, &answer) && answer.HTTPStatusCode() >= http.StatusInternalServerError {
			failed()
		}
		return out, metadata, err
	}
	return func(stack *smithy.Stack) error {
		return stack.Finalize.Insert(smithy.FinalizeMiddlewareFunc("CountFailures", handle), "Retry", smithy.After)
	}
}
