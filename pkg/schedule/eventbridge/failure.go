package eventbridge

import (
	"errors"
	"net/http"
	"strings"

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
			if isRole(failure) {
				return schedule.ErrUnavailable
			}
			return schedule.ErrInvalid
		}
	}
	return schedule.ErrUnavailable
}

// isRole says that the service refused not the schedule but the role that it is to assume: its trust is missing, or was
// made so lately that the service does not know it yet. It has no code of its own for that, only a text: "The execution
// role you provide must allow AWS EventBridge Scheduler to assume the role." Taken for a fault of the schedule it would have
// every reminder parked that changes in the first minute of a deployment.
func isRole(failure smithy.APIError) bool {
	text := strings.ToLower(failure.ErrorMessage())
	return strings.Contains(text, "execution role") || strings.Contains(text, "assume the role")
}

func throttled(err error) bool {
	codes := retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}
	if codes.IsErrorThrottle(err) == aws.TrueTernary {
		return true
	}
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() == http.StatusTooManyRequests
}
