package boot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// runtimeAPI is the variable with the address of Lambda's runtime API.
const runtimeAPI = "AWS_LAMBDA_RUNTIME_API"

const (
	reportTimeout = 2 * time.Second
	startError    = "Function.NotStarted"
)

// reportInit reports to Lambda why the function does not start (AWS Lambda Developer Guide, "Runtime API",
// initialization error), so that the waiting invocation gets the reason. Outside Lambda it does nothing.
func reportInit(address string, cause error) error {
	if address == "" {
		return nil
	}
	body, err := json.Marshal(map[string]any{
		"errorMessage": cause.Error(), "errorType": startError, "stackTrace": []string{},
	})
	if err != nil {
		return fmt.Errorf("encode initialization error: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	target := "http://" + address + "/2018-06-01/runtime/init/error"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("post initialization error: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Lambda-Runtime-Function-Error-Type", startError)
	// The runtime API is on the machine itself: never through a proxy.
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
	if err != nil {
		return fmt.Errorf("post initialization error: %w", err)
	}
	return response.Body.Close()
}
