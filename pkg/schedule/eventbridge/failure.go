package eventbridge

import (
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"nexus/pkg/schedule"
)

// sentinel says which of the port's errors the client's error is. Missing rights, a missing group and expired
// credentials count as unavailable: the schedule is as good as before, and the call succeeds once the deployment is put
// right.
func sentinel(err error) error {
	if throttled(err) {
		return schedule.ErrThrottled
	}
	// By code, not by type: not every operation's model knows each of them.
	var failure smithy.APIError
	if errors.As(err, &failure) {
		switch failure.ErrorCode() {
		case "ServiceQuotaExceededException":
			return schedule.ErrQuota
		case "ValidationException":
			return schedule.ErrInvalid
		}
	}
	return schedule.ErrUnavailable
}

func throttled(err error) bool {
	codes := retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}
	if codes.IsErrorThrottle(err) == aws.TrueTernary {
		return true
	}
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() == http.StatusTooManyRequests
}
