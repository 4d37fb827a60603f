package eventsource_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// The two filters a deployment needs: entities for everybody, and the user's settings and removed timers for one.
func entities() eventsource.Pattern {
	return eventsource.Pattern{
		SKPrefixes: []string{entity.ItemPrefix(product.TypeTask), entity.ItemPrefix(product.TypeNote)},
	}
}

func removedTimers() eventsource.Pattern {
	return eventsource.Pattern{
		SKPrefixes: []string{entity.ItemPrefix(entity.RowTimer)}, Events: []change.EventName{change.Remove},
	}
}

func TestFilter_passesWhatAnyOfItsPatternsPasses(t *testing.T) {
	t.Parallel()
	task := entity.ItemKey("u1", entity.Ref{Type: product.TypeTask, ID: "task_1"})
	meta, timer := entity.MetaKey("u1"), entity.TimerKey("u1", "task_1", 3)
	ledger := entity.LedgerKey("u1", "stats", "task_1")
	narrow := eventsource.Filter{entities()}
	wide := eventsource.Filter{entities(), {SKPrefixes: []string{entity.ItemPrefix(entity.TypeUserMeta)}}, removedTimers()}
	for _, c := range []struct {
		name    string
		key     item.Key
		event   change.EventName
		expired bool
		passes  [3]bool // nothing stated, narrow, wide
	}{
		{"an entity", task, change.Insert, false, [3]bool{true, true, true}},
		{"an entity changed", task, change.Modify, false, [3]bool{true, true, true}},
		{"an entity expired", task, change.Remove, true, [3]bool{true, true, true}},
		{"settings", meta, change.Modify, false, [3]bool{true, false, true}},
		{"a ledger row", ledger, change.Insert, false, [3]bool{true, false, false}},
		{"a new timer", timer, change.Insert, false, [3]bool{true, false, false}},
		{"a timer removed in a replica", timer, change.Remove, false, [3]bool{true, false, true}},
		{"a timer expired", timer, change.Remove, true, [3]bool{true, false, true}},
	} {
		r := record("1", c.key)
		r.Name, r.Expired = c.event, c.expired
		for i, filter := range []eventsource.Filter{nil, narrow, wide} {
			require.Equal(t, c.passes[i], filter.Match(r), "%s, filter %d", c.name, i)
		}
	}
}

func TestFilter_isWrittenAsLambdaWantsIt(t *testing.T) {
	t.Parallel()
	filter := eventsource.Filter{entities(), removedTimers(), {Events: []change.EventName{change.Insert, change.Modify}}}
	require.Equal(t, []string{
		`{"dynamodb":{"Keys":{"SK":{"S":[{"prefix":"TASK#"},{"prefix":"NOTE#"}]}}}}`,
		`{"eventName":["REMOVE"],"dynamodb":{"Keys":{"SK":{"S":[{"prefix":"TIMER#"}]}}}}`,
		`{"eventName":["INSERT","MODIFY"]}`,
	}, filter.JSON())
	settings := eventsource.Pattern{
		SKPrefixes: []string{entity.ItemPrefix(entity.TypeUserMeta)},
		Without:    eventsource.Attribute{Name: "mark", Type: "BOOL"},
	}
	require.Equal(t,
		`{"dynamodb":{"Keys":{"SK":{"S":[{"prefix":"USER_META#"}]}},"NewImage":{"mark":{"BOOL":[{"exists":false}]}}}}`,
		settings.JSON())
}

func TestFilter_dropsARecordByAnAttributeOfItsNewImage(t *testing.T) {
	t.Parallel()
	p := eventsource.Pattern{Without: eventsource.Attribute{Name: entity.AttrTTL, Type: "N"}}
	r := record("1", entity.MetaKey("u1"))
	require.True(t, p.Match(r), "there is none")
	r.Old = item.Item{entity.AttrTTL: item.Int(1)}
	require.True(t, p.Match(r), "it is gone")
	r.New = item.Item{entity.AttrTTL: item.Int(1)}
	require.False(t, p.Match(r))
}

