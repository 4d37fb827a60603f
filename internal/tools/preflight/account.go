package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

// unreserved is the concurrency that Lambda wants left to functions without a reserve (AWS Lambda Developer Guide,
// "Configuring reserved concurrency").
const unreserved = 100

// certificateParts is the number of parts of a certificate's ARN, of which the fourth is the region.
const certificateParts = 6

// checkConcurrency compares the account's concurrency with what a protected stage reserves.
func (f flight) checkConcurrency(ctx context.Context) (string, error) {
	if !f.settings.Flag("protected") {
		return "the stage reserves no concurrency", nil
	}
	needs, reserve := unreserved, f.settings.Numbers("reserve")
	for _, function := range env.Functions() {
		needs += cmp.Or(reserve[string(function)], size.For(function).Reserved)
	}
	text, err := f.stacks.Call(ctx, "lambda", "get-account-settings", "--output", "text",
		"--query", "AccountLimit.ConcurrentExecutions")
	if err != nil {
		return "", fmt.Errorf("concurrency: %w", err)
	}
	has, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return "", fmt.Errorf("concurrency: %w", err)
	}
	if has < needs {
		return "", fmt.Errorf("concurrency: the account has %d, and the stage needs %d: all reserves and %d more; ask for "+
			"it with aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 "+
			"--desired-value %d", has, needs, unreserved, max(needs, 1000))
	}
	return fmt.Sprintf("the account's concurrency is %d, of which the stage needs %d", has, needs), nil
}

// checkCertificate asks whether the certificate of the stage's domain is issued, and for that name.
func (f flight) checkCertificate(ctx context.Context) (string, error) {
	return f.checkIssued(ctx, f.settings.Text("domain"), f.settings.Text("certificate"))
}

// checkOrigin asks the same of the name by which an edge reaches the API.
func (f flight) checkOrigin(ctx context.Context) (string, error) {
	domain := f.settings.Text("originDomain")
	if domain == "" {
		return "no edge reaches the API", nil
	}
	return f.checkIssued(ctx, domain, f.settings.Text("originCertificate"))
}

func (f flight) checkIssued(ctx context.Context, domain, arn string) (string, error) {
	if arn == "" {
		return "the stage has no domain", nil
	}
	args := []string{"acm", "describe-certificate", "--certificate-arn", arn, "--output", "json",
		"--query", "Certificate.{Status:Status,Names:SubjectAlternativeNames}"}
	if parts := strings.Split(arn, ":"); len(parts) == certificateParts { // that of an edge is in a region of its own
		args = append(args, "--region", parts[3])
	}
	text, err := f.stacks.Call(ctx, args...)
	if err != nil {
		return "", fmt.Errorf("certificate: %w", err)
	}
	var certificate struct {
		Status string
		Names  []string
	}
	if err := json.Unmarshal(text, &certificate); err != nil {
		return "", fmt.Errorf("certificate: %w", err)
	}
	if certificate.Status != "ISSUED" {
		return "", fmt.Errorf("certificate: %s is %s, not ISSUED: prove the name as ACM says", arn, certificate.Status)
	}
	domain = strings.ToLower(domain)
	_, parent, _ := strings.Cut(domain, ".")
	if !slices.Contains(certificate.Names, domain) && !slices.Contains(certificate.Names, "*."+parent) {
		return "", fmt.Errorf("certificate: %s is for %s, not for %s", arn, strings.Join(certificate.Names, ", "), domain)
	}
	return "the certificate of " + domain + " is issued", nil
}

// noSubscription stands for the ARN of a subscription that its owner did not confirm (Amazon SNS API Reference).
const noSubscription = "PendingConfirmation"

// checkTopic asks whether an alarm reaches an operator. What the first deployment makes is confirmed after it.
func (f flight) checkTopic(ctx context.Context) (string, error) {
	topic := f.settings.Text("alarmTopic")
	if topic == "" && len(f.settings.List("alarmEmail")) > 0 {
		outputs, err := f.stacks.Outputs(ctx, "nexus-"+f.stage)
		if err != nil {
			return "", err
		}
		if topic = outputs["AlarmsTopic"]; topic == "" {
			return "AWS will ask each address of alarmEmail to confirm its subscription", nil
		}
	}
	if topic == "" {
		return "alarms tell no operator", nil // which make deploy refuses in a protected stage
	}
	text, err := f.stacks.Call(ctx, "sns", "list-subscriptions-by-topic", "--topic-arn", topic, "--output", "json",
		"--query", "Subscriptions[].SubscriptionArn")
	if err != nil {
		return "", fmt.Errorf("alarms: %w", err)
	}
	var subscriptions []string
	if err := json.Unmarshal(text, &subscriptions); err != nil {
		return "", fmt.Errorf("alarms: %w", err)
	}
	confirmed := 0
	for _, arn := range subscriptions {
		if arn != noSubscription {
			confirmed++
		}
	}
	if confirmed == 0 && f.settings.Flag("protected") {
		return "", errors.New("alarms: no subscription of " + topic + " is confirmed, so they reach no operator")
	}
	return fmt.Sprintf("%d of %d subscriptions to alarms are confirmed", confirmed, len(subscriptions)), nil
}
