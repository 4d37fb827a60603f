package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"nexus/internal/cost"
)

// peak is how many times the mean the busiest minutes have, as nexus capacity takes it.
const peak = 5

// quota is a quota of the account.
type quota struct {
	service, name string  // as Service Quotas has them, which may say more behind the name
	bounds        string  // what of a [cost.Capacity]
	unit          float64 // so much of it for one of the quota
	of            func(*cost.Quotas) *float64
}

func quotas() []quota {
	return []quota{
		{"lambda", "Concurrent executions", cost.BoundConcurrency, 1,
			func(q *cost.Quotas) *float64 { return &q.Concurrency }},
		{"scheduler", "Invocations throttle limit", cost.BoundCalls, 60,
			func(q *cost.Quotas) *float64 { return &q.Calls }},
		{"scheduler", "Number of schedules", cost.BoundSchedules, 1,
			func(q *cost.Quotas) *float64 { return &q.Schedules }},
		{"dynamodb", "Table-level write throughput limit", cost.BoundTableWrites, 1,
			func(q *cost.Quotas) *float64 { return &q.TableWrites }},
		{"dynamodb", "Table-level read throughput limit", cost.BoundTableReads, 1,
			func(q *cost.Quotas) *float64 { return &q.TableReads }},
		{"apigateway", "Throttle rate", cost.BoundRequests, 1,
			func(q *cost.Quotas) *float64 { return &q.Requests }},
	}
}

// told is a quota as Service Quotas tells it.
type told struct {
	Name, Code string
	Value      float64
}

// checkQuotas compares how many users the account's quotas bear with how many the stage's own settings do, as nexus
// capacity reckons. It refuses nothing: a stage that grows needs them, and not its deployment.
func (f flight) checkQuotas(ctx context.Context) (string, error) {
	has, codes, silent := cost.NewQuotas(), map[string]string{}, "" // codes by what is bounded
	lists := map[string][]told{}
	for _, q := range quotas() {
		found, err := f.find(ctx, q, lists)
		if err != nil {
			return "", err
		}
		if found.Code == "" {
			silent += fmt.Sprintf("\n  Service Quotas of %s does not tell %q: that of a new account was taken", q.service,
				q.name)
			continue
		}
		*q.of(&has), codes[q.bounds] = found.Value, found.Code
	}
	month, err := f.month(ctx)
	if err != nil {
		return "", fmt.Errorf("quotas: %w", err)
	}
	capacity, err := cost.NewCapacity(month, 1, peak, cost.StageSettings{
		RatePerSecond: f.settings.Number("ratePerSecond"), MaxReadUnits: f.settings.Number("maxReadUnits"),
		MaxWriteUnits: f.settings.Number("maxWriteUnits"), Reserve: f.settings.Numbers("reserve"),
	}, has)
	if err != nil {
		return "", fmt.Errorf("quotas: %w", err)
	}
	// The bounds are in the order in which they are reached.
	own := slices.IndexFunc(capacity.Bounds, func(b cost.Bound) bool { return !b.OfAccount })
	borne := capacity.Bounds[own].Users
	says := fmt.Sprintf("the stage's settings bear %.0f thousand users", borne/1000)
	if own == 0 {
		says += ", and each of the account's quotas more"
	}
	for _, b := range capacity.Bounds[:own] {
		q := quotas()[slices.IndexFunc(quotas(), func(q quota) bool { return q.bounds == b.What })]
		says += fmt.Sprintf("\n  QUOTA %s: %.0f bear %.0f thousand; ask for more with aws service-quotas "+
			"request-service-quota-increase --service-code %s --quota-code %s --desired-value %.0f", b.What, b.Limit,
			max(b.Users, 0)/1000, q.service, codes[b.What], math.Ceil(*q.of(&has)+b.Limit*(borne/b.Users-1)/q.unit))
	}
	return says + silent, nil
}

// find returns a quota: the one that the account was given, else that of every account; without a code if there is
// none. Lists has what was asked for before.
func (f flight) find(ctx context.Context, q quota, lists map[string][]told) (told, error) {
	for _, operation := range []string{"list-service-quotas", "list-aws-default-service-quotas"} {
		list, isKnown := lists[operation+q.service]
		if !isKnown {
			text, err := f.stacks.Call(ctx, "service-quotas", operation, "--service-code", q.service, "--output", "json",
				"--query", "Quotas[].{Name:QuotaName,Code:QuotaCode,Value:Value}")
			if err != nil {
				return told{}, fmt.Errorf("quotas: %w", err)
			}
			if err := json.Unmarshal(text, &list); err != nil {
				return told{}, fmt.Errorf("quotas of %s: %w", q.service, err)
			}
			lists[operation+q.service] = list
		}
		if i := slices.IndexFunc(list, func(t told) bool { return strings.HasPrefix(t.Name, q.name) }); i >= 0 {
			return list[i], nil
		}
	}
	return told{}, nil
}
