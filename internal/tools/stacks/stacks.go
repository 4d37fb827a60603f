// Package stacks reads what deployed stacks tell, through the AWS command line, with the credentials of the
// environment.
//
// It promises to change nothing. It must never print or store a credential.
package stacks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

// Main runs a program until it ends, an interrupt comes or the time is over. After an error it prints that under the
// program's name, and exits with 1.
func Main(name string, patience time.Duration, run func(ctx context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, patience)
	err := run(ctx)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// CLI runs one command of the AWS command line, and returns what it prints. Environ is added to the environment.
type CLI func(ctx context.Context, environ []string, args ...string) ([]byte, error)

// Run is the installed command line. Its errors have what it says.
func Run(ctx context.Context, environ []string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "aws", args...)
	command.Env = append(os.Environ(), environ...)
	out, err := command.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return nil, fmt.Errorf("aws %s: %s", args[0], strings.TrimSpace(string(ended.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("aws command line: %w", err)
	}
	return out, nil
}

// Reader reads stacks with rights of its own, or with those of the role that `cdk bootstrap` makes for reading: a
// workflow has the right to take that role, and no other.
type Reader struct {
	Run     CLI
	environ []string // of the role, once it was taken
}

// Outputs returns the outputs of a stack by their names; none if there is no such stack.
func (r *Reader) Outputs(ctx context.Context, stack string) (map[string]string, error) {
	text, err := r.Call(ctx, "cloudformation", "describe-stacks", "--stack-name", stack, "--output", "json",
		"--query", "Stacks[0].Outputs[].[OutputKey,OutputValue]")
	if err != nil && strings.Contains(err.Error(), "does not exist") {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("outputs of stack %s: %w", stack, err)
	}
	var pairs [][2]string
	if err := json.Unmarshal(text, &pairs); err != nil {
		return nil, fmt.Errorf("outputs of stack %s: %w", stack, err)
	}
	out := map[string]string{}
	for _, pair := range pairs {
		out[pair[0]] = pair[1]
	}
	return out, nil
}

// Call runs a command that reads. If it is refused, the reader takes the role and runs it again.
func (r *Reader) Call(ctx context.Context, args ...string) ([]byte, error) {
	out, err := r.Run(ctx, r.environ, args...)
	if err == nil || r.environ != nil || !strings.Contains(err.Error(), "AccessDenied") {
		return out, err
	}
	if taken := r.take(ctx); taken != nil {
		return nil, errors.Join(err, taken)
	}
	return r.Run(ctx, r.environ, args...)
}

// take takes the role for reading.
func (r *Reader) take(ctx context.Context) error {
	account, err := r.Run(ctx, nil, "sts", "get-caller-identity", "--query", "Account", "--output", "text")
	if err != nil {
		return err
	}
	region, err := r.Run(ctx, nil, "configure", "get", "region")
	if own := os.Getenv("AWS_REGION"); own != "" {
		region, err = []byte(own), nil
	}
	if err != nil {
		return err
	}
	role := fmt.Sprintf("arn:aws:iam::%[1]s:role/cdk-hnb659fds-lookup-role-%[1]s-%[2]s",
		strings.TrimSpace(string(account)), strings.TrimSpace(string(region)))
	text, err := r.Run(ctx, nil, "sts", "assume-role", "--role-arn", role, "--role-session-name", "nexus", "--output",
		"json", "--query", "Credentials.[AccessKeyId,SecretAccessKey,SessionToken]")
	if err != nil {
		return err
	}
	var credentials [3]string
	if err := json.Unmarshal(text, &credentials); err != nil {
		return fmt.Errorf("credentials of %s: %w", role, err)
	}
	for i, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		r.environ = append(r.environ, name+"="+credentials[i])
	}
	return nil
}
