package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/eventsource"
	"nexus/pkg/eventsource/streams"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/product"
)

// order is one command of a direct invocation.
type order struct {
	ID              string         `json:"id"`
	Type            string         `json:"type"`
	ExpectedVersion *int           `json:"expectedVersion,omitempty"`
	Data            map[string]any `json:"data"`
}

// work returns the orders of one user: items of every type, with links and reminders, and what becomes of some of them.
func work(now time.Time) []order {
	var out []order
	give := func(kind string, data map[string]any) {
		out = append(out, order{ID: fmt.Sprintf("order-%d", len(out)), Type: kind, Data: data})
	}
	change := func(kind string, version int, data map[string]any) {
		out = append(out, order{fmt.Sprintf("order-%d", len(out)), kind, &version, data})
	}
	id := func(prefix string, i int) string {
		return fmt.Sprintf("%s_%08d-0000-4000-8000-000000000000", prefix, i)
	}
	in := func(hours int) string { return now.Add(time.Duration(hours) * time.Hour).UTC().Format(instantForm) }
	floating := func(hours int) string { return strings.TrimSuffix(in(hours), "Z") }
	linked := func(i int) []map[string]any {
		return []map[string]any{{"targetType": product.TypeNote, "targetId": id("note", i)}}
	}
	const each = 6
	for i := range each {
		give("CreateNote", map[string]any{"noteId": id("note", i), "title": "A note"})
		give("CreateTask", map[string]any{
			"taskId": id("task", i), "title": "A task", "dueUtc": floating(24 + i), "reminderMinutes": []int{10, 60},
			"links": linked(i),
		})
		give("CreateEvent", map[string]any{
			"eventId": id("evt", i), "title": "An event", "startUtc": in(48 + i), "endUtc": in(49 + i),
			"startTzid": "Europe/Berlin", "reminderMinutes": []int{15}, "links": linked(i),
		})
		give("CreateReminder", map[string]any{
			"reminderId": id("rem", i), "title": "A reminder", "triggerUtc": floating(12 + i),
		})
	}
	give("CreateSeries", map[string]any{
		"masterId": id("mst", 0), "title": "A series", "startUtc": in(30), "endUtc": in(31), "startTzid": "America/New_York",
		"rrule": "FREQ=DAILY", "reminderMinutes": []int{30},
	})
	change("UpdateMe", 0, map[string]any{"defaultTzid": "Asia/Kolkata"})
	change("UpdateTask", 1, map[string]any{"taskId": id("task", 0), "status": product.StatusCompleted})
	change("UpdateTask", 1, map[string]any{"taskId": id("task", 1), "dueUtc": floating(72), "links": linked(0)})
	change("DeleteTask", 1, map[string]any{"taskId": id("task", 2)})
	change("UpdateTask", 1, map[string]any{"taskId": id("task", 3), "status": product.StatusCompleted})
	change("UpdateTask", 2, map[string]any{"taskId": id("task", 3), "status": product.StatusInProgress})
	change("UpdateEvent", 1, map[string]any{
		"eventId": id("evt", 0), "startUtc": in(40), "endUtc": in(41), "reminderMinutes": []int{5, 20},
	})
	change("UpdateEvent", 1, map[string]any{"eventId": id("evt", 1), "status": product.StatusCancelled})
	change("DeleteEvent", 1, map[string]any{"eventId": id("evt", 2)})
	give("DismissReminder", map[string]any{"reminderId": id("rem", 0)})
	give("CompleteReminder", map[string]any{"reminderId": id("rem", 1)})
	change("DeleteReminder", 1, map[string]any{"reminderId": id("rem", 2)})
	change("DeleteNote", 1, map[string]any{"noteId": id("note", 5)})
	return out
}

// users of the test; each does the same work.
const users = 3

