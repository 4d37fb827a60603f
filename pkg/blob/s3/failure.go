package s3

import (
	portaws "nexus/pkg/port/aws"

	"nexus/pkg/blob"
)

// sentinel maps the client's error to one of the port's errors. Missing rights, a missing bucket and expired
// credentials count as unavailable: the object is unchanged, and the call succeeds once the deployment is corrected.
// So does a body damaged on its way.
func sentinel(err error) error {
	if portaws.IsThrottled(err) {
		return blob.ErrThrottled
	}
	switch code, _ := portaws.Code(err); code {
	case "NoSuchKey":
		return blob.ErrNotFound
	case "EntityTooLarge", "KeyTooLongError", "InvalidArgument", "InvalidRequest", "InvalidURI":
		return blob.ErrInvalid
	}
	return blob.ErrUnavailable
}
