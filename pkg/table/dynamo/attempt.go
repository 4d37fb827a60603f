package dynamo

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// attempts observes the attempts that the SDK makes in one call.
type attempts struct {
	// inDoubt says that an attempt ended without the service's refusal: its request may have been applied.
	inDoubt bool
}

// watch adds the observation to one call. It runs inside the retry loop, so it observes each attempt separately.
func (a *attempts) watch(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("WatchAttempts", a.handle), "Retry", middleware.After)
	})
}

func (a *attempts) handle(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleFinalize(ctx, in)
	if err != nil && !isRefusal(err) {
		a.inDoubt = true
	}
	return out, metadata, err
}

// isRefusal says that the service answered and did not apply the request. A server's fault is no such answer.
func isRefusal(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorFault() != smithy.FaultServer && httpStatus(err) < 500 &&
		api.ErrorCode() != "TransactionInProgressException"
}
