package main

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/stacks"
	"nexus/pkg/deploy/setting"
)

// values are those of a stage's settings, as cdk.json has them.
type values map[string]any

func (v values) read() *setting.Reader { return &setting.Reader{Stage: "dev", Values: v} }

// asked returns a deployment over an account that answers these services, and fails for any other.
func asked(s values, answers map[string]string) flight {
	return flight{stage: "dev", settings: s.read(), stacks: &stacks.Reader{
		Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
			answer, ok := answers[args[0]]
			if !ok {
				return nil, errors.New("no answer of " + args[0])
			}
			if i := slices.Index(args, "--certificate-arn") + slices.Index(args, "--topic-arn") + 1; i > 0 {
				if named := args[i+1]; named != "arn:own" {
					return nil, errors.New("asked for " + named)
				}
			}
			return []byte(answer), nil
		},
	}}
}

// want checks a check's words, or its error with the prefix "refused: ".
func want(t *testing.T, says string, check func(context.Context) (string, error)) {
	t.Helper()
	got, err := check(t.Context())
	if err != nil {
		got = "refused: " + err.Error()
	}
	require.Contains(t, got, says)
}

func TestCheckConcurrency_comparesTheAccountWithAllReserves(t *testing.T) {
	t.Parallel()
	small := "projections=1,effects=1,notify=1,walk=1,deliver=1" // with account 5 and canary 1: 11
	for _, one := range []struct {
		has, says string
		settings  values
	}{
		{"111\n", "is 111, of which the stage needs 111", values{"protected": true, "reserve": small}},
		{"110", "refused: concurrency: the account has 110, and the", values{"protected": true, "reserve": small}},
		{"10", "needs 416", values{"protected": true}},
		{"None", "refused: concurrency", values{"protected": true}},
		{"10", "reserves no concurrency", values{}},
	} {
		want(t, one.says, asked(one.settings, map[string]string{"lambda": one.has}).checkConcurrency)
	}
	want(t, "refused: concurrency: no answer of lambda", asked(values{"protected": true}, nil).checkConcurrency)
}

func TestCheckCertificate_wantsOneThatIsIssuedForTheDomain(t *testing.T) {
	t.Parallel()
	s := values{"domain": "API.example.com", "certificate": "arn:own"}
	const refused = "refused: certificate"
	for answer, says := range map[string]string{
		`{"Status":"ISSUED","Names":["www.example.com","api.example.com"]}`: "of api.example.com is issued",
		`{"Status":"ISSUED","Names":["*.example.com"]}`:                     "of api.example.com is issued",
		`{"Status":"ISSUED","Names":["example.com","*.api.example.com"]}`:   refused + ": arn:own is for example.com, *.api",
		`{"Status":"PENDING_VALIDATION","Names":["api.example.com"]}`:       refused + ": arn:own is PENDING_VALIDATION",
		`An error`: refused,
	} {
		want(t, says, asked(s, map[string]string{"acm": answer}).checkCertificate)
	}
	want(t, "refused: certificate: no answer of acm", asked(s, nil).checkCertificate)
	want(t, "has no domain", asked(values{}, nil).checkCertificate)
}

// The certificate of an edge is in us-east-1, and that of its origin in the stage's region, wherever the operator is.
func TestCheckOrigin_asksForEachCertificateInItsRegion(t *testing.T) {
	t.Parallel()
	const own = "arn:aws:acm:us-east-1:123456789012:certificate/a"
	const other = "arn:aws:acm:eu-central-1:123456789012:certificate/b"
	names := map[string]string{own + " us-east-1": "api.example.com", other + " eu-central-1": "o-1.example.com"}
	f := flight{settings: values{
		"domain": "api.example.com", "certificate": own, "originDomain": "o-1.example.com", "originCertificate": other,
	}.read(), stacks: &stacks.Reader{Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
		asked := args[slices.Index(args, "--certificate-arn")+1] + " " + args[slices.Index(args, "--region")+1]
		return []byte(`{"Status":"ISSUED","Names":["` + names[asked] + `"]}`), nil
	}}}
	want(t, "of api.example.com is issued", f.checkCertificate)
	want(t, "of o-1.example.com is issued", f.checkOrigin)
	f.settings.Values["originDomain"] = "o-2.example.com"
	want(t, "refused: certificate: "+other+" is for o-1.example.com, not for o-2", f.checkOrigin)
	delete(f.settings.Values, "originDomain")
	want(t, "no edge", f.checkOrigin)
}

func TestCheckTopic_countsConfirmedSubscriptions(t *testing.T) {
	t.Parallel()
	const confirmed, pending = `["arn:a","PendingConfirmation"]`, `["PendingConfirmation"]`
	own := values{"alarmTopic": "arn:own", "protected": true}
	made := values{"alarmEmail": "a@example.com", "protected": true}
	const stack = `[["AlarmsTopic","arn:own"]]`
	for _, one := range []struct {
		settings       values
		outputs, topic string
		says           string
	}{
		{own, "", confirmed, "1 of 2 subscriptions"},
		{own, "", pending, "refused: alarms: no subscription of arn:own is confirmed"},
		{own, "", `null`, "refused: alarms: no subscription"},
		{values{"alarmTopic": "arn:own"}, "", pending, "0 of 1 subscriptions"},
		{made, `[]`, "", "will ask each address"},
		{made, stack, confirmed, "1 of 2 subscriptions"},
		{made, stack, pending, "refused: alarms: no subscription"},
		{made, `An error`, "", "refused: outputs of stack"},
		{values{}, "", "", "tell no operator"},
	} {
		want(t, one.says, asked(one.settings, map[string]string{"cloudformation": one.outputs, "sns": one.topic}).checkTopic)
	}
	want(t, "refused: alarms: no answer of sns", asked(own, nil).checkTopic)
}
