package stack_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

const mappingType = "AWS::Lambda::EventSourceMapping"

// mapping returns the event source mapping of a line of the deployment table.
func (t *template) mapping(r readers.Reader) resource {
	t.Helper()
	return t.mappingOf(env.Function(r.Name))
}

// mappingOf returns that of a function.
func (t *template) mappingOf(f env.Function) resource {
	t.Helper()
	return t.named(title(f)+"Reader", mappingType)
}

// streamMappings returns the event source mappings of the table's stream.
func (t *template) streamMappings() []resource {
	t.Helper()
	return slices.DeleteFunc(t.all(mappingType), func(m resource) bool {
		return strings.Contains(m.text("EventSourceArn"), "Walks")
	})
}

func TestAddReaders_boundsRetriesAndKeepsWhatIsGivenUp(t *testing.T) {
	t.Parallel()
	const retention = 24 * time.Hour // of a stream
	each(t, func(t *template) {
		for _, m := range t.streamMappings() {
			require.Equal(t, []string{"ReportBatchItemFailures"}, texts(m.at("FunctionResponseTypes")), m.path())
			require.Equal(t, true, m.at("BisectBatchOnFunctionError"), m.path())
			require.Equal(t, "TRIM_HORIZON", m.text("StartingPosition"), m.path())
			require.Equal(t, t.one(tableType).attribute("StreamArn"), m.text("EventSourceArn"), m.path())
			require.Equal(t, -1.0, m.at("MaximumRetryAttempts"), "%s: only the age ends the attempts", m.path())
			age, _ := m.at("MaximumRecordAgeInSeconds").(float64)
			require.Positive(t, age, m.path())
			require.Less(t, age, retention.Seconds(), "%s: the stream would lose it first", m.path())
			require.Equal(t, t.named("Parking", "AWS::S3::Bucket").attribute("Arn"),
				m.text("DestinationConfig", "OnFailure", "Destination"), m.path())
			require.Equal(t, []string{"EventCount"}, texts(m.at("MetricsConfig", "Metrics")),
				"%s: an alarm is set on them", m.path())
		}
	})
}

func TestAddReaders_followsTheDeploymentTable(t *testing.T) {
	t.Parallel()
	readers := readers.Table(product.Registry())
	require.LessOrEqual(t, len(readers), 2, "a stream is made for two readers of a shard")
	each(t, func(t *template) {
		require.Len(t, t.streamMappings(), len(readers))
		for _, r := range readers {
			m := t.mapping(r)
			require.Equal(t, t.liveName(env.Function(r.Name)), m.text("FunctionName"))
			require.Equal(t, r.MaxAge.Seconds(), m.at("MaximumRecordAgeInSeconds"))
			require.Equal(t, r.Window.Seconds(), m.at("MaximumBatchingWindowInSeconds"))
			require.Equal(t, float64(r.Parallel), m.at("ParallelizationFactor"))
			require.InDelta(t, 5, m.at("ParallelizationFactor"), 5, "Lambda takes 1 to 10")
			require.Positive(t, m.at("BatchSize"))
		}
	})
}

// filter is a pattern as Lambda reads it.
type filter struct {
	EventName    []string
	UserIdentity map[string][]string
	DynamoDB     struct {
		Keys     map[string]map[string][]map[string]string
		NewImage any
	}
}

func TestFilters_passTheRowsOfAReadersConsumersAlone(t *testing.T) {
	t.Parallel()
	var items []string
	for _, typ := range product.Registry().Types() {
		items = append(items, entity.ItemPrefix(typ.Name))
	}
	meta, timer := entity.ItemPrefix(entity.TypeUserMeta), entity.ItemPrefix(entity.RowTimer)
	each(t, func(t *template) {
		for _, r := range readers.Table(product.Registry()) {
			passed := map[string][]filter{}
			list, _ := t.mapping(r).at("FilterCriteria", "Filters").([]any)
			require.Len(t, list, len(r.Filter))
			for i, entry := range list {
				pattern := text(entry.(map[string]any)["Pattern"])
				require.Equal(t, r.Filter.JSON()[i], pattern)
				var f filter
				require.NoError(t, json.Unmarshal([]byte(pattern), &f))
				require.Len(t, f.DynamoDB.Keys, 1)
				for _, rule := range f.DynamoDB.Keys[item.AttrSK]["S"] {
					require.Len(t, rule, 1)
					passed[rule["prefix"]] = append(passed[rule["prefix"]], f)
				}
			}
			want := append(slices.Clone(items), repository.HeadPrefix())
			if r.Name == string(env.Effects) {
				want = append(slices.Clone(items), timer)
				require.Len(t, passed[timer], 1)
				require.Equal(t, []string{"REMOVE"}, passed[timer][0].EventName)
			}
			var got []string
			for prefix, filters := range passed {
				got = append(got, prefix)
				require.Nil(t, filters[0].UserIdentity, "what a replica removes has none")
				switch {
				case prefix == meta:
					require.Len(t, filters, 1, "%s: what statistics write is left out", prefix)
					require.Nil(t, filters[0].EventName)
					require.Contains(t, filters[0].DynamoDB.NewImage, product.AttrStatsWritten)
				case slices.Contains(items, prefix) || prefix == repository.HeadPrefix():
					require.Len(t, filters, 1, "%s: every change of an item, and of a head", prefix)
					require.Nil(t, filters[0].EventName)
					require.Nil(t, filters[0].DynamoDB.NewImage)
				}
			}
			require.ElementsMatch(t, want, got, r.Name)
		}
	})
}
