package s3

import (
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"nexus/pkg/blob"
)

// sentinel says which of the port's errors the client's error is. Missing rights, a missing bucket and expired
// credentials count as unavailable: the object is as good as before, and the call succeeds once the deployment is put
// right. So does a body damaged on its way.
func sentinel(err error) error {
	codes := retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}
	var response *smithyhttp.ResponseError
	if codes.IsErrorThrottle(err) == aws.TrueTernary ||
		errors.As(err, &response) && response.HTTPStatusCode() == http.StatusTooManyRequests {
		return blob.ErrThrottled
	}
	var failure smithy.APIError
	if errors.As(err, &failure) {
		switch failure.ErrorCode() {
		case "NoSuchKey":
			return blob.ErrNotFound
		case "EntityTooLarge", "KeyTooLongError", "InvalidArgument", "InvalidRequest", "InvalidURI":
			return blob.ErrInvalid
		}
	}
	return blob.ErrUnavailable
}
