package eventbridge

import (
	"strings"

	portaws "nexus/pkg/port/aws"

	"nexus/pkg/schedule"
)

// sentinel maps the client's error to one of the port's errors. Missing rights, a missing group and expired
// credentials count as unavailable: the schedule is valid, and the call succeeds once the deployment is corrected.
func sentinel(err error) error {
	if portaws.IsThrottled(err) {
		return schedule.ErrThrottled
	}
	switch code, message := portaws.Code(err); code {
	case "ServiceQuotaExceededException":
		return schedule.ErrQuota
	case "ValidationException":
		if isRole(message) {
			return schedule.ErrUnavailable
		}
		return schedule.ErrInvalid
	}
	return schedule.ErrUnavailable
}

// isRole reports whether the service refused the role to assume, and not the schedule. The role's trust is missing, or
// is so new that the service has not received it yet. The service has no separate code for that, only a text: "The
// execution role you provide must allow AWS EventBridge Scheduler to assume the role." If it counted as a fault of the
// schedule, the consumer would park every reminder that changes in the first minute of a deployment.
func isRole(message string) bool {
	text := strings.ToLower(message)
	return strings.Contains(text, "execution role") || strings.Contains(text, "assume the role")
}
