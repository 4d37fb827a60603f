package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// counted is one line of metrics, read as CloudWatch reads it.
type counted struct {
	dimension, value string
	metrics          map[string]float64 // all numbers of the line
	published        []string           // those that CloudWatch makes metrics of
	operations       table.TotalsByOperation
}

// counted ends the program and returns what it counted. A line that CloudWatch would not take fails the test.
func (f *function) counted() []counted {
	f.Helper()
	f.kill()
	var out []counted
	for text := range strings.Lines(f.out.String()) {
		var line struct {
			AWS struct {
				Timestamp         int64
				CloudWatchMetrics []struct {
					Namespace  string
					Dimensions [][]string
					Metrics    []struct{ Name, Unit string }
				}
			} `json:"_aws"`
			Operations table.TotalsByOperation `json:"operations"`
		}
		require.NoError(f, json.Unmarshal([]byte(text), &line), "%s", text)
		members := object(f.T, text)
		c := counted{metrics: map[string]float64{}, operations: line.Operations}
		for name, value := range members {
			if n, isNumber := value.(float64); isNumber {
				c.metrics[name] = n
			}
		}
		for _, dimension := range []string{metric.ByConsumer, metric.ByFunction} {
			if value, isCounted := members[dimension].(string); isCounted {
				c.dimension, c.value = dimension, value
			}
		}
		require.NotEmpty(f, c.value, "%s", text)
		for _, directive := range line.AWS.CloudWatchMetrics {
			require.Equal(f, metric.Namespace, directive.Namespace)
			require.Len(f, directive.Dimensions, 1)
			require.WithinDuration(f, time.Now(), time.UnixMilli(line.AWS.Timestamp), time.Minute)
			if len(directive.Dimensions[0]) > 0 {
				require.Equal(f, []string{c.dimension}, directive.Dimensions[0])
			}
			for _, m := range directive.Metrics {
				require.Contains(f, metric.Names(), m.Name)
				require.Contains(f, []string{"Count", "Bytes"}, m.Unit)
				require.Contains(f, c.metrics, m.Name)
				c.published = append(c.published, m.Name)
			}
		}
		out = append(out, c)
	}
	return out
}

// sum adds up what was counted for a consumer or function.
func sum(lines []counted, value string) map[string]float64 {
	out := map[string]float64{}
	for _, c := range lines {
		if c.value == value {
			for name, n := range c.metrics {
				out[name] += n
			}
		}
	}
	return out
}

// callsOf adds up the calls to the table that a consumer or function made.
func callsOf(lines []counted, value string) int {
	calls := 0
	for _, c := range lines {
		if c.value == value {
			calls += c.operations.Sum().Calls
		}
	}
	return calls
}

// logged ends the program and returns the lines of the log with a message. Each line, whatever its message, is an
// object that Lambda's filter reads and is under its invocation.
func (f *function) logged(message string) []map[string]any {
	f.Helper()
	f.kill()
	var out []map[string]any
	for text := range strings.Lines(f.log.String()) {
		line := object(f.T, text)
		for _, name := range []string{"timestamp", "level", "message", "function", "invocationId"} {
			require.Contains(f, line, name, "%s", text)
		}
		if line["message"] == message {
			out = append(out, line)
		}
	}
	return out
}

// recordOfRow is the stream record of a row that was just created.
func (w *fixture) recordOfRow(key item.Key) []byte {
	w.Helper()
	return change.AppendEvent(nil, []change.Record{{
		EventID: "1", Name: change.Insert, Sequence: "140540000000000219990000001", Created: time.Now().Add(-time.Second),
		Key: key, New: w.row(key),
		SourceARN: "arn:aws:dynamodb:eu-central-1:123456789012:table/ProductivityData/stream/2026-01-01T00:00:00.000",
	}})
}

func TestFunctions_logOneTraceIDFromARequestToItsEffects(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands, projections, effects := w.start(env.Command), w.start(env.Projections), w.start(env.Effects)
	created := commands.request(w.payload("command-create-task"))
	require.Equal(t, http.StatusCreated, created.StatusCode, "%s", created.Body)
	trace := created.Headers["x-trace-id"]
	require.Equal(t, entity.TraceID(user, createdID, 1), trace)

	record := w.recordOfRow(entity.ItemKey(user, entity.Ref{Type: product.TypeTask, ID: createdID}))
	projections.handled(record)
	effects.handled(record)
	require.Equal(t, []any{trace}, commands.logged("request")[0]["traceIds"])
	for _, f := range []*function{projections, effects} {
		batches := f.logged("batch")
		require.Len(t, batches, 1)
		require.Equal(t, []any{trace}, batches[0]["traceIds"])
	}
	for _, f := range []*function{commands, projections, effects} {
		all := f.log.String() + f.out.String()
		require.NotContains(t, all, "Töpfe", "no log shows titles")
		require.NotContains(t, all, user, "no log shows ids")
	}
}

func TestNotify_logsTheTraceIDOfTheDelivery(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload, _ := w.becomeDue()
	version := w.item(product.TypeReminder, fixedID).Int(entity.AttrVersion)
	f := w.start(env.Notify)
	f.succeed(payload)
	lines := f.logged("reminder delivered")
	require.Len(t, lines, 1)
	require.Equal(t, entity.TraceID(user, fixedID, version), lines[0]["traceId"])
	require.Equal(t, w.requireEvent("ReminderDue")["deliveryId"], lines[0]["deliveryId"])
	require.NotContains(t, f.log.String(), "dentist")
	require.NotContains(t, f.log.String(), user)
}

