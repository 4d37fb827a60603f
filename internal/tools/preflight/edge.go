package main

import (
	"bytes"
	"context"
	"fmt"

	"nexus/pkg/deploy/edge"
)

// checkSecret asks whether CloudFront will add the header that the functions require: the version of the parameter that
// the stage names has the same value in both regions. No value is printed.
func (f flight) checkSecret(ctx context.Context) (string, error) {
	if !f.settings.Flag("edge") {
		return "no edge stands before the API", nil
	}
	name := fmt.Sprintf("%s:%d", edge.SecretParameter, max(f.settings.Number("edgeSecret"), 1))
	args := []string{"ssm", "get-parameter", "--name", name, "--output", "text", "--query", "Parameter.Value"}
	own, err := f.stacks.Call(ctx, args...)
	if err != nil {
		return "", fmt.Errorf("edge: %s in the stage's region: %w", name, err)
	}
	there, err := f.stacks.Call(ctx, append(args, "--region", edge.Region)...)
	if err != nil {
		return "", fmt.Errorf("edge: %s in %s: %w", name, edge.Region, err)
	}
	if !bytes.Equal(own, there) {
		return "", fmt.Errorf("edge: %s differs between the stage's region and %s: the functions would refuse every request",
			name, edge.Region)
	}
	return "the secret of the edge is the same in both regions", nil
}
