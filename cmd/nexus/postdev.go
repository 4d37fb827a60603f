package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"nexus/pkg/pepper"
)

// maxProblemBytes bounds the bytes of a refusal that are read.
const maxProblemBytes = 64 << 10

// postDev asks the running local system at the address, and returns its answer of status 200, whose body the caller
// closes. Any other answer is an error with its problem.
func postDev(ctx context.Context, dev, path, media string, body io.Reader) (*http.Response, error) {
	url := strings.TrimSuffix(dev, "/") + path
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return nil, wrongUsage("--dev: %w", err)
	}
	request.Header.Set("Content-Type", media)
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxProblemBytes))
	got := received{response.StatusCode, response.Header, content}
	return nil, errors.Join(fmt.Errorf("POST %s: %s", url, got.problem()), err, response.Body.Close())
}

// parsePepper reads the flag --pepper.
func parsePepper(text string) (pepper.Pepper, error) {
	p, err := pepper.Parse(text)
	if err != nil {
		return p, wrongUsage("--pepper: %w", err)
	}
	return p, nil
}