// consumersOf returns the names of the consumers that a function runs.
func consumersOf(t *testing.T, function env.Function) []string {
	t.Helper()
	lines := readers.Table(product.Registry())
	i := slices.IndexFunc(lines, func(r readers.Reader) bool { return r.Name == string(function) })
	require.GreaterOrEqual(t, i, 0, "%s", function)
	return lines[i].Consumers
}

func TestFunctions_countRecordsAndCapacityOfEachConsumer(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload := w.happen("stream-task-created") // a note, and a task with a link to it
	var lines []counted
	for range 2 {
		f := w.start(env.Projections)
		f.handled(payload)
		lines = append(lines, slices.DeleteFunc(f.counted(), func(c counted) bool { // a table that knows its size
			return c.dimension != metric.ByConsumer
		})...)
	}
	require.Len(t, lines, 2*len(consumersOf(t, env.Projections)),
		"one for each consumer and process, whose first is written at once")
	for consumer, counts := range map[string]struct {
		already float64
		calls   int
	}{"stats": {2, 3}, "links": {1, 1}} {
		total := sum(lines, consumer)
		require.Equal(t, 4.0, total[metric.RecordsDone], consumer)
		require.Equal(t, counts.already, total[metric.RecordsAlreadyDone], consumer)
		require.GreaterOrEqual(t, callsOf(lines, consumer), counts.calls, consumer)
		require.Positive(t, total[metric.WriteUnits], consumer)
		require.Positive(t, total[metric.RecordAge], consumer)
		require.NotContains(t, total, metric.RecordsParked)
	}
	first := lines[slices.IndexFunc(lines, func(c counted) bool { return c.value == "stats" })]
	require.Equal(t, first.metrics[metric.WriteUnits], first.operations["Transact"].WriteUnits)
	require.Equal(t, 3, first.operations["Transact"].Rows, "two ledger rows and the sum")
	require.Equal(t, first.metrics[metric.ReadUnits], first.operations["BatchGet"].ReadUnits)
}

func TestFunctions_countCapacityOutsideTheConsumers(t *testing.T) {
	t.Parallel()
	w := setup(t)
	due, _ := w.becomeDue()
	for name, use := range map[env.Function]struct {
		payload []byte
		metric  string
	}{
		env.Command: {w.payload("command-create-task"), metric.WriteUnits},
		env.Query:   {w.payload("query-agenda"), metric.ReadUnits},
		env.Notify:  {due, metric.WriteUnits},
	} {
		f := w.start(name)
		f.succeed(use.payload)
		lines := f.counted()
		total := sum(lines, string(name))
		require.Positive(t, total[use.metric], name)
		require.Positive(t, callsOf(lines, string(name)), name)
		for _, c := range lines {
			require.Equal(t, metric.ByFunction, c.dimension)
		}
	}
}

func TestFunctions_countUrgentEventsUnderTheNamesOfTheirAlarms(t *testing.T) {
	t.Parallel()
	w := setup(t)
	emitted := map[string]bool{}
	note := func(f *function) {
		for _, c := range f.counted() {
			for _, name := range c.published {
				emitted[name+" of "+c.value] = true
			}
		}
	}
	for _, reader := range []env.Function{env.Projections, env.Effects} {
		f, consumers := w.start(reader), len(consumersOf(t, reader))
		f.handled(w.happen("stream-undecodable"))
		w.services.breakDown("objects", true)
		require.Contains(t, string(f.succeed(w.now("stream-undecodable"))), "itemIdentifier")
		w.services.breakDown("objects", false)
		require.Len(t, f.logged("batch not finished"), consumers)
		parked := f.logged("record parked")
		require.Len(t, parked, consumers)
		for _, line := range parked {
			require.True(t, strings.HasPrefix(line["object"].(string), "parked/"+line["consumer"].(string)+"/"), "%v", line)
		}
		note(f)
	}
	for _, r := range readers.Table(product.Registry()) {
		for _, consumer := range r.Consumers {
			for _, name := range []string{metric.RecordsParked, metric.RecordsUnfinished} {
				require.True(t, emitted[name+" of "+consumer], "%s of %s", name, consumer)
			}
		}
	}
}

func TestNotify_countsTheOutcomeOfAReminderForItsAlarm(t *testing.T) {
	t.Parallel()
	w := setup(t)
	due := present.Add(2 * time.Hour)
	w.late = time.Now().Truncate(time.Second).Add(-30 * time.Hour).Sub(due)
	payload := w.happen("stream-reminder-created")
	f := w.start(env.Effects)
	f.handled(payload)
	lines := f.logged("reminder missed")
	require.NotEmpty(t, lines)
	require.Equal(t, "WARN", lines[0]["level"])
	require.Positive(t, sum(f.counted(), string(env.Effects))[metric.RemindersMissed])

	w.late = time.Now().Truncate(time.Second).Add(-time.Hour).Sub(due)
	w.happen("stream-reminder-created")
	late := w.start(env.Notify)
	late.succeed(w.now("notify-reminder-due"))
	require.InDelta(t, 1, sum(late.counted(), string(env.Notify))[metric.RemindersLate], 0)
}

func TestFunctions_logAFailureOnceAndARefusalAsNoError(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload, _ := w.becomeDue()
	w.services.breakDown("bus", true)
	f := w.start(env.Notify)
	require.NotNil(t, f.invoke(payload).failure)
	lines := f.logged("invocation failed")
	require.Len(t, lines, 1)
	require.Equal(t, "ERROR", lines[0]["level"])
	require.Contains(t, lines[0]["error"], "publish ReminderDue")

	commands := w.start(env.Command)
	require.NotNil(t, commands.invoke([]byte(`{}`)).failure)
	lines = commands.logged("invocation failed")
	require.Len(t, lines, 1)
	require.Equal(t, "INFO", lines[0]["level"])
}
