package s3

import (
	portaws "nexus/pkg/port/aws"

	"nexus/pkg/blob"
)

// sentinel says which of the port's errors the client's error is. Missing rights, a missing bucket and expired
// credentials count as unavailable: the object is as good as before, and the call succeeds once the deployment is put
// right. So does a body damaged on its way.
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
