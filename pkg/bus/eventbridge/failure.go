package eventbridge

import (
	portaws "nexus/pkg/port/aws"

	"nexus/pkg/bus"
)

// sentinel says which of the port's errors the failure of a whole request is. Missing rights and expired credentials
// count as unavailable: the events are as good as before, and the call succeeds once the deployment is put right.
func sentinel(err error) error {
	if portaws.IsThrottled(err) {
		return bus.ErrThrottled
	}
	if code, _ := portaws.Code(err); code == "ValidationException" {
		return bus.ErrInvalid
	}
	return bus.ErrUnavailable
}

// entryFailure says the same of one entry's code (EventBridge, PutEventsResultEntry), and whether sending it again at
// once can help.
func entryFailure(code string) (kind error, passing bool) {
	switch code {
	case "ThrottlingException":
		return bus.ErrThrottled, true
	case "InternalFailure", "InternalException", "":
		return bus.ErrUnavailable, true
	case "MalformedDetail", "InvalidArgument":
		return bus.ErrInvalid, false
	}
	return bus.ErrUnavailable, false // rights and accounts: for whoever deploys to put right
}
