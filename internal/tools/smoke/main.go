// Command smoke tries a deployed stage out: make smoke. It reads the stage's address from its stack, gets a token, and
// runs nexus smoke with it. The token is that of NEXUS_TOKEN, or one that the stage's own issuer gives its client for
// programs. It must never print or store the token or the client's secret.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"nexus/internal/tools/stacks"
)

const (
	// tokenVariable holds the token of nexus smoke.
	tokenVariable = "NEXUS_TOKEN"
	// patience bounds the whole run.
	patience = 5 * time.Minute
	// maxAnswer bounds the issuer's answer, in bytes.
	maxAnswer = 1 << 16
)

func main() {
	stage := flag.String("stage", "dev", "the `name` of the stage")
	flag.Parse()
	s := smoke{stage: *stage, own: os.Getenv(tokenVariable), client: http.DefaultClient,
		stacks: &stacks.Reader{Run: stacks.Run}}
	stacks.Main("smoke", patience, func(ctx context.Context) error { return s.run(ctx, flag.Arg(0)) })
}

type smoke struct {
	stage  string
	own    string // the token of the environment, if any
	client *http.Client
	stacks *stacks.Reader
}

// run runs the program's smoke test against the stage.
func (s smoke) run(ctx context.Context, program string) error {
	outputs, err := s.stacks.Outputs(ctx, "nexus-"+s.stage)
	if err != nil {
		return err
	}
	address := outputs["Address"]
	if address == "" {
		return fmt.Errorf("stack nexus-%s has no output Address: it is not deployed", s.stage)
	}
	token, err := s.token(ctx)
	if err != nil {
		return err
	}
	test := exec.CommandContext(ctx, program, "smoke", "--api", address)
	test.Env = append(os.Environ(), tokenVariable+"="+token)
	test.Stdout, test.Stderr = os.Stdout, os.Stderr
	return test.Run()
}

// token returns a token that may read and write.
func (s smoke) token(ctx context.Context) (string, error) {
	if s.own != "" {
		return s.own, nil
	}
	outputs, err := s.stacks.Outputs(ctx, "nexus-identity-"+s.stage)
	if err != nil {
		return "", err
	}
	if outputs["CanaryClient"] == "" {
		return "", fmt.Errorf("stage %s has no issuer of its own: set %s to a token of its issuer", s.stage, tokenVariable)
	}
	secret, err := s.stacks.Call(ctx, "cognito-idp", "describe-user-pool-client", "--user-pool-id", outputs["UserPool"],
		"--client-id", outputs["CanaryClient"], "--query", "UserPoolClient.ClientSecret", "--output", "text")
	if err != nil {
		return "", fmt.Errorf("secret of the client: %w", err)
	}
	return s.ask(ctx, outputs["Login"]+"/oauth2/token", outputs["CanaryClient"], strings.TrimSpace(string(secret)))
}

// ask asks for a token with the client's own credentials (RFC 6749 §4.4).
func (s smoke) ask(ctx context.Context, address, client, secret string) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {"nexus/read nexus/write"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(url.QueryEscape(client), url.QueryEscape(secret))
	answer, err := s.client.Do(request)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	defer answer.Body.Close()
	var given struct {
		Token string `json:"access_token"`
		Error string `json:"error"`
	}
	err = json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&given)
	if err != nil || answer.StatusCode != http.StatusOK || given.Token == "" {
		return "", fmt.Errorf("token: %s answers %s %s", address, answer.Status, given.Error)
	}
	return given.Token, nil
}