// carryOut has the command function do everybody's work.
func (w *fixture) carryOut() (orders int) {
	w.Helper()
	f := w.start(env.Command)
	for i := range users {
		all := work(time.Now())
		orders += len(all)
		payload, err := json.Marshal(map[string]any{"userId": fmt.Sprintf("user-%d", i), "commands": all})
		require.NoError(w, err)
		var answer struct {
			Results []struct {
				ID      string
				Status  int
				Problem map[string]any
			}
		}
		require.NoError(w, json.Unmarshal(f.succeed(payload), &answer))
		require.Len(w, answer.Results, len(all))
		for i, r := range answer.Results {
			require.Less(w, r.Status, http.StatusBadRequest, "%+v: %v", all[i], r.Problem)
		}
	}
	return orders
}

// streamReader reads the table's stream from where it stopped before.
type streamReader struct {
	source *streams.Source
	after  map[string]string
}

func (w *fixture) tail() *streamReader {
	w.Helper()
	endpoint := enginetest.Start(w.T)
	table, err := enginetest.Client(endpoint).DescribeTable(w.Context(), &dynamodb.DescribeTableInput{
		TableName: aws.String(w.settings[env.TableName]),
	})
	require.NoError(w, err)
	client := dynamodbstreams.NewFromConfig(enginetest.Config(endpoint))
	return &streamReader{streams.New(client, aws.ToString(table.Table.LatestStreamArn), nil), map[string]string{}}
}

// next returns the records that have come since; none means that the stream is quiet.
func (s *streamReader) next(t *testing.T) []change.Record {
	t.Helper()
	shards, err := s.source.Shards(t.Context())
	require.NoError(t, err)
	var out []change.Record
	for _, shard := range shards {
		for {
			slice, err := s.source.Read(t.Context(), shard.ID, s.after[shard.ID], eventsource.DefaultBatchSize)
			require.NoError(t, err)
			if len(slice.Records) == 0 {
				break
			}
			out = append(out, slice.Records...)
			s.after[shard.ID] = slice.Records[len(slice.Records)-1].Sequence
		}
	}
	return out
}

// deliverUntilQuiet delivers until the stream is quiet: what the functions write comes to them, too.
func deliverUntilQuiet(s *streamReader, kills int, functions ...*killableFunction) {
	for {
		records := s.next(functions[0].T)
		if len(records) == 0 {
			return
		}
		for _, m := range functions {
			m.offer(records)
			m.deliver(kills)
		}
	}
}

func TestFunctions_leaveWhatARecountGivesAfterKills(t *testing.T) {
	t.Parallel()
	kills := 50 // of each function
	if testing.Short() {
		kills = 10
	}
	w := setup(t)
	orders := w.carryOut()
	before, _ := w.recount()
	require.Greater(t, len(before), orders, "nothing has followed from the work yet")
	facts, missing := w.recountByScan()
	require.Greater(t, len(missing), facts/2, "nor does a scan show it")

	var functions []*killableFunction
	for _, reader := range readers.Table(w.registry) {
		functions = append(functions, newMortal(w, reader, map[string]int{"projections": 4, "effects": 15}[reader.Name]))
	}
	stream := w.tail()
	deliverUntilQuiet(stream, kills, functions...)
	for _, m := range functions {
		t.Logf("%s: killed %d times in %d invocations for %d records", m.function, m.kills, m.invocations, len(m.finished))
		require.Equal(t, kills, m.kills, "%s", m.function)
	}
	differences, summary := w.recount()
	require.Empty(t, differences)
	require.EqualValues(t, users, summary.Users)
	w.requireScanned()

	for _, m := range functions { // and everything is delivered once more
		m.offer(m.finished)
		m.deliver(0)
	}
	deliverUntilQuiet(stream, 0, functions...)
	differences, _ = w.recount()
	require.Empty(t, differences)
	w.requireScanned()
}

// requireScanned recounts by a scan, in code that knows nothing of the system's.
func (w *fixture) requireScanned() {
	w.Helper()
	facts, found := w.recountByScan()
	require.Empty(w, found)
	require.Greater(w, facts, users*len(work(time.Now())))
}
