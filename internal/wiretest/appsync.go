package wiretest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// AppSync returns the HTTP endpoint of an event API of AWS AppSync Events: one action, with JSON bodies.
func AppSync() Service {
	return describe("appsync", map[string][]Rule{"Publish": {eventsAreJSON}}, refusePublication)
}

// eventsAreJSON checks the same page: each event is the text of a JSON value.
func eventsAreJSON(c Call) []string {
	var found []string
	events, _ := c.Input["events"].([]any)
	for i, event := range events {
		if text, _ := event.(string); !json.Valid([]byte(text)) {
			found = append(found, fmt.Sprintf("events[%d] is not the text of a JSON value", i))
		}
	}
	return found
}

func refusePublication(w http.ResponseWriter, r Refusal) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("X-Amzn-ErrorType", r.Code)
	w.WriteHeader(r.Status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"errors": []map[string]string{{"errorType": r.Code, "message": message(r)}},
	})
}
