package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"nexus/internal/tools/stacks"
	"nexus/pkg/deploy/release"
)

// flight is a deployment that is about to begin.
type flight struct {
	stage     string
	settings  settings
	changelog string // path
	client    *http.Client
	stacks    *stacks.Reader
}

// check makes every check, prints what holds, and returns what does not.
func (f flight) check(ctx context.Context, out io.Writer) error {
	var wrong []error
	for _, one := range []func(context.Context) (string, error){
		f.checkIssuer, f.checkRelease, f.checkConcurrency, f.checkCertificate, f.checkOrigin, f.checkTopic,
	} {
		says, err := one(ctx)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		fmt.Fprintln(out, "preflight:", says)
	}
	return errors.Join(wrong...)
}

const (
	wellKnown = "/.well-known/openid-configuration"
	// maxDocument bounds the issuer's document, in bytes.
	maxDocument = 1 << 20
)

// checkIssuer asks for what the API's authorizer reads when it is made (OpenID Connect Discovery 1.0 §4).
func (f flight) checkIssuer(ctx context.Context) (string, error) {
	if f.settings.Identity != "" {
		return "the issuer is the stack nexus-identity-" + f.stage, nil
	}
	address := strings.TrimSuffix(f.settings.Issuer, "/") + wellKnown
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fmt.Errorf("issuer %s: %w", f.settings.Issuer, err)
	}
	answer, err := f.client.Do(request)
	if err != nil {
		return "", fmt.Errorf("issuer: %w", err) // it names the address
	}
	defer answer.Body.Close()
	var document struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	err = json.NewDecoder(io.LimitReader(answer.Body, maxDocument)).Decode(&document)
	switch {
	case answer.StatusCode != http.StatusOK:
		return "", fmt.Errorf("issuer: %s answers %s", address, answer.Status)
	case err != nil:
		return "", fmt.Errorf("issuer: %s is no document of an issuer: %w", address, err)
	case document.Issuer != f.settings.Issuer:
		return "", fmt.Errorf("issuer: %s names %q, and the stage %q: no token would be accepted", address, document.Issuer,
			f.settings.Issuer)
	case !strings.HasPrefix(document.Keys, "https://"):
		return "", fmt.Errorf("issuer: %s has no jwks_uri, where its keys are", address)
	}
	return "the issuer answers at " + address, nil
}

// checkRelease compares the release of this tree with the one that the stack names.
func (f flight) checkRelease(ctx context.Context) (string, error) {
	text, err := os.ReadFile(f.changelog)
	if err != nil {
		return "", fmt.Errorf("releases: %w", err)
	}
	ours, err := release.Read(string(text))
	if err != nil {
		return "", err
	}
	outputs, err := f.stacks.Outputs(ctx, "nexus-"+f.stage)
	if err != nil {
		return "", err
	}
	deployed := release.Release{Name: outputs[release.Output], Before: outputs[release.OutputBefore]}
	if err := release.Check(deployed, ours); err != nil {
		return "", err
	}
	if deployed.Name == "" {
		return "no release is deployed; this is " + ours[0], nil
	}
	return fmt.Sprintf("release %s is deployed; this is %s", deployed.Name, ours[0]), nil
}
