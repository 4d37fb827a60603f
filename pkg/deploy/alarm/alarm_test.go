package alarm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// consumers are all of the deployment table.
func consumers() []string {
	var out []string
	for _, r := range readers.Table(product.Registry()) {
		out = append(out, r.Consumers...)
	}
	return out
}

// all are the alarms of the product, in a stage with ceilings, and what function URLs add.
func all() []alarm.Alarm {
	usual := alarm.All(readers.Table(product.Registry()))
	return slices.Concat(usual, alarm.Ceilings(4000, 4000), alarm.Direct(usual)[len(usual):])
}

func TestAlarm_canBeMade(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, a := range all() {
		require.Regexp(t, `^nexus(-[a-z]+)+$`, a.Name)
		require.False(t, seen[a.Name], a.Name)
		seen[a.Name] = true
		require.NotEmpty(t, a.Of, a.Name)
		require.LessOrEqual(t, len(a.Of), 10, a.Name)
		require.NotEmpty(t, a.Says, a.Name)
		require.LessOrEqual(t, len(a.Says), 1024, a.Name)
		for _, m := range a.Of {
			require.Contains(t, []string{alarm.Sum, alarm.Maximum, alarm.Slowest}, m.Statistic, a.Name)
		}
		require.GreaterOrEqual(t, a.Above, 0.0, a.Name)
		require.Positive(t, a.Periods, a.Name)
		require.LessOrEqual(t, a.BadPeriods(), a.Periods, a.Name)
		require.Zero(t, a.Period%time.Minute, a.Name)
		require.LessOrEqual(t, a.Period*time.Duration(a.Periods), 24*time.Hour, a.Name)
		require.Contains(t, []alarm.Missing{alarm.Good, alarm.Bad, alarm.Ignore}, a.Missing, a.Name)
		if len(a.Of) > 1 {
			for i := range a.Of {
				require.Contains(t, a.Math(), alarm.ID(i), a.Name)
			}
		}
	}
}

func TestAlarm_isOnAMetricOfOursThatIsEmitted(t *testing.T) {
	t.Parallel()
	var functions []string
	for _, f := range env.Functions() {
		functions = append(functions, string(f))
	}
	var indexes []string
	for _, index := range table.ProductSchema().Indexes {
		indexes = append(indexes, string(index.Name))
	}
	values := map[string][]string{metric.ByConsumer: consumers(), metric.ByFunction: functions}
	services := map[string][]string{
		alarm.FunctionName: functions, alarm.Mapping: functions, alarm.TableName: {"table"}, alarm.APIID: {"api"},
		alarm.Index: indexes, alarm.ScheduleGroup: {"schedules"},
		alarm.QueueName: {alarm.ScheduleQueue, alarm.NotifyQueue, alarm.DeliverQueue, alarm.WalkQueue, alarm.DeadWalkQueue},
	}
	for _, a := range all() {
		for _, m := range a.Of {
			known := services
			if m.Namespace == metric.Namespace {
				known = values
				require.Contains(t, metric.Names(), m.Name, a.Name)
			} else {
				require.True(t, strings.HasPrefix(m.Namespace, "AWS/"), a.Name)
			}
			for _, s := range m.Of {
				require.Contains(t, known[s.Dimension], s.Value, a.Name)
			}
		}
	}
}

func TestAll_watchesEveryMetricOfOurs(t *testing.T) {
	t.Parallel()
	for _, name := range metric.Names() {
		require.True(t, slices.ContainsFunc(all(), func(a alarm.Alarm) bool {
			return slices.ContainsFunc(a.Of, func(m alarm.Metric) bool {
				dimensions := map[string]int{metric.TableBytes: 1, metric.ErasuresOverdue: 1}
				return m.Name == name && len(m.Of) == dimensions[name]
			})
		}), "nothing watches %s, which is paid for", name)
	}
}

// named finds what a document calls by the name of an alarm, with the names that a pattern in angle brackets stands
// for.
var named = regexp.MustCompile("`(nexus-[a-z<>-]+)`")

func TestAlarm_isExplainedInTheOperatorsDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "operations.md"))
	require.NoError(t, err)
	var explained []string
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "| `nexus-") {
			continue
		}
		for _, found := range named.FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			explained = append(explained, expand(found[1])...)
		}
	}
	var names []string
	for _, a := range all() {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	slices.Sort(explained)
	require.Equal(t, names, explained)
}

func TestMetric_isExplainedInTheOperatorsDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "operations.md"))
	require.NoError(t, err)
	for _, name := range metric.Names() {
		require.Contains(t, string(text), "`"+name+"`")
	}
}

// expand returns the names that a pattern such as nexus-<consumer>-parked stands for.
func expand(pattern string) []string {
	var mappings, functions []string
	for _, r := range readers.Table(product.Registry()) {
		mappings = append(mappings, r.Name)
	}
	for _, f := range env.Functions() {
		if f != env.Canary {
			functions = append(functions, string(f))
		}
	}
	for mark, values := range map[string][]string{
		"<consumer>": consumers(), "<reader>": mappings, "<function>": functions,
	} {
		if !strings.Contains(pattern, mark) {
			continue
		}
		var out []string
		for _, v := range values {
			out = append(out, strings.ReplaceAll(pattern, mark, v))
		}
		return out
	}
	return []string{pattern}
}
