package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nexus/pkg/deliver/webpush"
	"nexus/pkg/deploy/env"
	"nexus/pkg/webhook"
)

// checkPushKey asks whether the parameters of the push key are there and belong together: with another public key every
// push service would refuse what deliver sends. No value is printed.
func (f flight) checkPushKey(ctx context.Context) (string, error) {
	public, err := f.parameter(ctx, env.PushPublicParameter+":"+env.PushPublicVersion)
	if err != nil {
		return "", err
	}
	secret, err := f.parameter(ctx, env.PushSecretParameter, "--with-decryption")
	if err != nil {
		return "", err
	}
	key, err := webpush.ParseKey(secret)
	if err != nil {
		return "", fmt.Errorf("push key: %s: %w", env.PushSecretParameter, err)
	}
	if key.Public() != public {
		return "", errors.New("push key: " + env.PushSecretParameter + " is not the secret of " + env.PushPublicParameter)
	}
	return "the parameters of the push key belong together", nil
}

// checkHookKey asks whether the parameter of webhooks is there and has the form of a secret: without it deliver does no
// work. The value is not printed.
func (f flight) checkHookKey(ctx context.Context) (string, error) {
	secret, err := f.parameter(ctx, env.HookSecretParameter, "--with-decryption")
	if err != nil {
		return "", err
	}
	if _, err := webhook.ParseMaster(secret); err != nil {
		return "", fmt.Errorf("secret of webhooks: %s: %w", env.HookSecretParameter, err)
	}
	return "the secret of webhooks is there", nil
}

// parameter returns the value of a parameter in the stage's region.
func (f flight) parameter(ctx context.Context, name string, more ...string) (string, error) {
	args := append([]string{"ssm", "get-parameter", "--name", name, "--output", "text", "--query", "Parameter.Value"},
		more...)
	text, err := f.stacks.Call(ctx, args...)
	if err != nil {
		return "", fmt.Errorf("parameter %s: %w", name, err)
	}
	return strings.TrimSpace(string(text)), nil
}
