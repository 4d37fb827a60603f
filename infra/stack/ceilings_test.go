package stack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCeilings_boundTheTableAndEachIndex(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		made := t.one(tableType)
		places := []any{made.Properties}
		places = append(places, made.at("GlobalSecondaryIndexes").([]any)...)
		require.Len(t, places, 5)
		var want any
		if t.stage == prod {
			want = map[string]any{"MaxWriteRequestUnits": 4000.0}
		}
		for _, place := range places {
			require.Equal(t, want, place.(map[string]any)["WriteOnDemandThroughputSettings"])
			require.Nil(t, place.(map[string]any)["WarmThroughput"])
		}
		if t.stage == prod {
			want = map[string]any{"MaxReadRequestUnits": 4000.0}
		}
		local := here(t)
		places = []any{local}
		if indexes, ok := local["GlobalSecondaryIndexes"].([]any); ok {
			places = append(places, indexes...)
		}
		for _, place := range places {
			require.Equal(t, want, place.(map[string]any)["ReadOnDemandThroughputSettings"])
		}
		require.Len(t, places, 5)
	})
}

// It is not parallel: what describes a stack to the CDK does so in one process, one thing at a time.
func TestCeilings_warmTheTableAndEachIndex(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "cdk.out")
	require.NoError(t, synthesize(folder, out, map[string]any{"stage": dev, "warmWriteUnits": "9000"}))
	made := readFrom(t, out, dev).one(tableType)
	want := map[string]any{"WriteUnitsPerSecond": 9000.0}
	require.Equal(t, want, made.at("WarmThroughput"))
	for _, index := range made.at("GlobalSecondaryIndexes").([]any) {
		require.Equal(t, want, index.(map[string]any)["WarmThroughput"])
	}
}

const budgetType = "AWS::Budgets::Budget"

func TestAddBudget_tellsTheTopicTwiceAndOfUnusualCosts(t *testing.T) {
	t.Parallel()
	topic := adjustments()["alarmTopic"]
	made := readFrom(t, adjusted, prod)
	b := made.one(budgetType)
	require.Equal(t, map[string]any{
		"BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": map[string]any{"Amount": 200.0, "Unit": "USD"},
	}, b.at("Budget"), "a name would keep a change from being made")
	told := map[string]float64{}
	for _, one := range b.at("NotificationsWithSubscribers").([]any) {
		n := one.(map[string]any)["Notification"].(map[string]any)
		require.Equal(t, "PERCENTAGE", n["ThresholdType"])
		require.Equal(t, "GREATER_THAN", n["ComparisonOperator"])
		told[n["NotificationType"].(string)] = n["Threshold"].(float64)
		require.Equal(t, []any{map[string]any{"SubscriptionType": "SNS", "Address": topic}},
			one.(map[string]any)["Subscribers"])
	}
	require.Equal(t, map[string]float64{"ACTUAL": 80, "FORECASTED": 100}, told)

	watch := made.one("AWS::CE::AnomalySubscription")
	require.Equal(t, []any{map[string]any{"Type": "SNS", "Address": topic}}, watch.at("Subscribers"))
	require.Equal(t, "IMMEDIATE", watch.text("Frequency"))
	monitor := made.one("AWS::CE::AnomalyMonitor")
	require.Equal(t, []string{monitor.attribute("MonitorArn")}, texts(watch.at("MonitorArnList")))
	var of struct {
		Tags struct {
			Key    string
			Values []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(monitor.text("MonitorSpecification")), &of))
	require.Equal(t, "Stage", of.Tags.Key)
	require.Equal(t, []string{prod}, of.Tags.Values)
	require.JSONEq(t, `{"Dimensions":{"Key":"ANOMALY_TOTAL_IMPACT_ABSOLUTE","Values":["20"],`+
		`"MatchOptions":["GREATER_THAN_OR_EQUAL"]}}`, watch.text("ThresholdExpression"))
}

func TestAddBudget_isAskedForInAProtectedStage(t *testing.T) {
	t.Parallel()
	// Deployments are made from stacks without warnings only.
	for path, want := range map[string]bool{
		filepath.Join(assembly, "nexus-dev"): false, filepath.Join(assembly, "nexus-prod"): true,
		filepath.Join(adjusted, "nexus-prod"): false,
	} {
		text, err := os.ReadFile(path + ".metadata.json")
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(string(text), "nexus:budget"), path)
	}
	each(t, func(t *template) {
		for id, r := range t.resources {
			require.NotEqual(t, budgetType, r.Type, id)
		}
	})
}
