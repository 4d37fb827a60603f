package wiretest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// Scheduler returns Amazon EventBridge Scheduler: REST with JSON bodies, errors named in a header.
func Scheduler() Service {
	written := []Rule{oneTimeExpression, inputOfFunction}
	return describe("scheduler", map[string][]Rule{"CreateSchedule": written, "UpdateSchedule": written}, refuseSchedule)
}

var oneTime = regexp.MustCompile(`^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$`)

// oneTimeExpression checks EventBridge Scheduler User Guide, "Schedule types in EventBridge Scheduler", "One-time
// schedules": at(yyyy-mm-ddThh:mm:ss), in the time zone named beside it, which is one of the IANA database.
func oneTimeExpression(c Call) []string {
	expression, _ := c.Input["ScheduleExpression"].(string)
	parts := oneTime.FindStringSubmatch(expression)
	if parts == nil {
		return []string{fmt.Sprintf("the expression %q has not the form at(yyyy-mm-ddThh:mm:ss)", expression)}
	}
	var found []string
	if _, err := time.Parse("2006-01-02T15:04:05", parts[1]); err != nil {
		found = append(found, fmt.Sprintf("the expression %q names no instant", expression))
	}
	if zone, named := c.Input["ScheduleExpressionTimezone"].(string); named {
		if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" {
			found = append(found, fmt.Sprintf("the zone %q is not one of the IANA database", zone))
		}
	}
	return found
}

// inputOfFunction checks Target, Input of the same reference: for a Lambda function it must be JSON.
func inputOfFunction(c Call) []string {
	target, _ := c.Input["Target"].(map[string]any)
	input, _ := target["Input"].(string)
	if input != "" && !json.Valid([]byte(input)) {
		return []string{"Target.Input is not JSON"}
	}
	return nil
}

func refuseSchedule(w http.ResponseWriter, r Refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-ErrorType", r.Code)
	w.WriteHeader(r.Status)
	_ = json.NewEncoder(w).Encode(map[string]string{"Message": message(r)})
}

func message(r Refusal) string { return "refused with " + r.Code }
