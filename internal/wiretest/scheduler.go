package wiretest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// Scheduler is Amazon EventBridge Scheduler (API version 2021-06-30): REST with JSON bodies, errors named in a header.
func Scheduler() Service {
	members := scheduleMembers()
	operation := func(name, method, path, spec string) Operation {
		return Operation{
			Name: name, Source: "Amazon EventBridge Scheduler API Reference, " + name + ", Common Errors", Method: method,
			Path: path, Input: structure(members, spec), Refusals: scheduleRefusals(name),
		}
	}
	const one, written = "/schedules/{Name}",
		"Name! ScheduleExpression! FlexibleTimeWindow! Target! GroupName ClientToken Description" +
			" ScheduleExpressionTimezone StartDate EndDate State ActionAfterCompletion"
	create, update := operation("CreateSchedule", http.MethodPost, one, written),
		operation("UpdateSchedule", http.MethodPut, one, written)
	create.Rules = []Rule{oneTimeExpression, inputOfFunction}
	update.Rules = create.Rules
	remove := operation("DeleteSchedule", http.MethodDelete, one, "Name! GroupName ClientToken")
	remove.Query = map[string]string{"groupName": "GroupName", "clientToken": "ClientToken"}
	get := operation("GetSchedule", http.MethodGet, one, "Name! GroupName")
	get.Query = map[string]string{"groupName": "GroupName"}
	list := operation("ListSchedules", http.MethodGet, "/schedules", "GroupName NamePrefix State NextToken MaxResults")
	list.Query = map[string]string{
		"ScheduleGroup": "GroupName", "NamePrefix": "NamePrefix", "State": "State", "NextToken": "NextToken",
		"MaxResults": "MaxResults",
	}
	return Service{Name: "scheduler", Operations: []Operation{create, update, remove, get, list}, refuse: refuseSchedule}
}

func scheduleMembers() map[string]Shape {
	name := text(1, 64, `[0-9a-zA-Z-_.]+`) // of schedules and of groups
	return map[string]Shape{
		"Name": name, "GroupName": name, "NamePrefix": name,
		"ClientToken": text(1, 64, `[a-zA-Z0-9-_]+`), "Description": text(0, 512, ""),
		"ScheduleExpression": text(1, 256, ""), "ScheduleExpressionTimezone": text(1, 50, ""),
		"StartDate": {Kind: Timestamp}, "EndDate": {Kind: Timestamp},
		"State": oneOf("ENABLED", "DISABLED"), "ActionAfterCompletion": oneOf("NONE", "DELETE"),
		"FlexibleTimeWindow": {
			Required: []string{"Mode"},
			Members:  map[string]Shape{"Mode": oneOf("OFF", "FLEXIBLE"), "MaximumWindowInMinutes": integer(1, 1440)},
		},
		"Target":    scheduleTarget(),
		"NextToken": text(1, 2048, ""), "MaxResults": integer(1, 100),
	}
}

func scheduleTarget() Shape {
	return Shape{
		Required: []string{"Arn", "RoleArn"},
		Members: map[string]Shape{
			"Arn":     text(1, 1600, `arn:[^:]+:[^:]+:[^:]*:[^:]*:.+`),
			"RoleArn": text(1, 1600, `arn:aws(-[a-z]+)?:iam::\d{12}:role/[\w+=,.@/-]+`),
			"Input":   text(1, 0, ""),
			"DeadLetterConfig": {Members: map[string]Shape{
				"Arn": text(1, 1600, `arn:aws(-[a-z]+)?:sqs:[a-z0-9-]+:\d{12}:[a-zA-Z0-9_-]+`),
			}},
			"RetryPolicy": {Members: map[string]Shape{
				"MaximumEventAgeInSeconds": integer(60, 86400), "MaximumRetryAttempts": integer(0, 185),
			}},
		},
	}
}

// oneTimeExpression is EventBridge Scheduler User Guide, "Schedule types in EventBridge Scheduler", "One-time
// schedules": at(yyyy-mm-ddThh:mm:ss), in the time zone named beside it, which is one of the IANA database.
func oneTimeExpression(c Call) []string {
	expression, _ := c.Input["ScheduleExpression"].(string)
	parts := regexp.MustCompile(`^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$`).FindStringSubmatch(expression)
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

// inputOfFunction is what the same reference says of Target, Input: for a Lambda function it must be JSON.
func inputOfFunction(c Call) []string {
	target, _ := c.Input["Target"].(map[string]any)
	input, _ := target["Input"].(string)
	if input != "" && !json.Valid([]byte(input)) {
		return []string{"Target.Input is not JSON"}
	}
	return nil
}

// scheduleRefusals are the errors of the same reference's pages, each under "Errors", and of "Common Errors".
func scheduleRefusals(operation string) []Refusal {
	refusals := []Refusal{
		{Status: 400, Code: "ValidationException"},
		{Status: 404, Code: "ResourceNotFoundException"},
		{Status: 429, Code: "ThrottlingException", Repeated: true},
		{Status: 500, Code: "InternalServerException", Repeated: true},
		{Status: 403, Code: "AccessDeniedException"},
		{Status: 403, Code: "ExpiredTokenException"},
		{Status: 403, Code: "UnrecognizedClientException"},
		{Status: 503, Code: "ServiceUnavailable", Repeated: true},
	}
	switch operation {
	case "CreateSchedule":
		refusals = append(refusals, Refusal{Status: 402, Code: "ServiceQuotaExceededException"},
			Refusal{Status: 409, Code: "ConflictException"})
	case "UpdateSchedule", "DeleteSchedule":
		refusals = append(refusals, Refusal{Status: 409, Code: "ConflictException"})
	}
	return refusals
}

func refuseSchedule(w http.ResponseWriter, r Refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-ErrorType", r.Code)
	w.WriteHeader(r.Status)
	_ = json.NewEncoder(w).Encode(map[string]string{"Message": message(r)})
}

func message(r Refusal) string { return "refused with " + r.Code }
