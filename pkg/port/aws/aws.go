// Package aws reads the errors of the AWS SDK for Go for the adapters of ports.
//
// It promises to read an error by its code and its status, never by its type: an operation's model may lack errors of
// its service. It must never decide what an error means to a port.
package aws

import (
	"errors"
	"net/http"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// IsThrottled reports whether the service refused for load: by one of the SDK's codes for that, or with 429.
func IsThrottled(err error) bool {
	codes := retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}
	if codes.IsErrorThrottle(err) == sdk.TrueTernary {
		return true
	}
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() == http.StatusTooManyRequests
}

// Code returns the code and the message of the service's answer; empty if there was no answer.
func Code(err error) (code, message string) {
	var failure smithy.APIError
	if !errors.As(err, &failure) {
		return "", ""
	}
	return failure.ErrorCode(), failure.ErrorMessage()
}
