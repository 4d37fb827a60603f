package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"nexus/pkg/table"
)

// ErrNoTable says that the table does not exist. Wiring is wrong, or the table is still being created.
var ErrNoTable = errors.New("no such table")

// translate maps a call's error to the port's errors; the cause stays in the chain. If an earlier attempt of a write
// may have been applied, it never claims that nothing was written.
func translate(ctx context.Context, err error, seen *attempts) error {
	sentinel := verdict(ctx, err)
	if seen.inDoubt && (sentinel == table.ErrThrottled || sentinel == table.ErrConflict || sentinel == table.ErrInvalid) {
		sentinel = table.ErrUnavailable
	}
	if sentinel == nil || errors.Is(err, sentinel) {
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// verdict returns the port's error for a call's error, or the context's if it ended the call. It returns nil for
// errors on which no caller decides, such as refused credentials.
func verdict(ctx context.Context, err error) error {
	var api smithy.APIError
	if errors.As(err, &api) {
		if sentinel := codeVerdict(api.ErrorCode()); sentinel != nil {
			return sentinel
		}
	}
	switch status := httpStatus(err); {
	case status >= http.StatusInternalServerError:
		return table.ErrUnavailable
	case status == http.StatusRequestEntityTooLarge:
		return table.ErrInvalid
	case api != nil && api.ErrorFault() == smithy.FaultServer:
		return table.ErrUnavailable
	case api != nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case isRefusedBySDK(err):
		return table.ErrInvalid
	case isTransport(err):
		return table.ErrUnavailable
	}
	return nil
}

func codeVerdict(code string) error {
	switch code {
	case "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException", "ThrottlingError",
		"Throttling", "LimitExceededException":
		return table.ErrThrottled
	case "TransactionConflictException", "ReplicatedWriteConflictException":
		return table.ErrConflict
	case "TransactionInProgressException":
		// An earlier attempt of the same transaction is still running, and may succeed.
		return table.ErrUnavailable
	case "ItemCollectionSizeLimitExceededException", "ValidationException", "SerializationException",
		"IdempotentParameterMismatchException":
		return table.ErrInvalid
	case "InternalServerError", "InternalFailure", "ServiceUnavailable", "RequestTimeout", "RequestTimeoutException":
		return table.ErrUnavailable
	case "ResourceNotFoundException":
		return ErrNoTable
	}
	return nil
}

// httpStatus returns the answer's status, or 0 if there was no answer.
func httpStatus(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.Response != nil && response.Response.Response != nil {
		return response.HTTPStatusCode()
	}
	return 0
}

// isRefusedBySDK says that the request was never sent, because it cannot be written.
func isRefusedBySDK(err error) bool {
	var params smithy.InvalidParamsError
	var serialization *smithy.SerializationError
	return errors.As(err, &params) || errors.As(err, &serialization)
}

// isTransport reports whether the connection failed, or the response was no answer of the service.
func isTransport(err error) bool {
	var send *smithyhttp.RequestSendError
	var response *smithyhttp.ResponseError
	var deserialization *smithy.DeserializationError
	var network net.Error
	return errors.As(err, &send) || errors.As(err, &response) || errors.As(err, &deserialization) ||
		errors.As(err, &network)
}

// cancelled maps a cancelled transaction. A conflict or throttling has priority: the repetition that it requires finds
// out whether the conditions hold. Failed conditions come next, even beside an invalid action: the caller decides
// again on the returned rows, and the action may then differ.
func cancelled(err *types.TransactionCanceledException) error {
	var failed []table.Failure
	var conflict, throttled, invalid bool
	for i, reason := range err.CancellationReasons {
		switch code := str(reason.Code); code {
		case "", "None":
		case "ConditionalCheckFailed":
			old, err := fromAttributes(reason.Item)
			if err != nil {
				return fmt.Errorf("row of action %d: %w", i, err)
			}
			failed = append(failed, table.Failure{Index: i, Old: old})
		case "TransactionConflict":
			conflict = true
		case "ProvisionedThroughputExceeded", "ThrottlingError", "RequestLimitExceeded":
			throttled = true
		case "ValidationError", "ItemCollectionSizeLimitExceeded":
			invalid = true
		}
	}
	switch {
	case conflict:
		return fmt.Errorf("%w: %w", table.ErrConflict, err)
	case throttled:
		return fmt.Errorf("%w: %w", table.ErrThrottled, err)
	case len(failed) > 0:
		return &table.ConditionError{Failures: failed}
	case invalid:
		return fmt.Errorf("%w: %w", table.ErrInvalid, err)
	}
	return err
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
