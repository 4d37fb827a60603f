package eventbridge

import (
	portaws "nexus/pkg/port/aws"

	"nexus/pkg/bus"
)

// sentinel maps the failure of a whole request to one of the port's errors. Missing rights and expired credentials
// count as unavailable: the events are valid, and the call succeeds once the deployment is corrected.
func sentinel(err error) error {
	if portaws.IsThrottled(err) {
		return bus.ErrThrottled
	}
	if code, _ := portaws.Code(err); code == "ValidationException" {
		return bus.ErrInvalid
	}
	return bus.ErrUnavailable
}

// entryFailure maps one entry's code likewise (EventBridge, PutEventsResultEntry), and reports whether an immediate
// repetition can help.
func entryFailure(code string) (kind error, passing bool) {
	switch code {
	case "ThrottlingException":
		return bus.ErrThrottled, true
	case "InternalFailure", "InternalException", "":
		return bus.ErrUnavailable, true
	case "MalformedDetail", "InvalidArgument":
		return bus.ErrInvalid, false
	}
	return bus.ErrUnavailable, false // rights and accounts: the operator must correct the deployment
}
