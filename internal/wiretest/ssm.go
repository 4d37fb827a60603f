package wiretest

import "net/http"

// SSM returns the Parameter Store of AWS Systems Manager, as far as Nexus reads a parameter: JSON 1.1.
func SSM() Service {
	return describe("ssm", nil, func(w http.ResponseWriter, r Refusal) {
		refuseJSON(w, "application/x-amz-json-1.1", "com.amazonaws.ssm#", r)
	})
}
