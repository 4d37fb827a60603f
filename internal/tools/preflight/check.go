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

	"nexus/internal/cost"
	"nexus/internal/tools/stacks"
	"nexus/pkg/deploy/issuer"
	"nexus/pkg/deploy/release"
	"nexus/pkg/deploy/setting"
)

// flight is a deployment that is about to begin.
type flight struct {
	stage     string
	settings  *setting.Reader
	changelog string // path
	client    *http.Client
	stacks    *stacks.Reader
	month     func(context.Context) (*cost.Month, error) // whose load is scaled
}

// check makes every check, prints what holds, and returns what does not.
func (f flight) check(ctx context.Context, out io.Writer) error {
	var wrong []error
	for _, one := range []func(context.Context) (string, error){
		f.checkIssuer, f.checkKeys, f.checkRelease, f.checkConcurrency, f.checkCertificate, f.checkOrigin, f.checkSecret,
		f.checkPushKey, f.checkHookKey, f.checkTopic, f.checkQuotas,
	} {
		says, err := one(ctx)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		fmt.Fprintln(out, "preflight:", says)
	}
	return errors.Join(append(wrong, f.settings.Wrong...)...)
}

// maxDocument bounds the issuer's document, in bytes.
const maxDocument = 1 << 20

// checkIssuer asks for what the API's authorizer reads when it is made (OpenID Connect Discovery 1.0 §4).
func (f flight) checkIssuer(ctx context.Context) (string, error) {
	if f.settings.Text("identity") != "" {
		return "the issuer is the stack nexus-identity-" + f.stage, nil
	}
	name := f.settings.Text("issuer")
	address := strings.TrimSuffix(name, "/") + issuer.WellKnown
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fmt.Errorf("issuer %s: %w", name, err)
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
	case document.Issuer != name:
		return "", fmt.Errorf("issuer: %s names %q, and the stage %q: no token would be accepted", address, document.Issuer,
			name)
	case !strings.HasPrefix(document.Keys, "https://"):
		return "", fmt.Errorf("issuer: %s has no jwks_uri, where its keys are", address)
	}
	return "the issuer answers at " + address, nil
}

// checkKeys reads the keys as functions do that are reached by function URLs. The stack of an issuer has some.
func (f flight) checkKeys(ctx context.Context) (string, error) {
	if f.settings.Text("door") != "direct" || f.settings.Text("identity") != "" {
		return "no function needs keys that are not there", nil
	}
	keys, err := issuer.ReadKeys(ctx, issuer.NewClient(f.client.Transport), f.settings.Text("issuer"))
	if err != nil {
		return "", fmt.Errorf("keys, with which functions check tokens: %w", err)
	}
	return fmt.Sprintf("keys of the issuer with which functions can check tokens: %d", len(keys)), nil
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
