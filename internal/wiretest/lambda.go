package wiretest

import (
	"encoding/json"
	"net/http"
)

// Lambda returns AWS Lambda, as far as a function has another one work later.
func Lambda() Service {
	return describe("lambda", map[string][]Rule{"Invoke": {payloadIsJSON}}, func(w http.ResponseWriter, r Refusal) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Amzn-Errortype", r.Code)
		w.WriteHeader(r.Status)
		_ = json.NewEncoder(w).Encode(map[string]string{"Type": "User", "Message": message(r)})
	})
}

// payloadIsJSON checks Invoke, Payload: the JSON that is given to the function.
func payloadIsJSON(c Call) []string {
	if body, _ := c.Input["Body"].([]byte); !json.Valid(body) {
		return []string{"Payload is no JSON"}
	}
	return nil
}
