package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/cost"
	"nexus/internal/tools/stacks"
)

// month is that of one user.
var month = sync.OnceValue(func() *cost.Month {
	m, err := cost.Replay(context.Background(), cost.Options{
		Load: cost.DocumentLoad(), Model: cost.DefaultModel(), Scale: 0.0001, Seed: 1,
	})
	if err != nil {
		panic(err)
	}
	return m
})

// Recorded answers of Service Quotas, shortened: what an account was given, and what every account has.
const (
	lambdaQuotas = `[{"Name":"Function and layer storage","Code":"L-2ACBD22F","Value":75.0},
		{"Name":"Concurrent executions","Code":"L-B99A9384","Value":1000.0}]`
	dynamoQuotas = `[{"Name":"Table-level write throughput limit","Code":"L-AB614373","Value":40000.0},
		{"Name":"Table-level read throughput limit","Code":"L-CF0CBE56","Value":40000.0},
		{"Name":"Account-level read throughput limit (Provisioned mode)","Code":"L-34F6A552","Value":80000.0}]`
	gatewayQuotas = `[{"Name":"Throttle burst rate","Code":"L-CDF5615A","Value":5000.0},
		{"Name":"Throttle rate","Code":"L-8A5B8E43","Value":10000.0}]`
	schedulerQuotas = `[{"Name":"Number of schedule groups","Code":"L-10000001","Value":500.0},
		{"Name":"Number of schedules","Code":"L-10000002","Value":10000000.0},
		{"Name":"Invocations throttle limit in transactions per second","Code":"L-10000003","Value":1000.0}]`
)

// checked returns what the check says of settings in an account with these answers, by operation and service, in place
// of those of an account whose quotas are the usual ones.
func checked(t *testing.T, s values, answers map[string]string) string {
	t.Helper()
	f := flight{
		settings: s.read(), month: func(context.Context) (*cost.Month, error) { return month(), nil },
		stacks: &stacks.Reader{Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
			if answer, there := answers[args[1]+" "+args[3]]; there {
				return []byte(answer), nil
			}
			if args[1] != "list-service-quotas" {
				return nil, errors.New("asked for what is known: " + strings.Join(args, " "))
			}
			return []byte(map[string]string{
				"lambda": lambdaQuotas, "dynamodb": dynamoQuotas, "apigateway": gatewayQuotas, "scheduler": schedulerQuotas,
			}[args[3]]), nil
		}},
	}
	says, err := f.checkQuotas(t.Context())
	require.NoError(t, err)
	return says
}

func TestCheckQuotas_tellsWhichBearLessThanTheSettings(t *testing.T) {
	t.Parallel()
	require.Regexp(t, `^the stage's settings bear 6\d thousand users, and each of the account's quotas more$`,
		checked(t, nil, nil))
	require.Regexp(t, `^the stage's settings bear 2\d thousand users, and`, checked(t, values{"ratePerSecond": "50"}, nil))
	// What lies behind notify is not raised with it.
	large := values{
		"reserve": "notify=300,deliver=350", "ratePerSecond": 1000.0, "maxReadUnits": 40000.0, "maxWriteUnits": 40000.0,
	}
	says := strings.Split(checked(t, large, nil), "\n")
	require.Len(t, says, 3)
	require.Regexp(t, `bear 22\d thousand users$`, says[0])
	require.Regexp(t, `QUOTA calls of reminders in one minute: 60000 bear 100 thousand; .*`+
		`--service-code scheduler --quota-code L-10000003 --desired-value 2\d\d\d$`, says[1])
	require.Regexp(t, `QUOTA open schedules: 10000000 bear 167 thousand; .*`+
		`--service-code scheduler --quota-code L-10000002 --desired-value 1\d{7}$`, says[2])
	// A new account in a region with less of it.
	says = strings.Split(checked(t, nil, map[string]string{
		"list-service-quotas apigateway": `[{"Name":"Throttle rate","Code":"L-8A5B8E43","Value":100.0}]`,
		"list-service-quotas lambda":     `[{"Name":"Concurrent executions","Code":"L-B99A9384","Value":10.0}]`,
	}), "\n")
	require.Len(t, says, 3)
	require.Regexp(t, `QUOTA command and query at a time: -306 bear 0 .* L-B99A9384 --desired-value 3\d\d$`, says[1])
	require.Regexp(t, `QUOTA requests a second, of the account: 100 bear 4\d .* L-8A5B8E43 .*-value 1\d\d$`, says[2])
}

func TestCheckQuotas_takesThoseOfEveryAccountWhereItsOwnAreNotTold(t *testing.T) {
	t.Parallel()
	const given = `[{"Name":"Number of schedules","Code":"L-10000002","Value":1000000.0}]`
	says := strings.Split(checked(t, nil, map[string]string{
		"list-service-quotas scheduler": given, "list-aws-default-service-quotas scheduler": schedulerQuotas,
		"list-service-quotas dynamodb": "null", "list-aws-default-service-quotas dynamodb": "[]",
	}), "\n")
	require.Len(t, says, 4)
	require.Contains(t, says[1], "QUOTA open schedules: 1000000 bear 17 thousand")
	require.Contains(t, says[2], `Service Quotas of dynamodb does not tell "Table-level write throughput limit"`)
	require.Contains(t, says[3], `"Table-level read throughput limit": that of a new account was taken`)

	f := asked(nil, nil)
	want(t, "refused: quotas: no answer of service-quotas", f.checkQuotas)
	f = asked(nil, map[string]string{"service-quotas": "An error"})
	want(t, "refused: quotas of lambda", f.checkQuotas)
}