func TestMapping_finishesWhatTheFilterDropsWithoutTheHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", Filter: eventsource.Filter{entities()}, BatchSize: 2})
		row := func(sequence string) change.Record { return record(sequence, entity.SumKey("u1", "other")) }
		s.source.put("a", row("1"), row("2"), row("3"))
		s.source.add("a", "4")
		s.source.put("a", row("5"), row("6"))
		s.run(t)
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"4"}}, s.batches())
		require.Equal(t, "6", s.saved(t)["a"].Sequence)
	})
}

func TestMapping_gathersABatchWithinItsWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{
			Name: "m", BatchSize: 4, Window: 5 * time.Second, Filter: eventsource.Filter{entities()},
		})
		s.source.add("a")
		s.run(t)
		time.Sleep(time.Hour) // idle time does not open the window
		s.source.add("a", "1")
		s.mapping.Wake()
		time.Sleep(2 * time.Second)
		s.source.put("a", record("2", entity.MetaKey("u1")))
		s.source.add("a", "3")
		time.Sleep(time.Second)
		require.Empty(t, s.batches())
		require.Equal(t, 2, s.mapping.Status()[0].InFlight)
		time.Sleep(12 * time.Second)
		require.Equal(t, [][]string{{"1", "3"}}, s.batches())
		began := time.Now()
		s.source.add("a", "4", "5", "6", "7", "8")
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"1", "3"}, {"4", "5", "6", "7"}, {"8"}}, s.batches())
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestConfig_refusesWhatLambdaWouldRefuse(t *testing.T) {
	t.Parallel()
	good := eventsource.Config{
		Name: "m", MaxAge: time.Hour, RetryAttempts: 3, Window: time.Second, Filter: eventsource.Filter{entities()},
	}
	require.NoError(t, good.Validate())
	for want, spoil := range map[string]func(*eventsource.Config){
		"name is empty":     func(c *eventsource.Config) { c.Name = "" },
		"batch size 10001":  func(c *eventsource.Config) { c.BatchSize = 10_001 },
		"window 1.5s":       func(c *eventsource.Config) { c.Window = 1500 * time.Millisecond },
		"retry attempts -1": func(c *eventsource.Config) { c.RetryAttempts = -1 },
		"maximum age 30s":   func(c *eventsource.Config) { c.MaxAge = 30 * time.Second },
		"timeout -1s":       func(c *eventsource.Config) { c.Timeout = -time.Second },
		"6 filter patterns": func(c *eventsource.Config) { c.Filter = make(eventsource.Filter, 6) },
		"lacks its name or": func(c *eventsource.Config) {
			c.Filter = eventsource.Filter{{Without: eventsource.Attribute{Name: "ttl"}}}
		},
		"it is empty and would": func(c *eventsource.Config) { c.Filter = eventsource.Filter{{}} },
		`prefix ""`:             func(c *eventsource.Config) { c.Filter = eventsource.Filter{{SKPrefixes: []string{""}}} },
		`unknown event name "PUT"`: func(c *eventsource.Config) {
			c.Filter = eventsource.Filter{{Events: []change.EventName{"PUT"}}}
		},
		"at most 4096": func(c *eventsource.Config) {
			c.Filter = eventsource.Filter{{SKPrefixes: []string{strings.Repeat("x", 4096)}}}
		},
	} {
		c := good
		spoil(&c)
		require.ErrorContains(t, c.Validate(), want)
		_, err := eventsource.New(c, eventsource.Wiring{})
		require.ErrorContains(t, err, want)
	}
	_, err := eventsource.New(good, eventsource.Wiring{})
	require.ErrorContains(t, err, "Source is missing")
}

func TestConfig_needsADestinationIfItMayGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.wiring.Destination = nil
		_, err := eventsource.New(s.config, s.wiring)
		require.NoError(t, err)
		s.config.RetryAttempts = 1
		_, err = eventsource.New(s.config, s.wiring)
		require.ErrorContains(t, err, "Destination is missing")
	})
}
