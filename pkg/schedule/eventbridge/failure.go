package eventbridge

import (
	"strings"

	portaws "nexus/pkg/port/aws"

	"nexus/pkg/schedule"
)

// sentinel says which of the port's errors the client's error is. Missing rights, a missing group and expired
// credentials count as unavailable: the schedule is as good as before, and the call succeeds once the deployment is put
// right.
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

// isRole reports whether the service refused the role that it is to assume, and not the schedule: the role's trust is
// missing, or is so new that the service does not know it yet. The service has no code of its own for that, only a
// text: "The execution role you provide must allow AWS EventBridge Scheduler to assume the role." If it counted as a
// fault of the schedule, the consumer would park every reminder that changes in the first minute of a deployment.
func isRole(message string) bool {
	text := strings.ToLower(message)
	return strings.Contains(text, "execution role") || strings.Contains(text, "assume the role")
}
