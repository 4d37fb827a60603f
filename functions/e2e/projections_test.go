package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/stats"
	"nexus/pkg/table"
)

func TestProjections_keepStatisticsAndLinksThroughATasksLife(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Projections)
	edge := entity.LinkKey(user, entity.Ref{Type: product.TypeTask, ID: taskID},
		entity.Ref{Type: product.TypeNote, ID: noteID})

	f.handled(w.happen("stream-task-created"))
	w.requireTotals(1, 1, 0)
	require.NotNil(t, w.row(edge))

	f.handled(w.happen("stream-task-completed"))
	completed := w.item(product.TypeTask, taskID).Str(product.AttrCompletedAt)
	require.Equal(t, completed, item.Item(w.stats()).Str(product.StatLastTaskCompleted))

	f.handled(w.happen("stream-task-archived"))
	f.handled(w.happen("stream-item-expired")) // of a reminder that was never counted here
	w.requireTotals(1, 1, 0)

	f.handled(w.happen("stream-task-deleted"))
	w.requireTotals(0, 1, 0)
	require.Nil(t, w.row(edge))
	require.Equal(t, completed, item.Item(w.stats()).Str(product.StatLastTaskCompleted), "the latest ever")

	before := w.row(entity.MetaKey(user))
	for _, name := range []string{
		"stream-task-created", "stream-task-completed", "stream-task-archived", "stream-item-expired", "stream-task-deleted",
	} {
		f.handled(w.now(name)) // delivered again, after everything has happened
	}
	require.Equal(t, before[product.AttrStats], w.row(entity.MetaKey(user))[product.AttrStats])
	require.Nil(t, w.row(edge))
	f.requireCounted(metric.RecordsDone, 2) // of the first batch; what comes later is gathered
}

func TestProjections_countRemindersThatComeAndGo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Projections)
	story := []struct {
		name  string
		total int64
	}{
		{"stream-reminder-created", 2}, {"stream-reminder-snoozed", 2}, {"stream-reminder-deleted", 1},
		{"stream-item-expired", 1}, // one that was never counted here
		{"stream-item-restored", 2},
	}
	for _, step := range story {
		f.handled(w.happen(step.name))
		w.requireTotals(0, 0, step.total)
	}
	for _, step := range story {
		f.handled(w.now(step.name))
		w.requireTotals(0, 0, 2)
	}
}

func TestProjections_parkAnUndecodableRecordAndDelayNoOthers(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Projections)
	f.handled(w.happen("stream-undecodable"))
	w.requireTotals(0, 2, 0)

	stored := w.services.stored()
	names := slices.Sorted(slices.Values(consumersOf(t, env.Projections)))
	require.Len(t, stored, len(names))
	for i, name := range names {
		require.True(t, strings.HasPrefix(stored[i], parking+"/"+consume.ParkedPrefix+name+"/"), "%s", stored[i])
	}
	parked, err := consume.ReadParked([]byte(w.services.content(stored[len(stored)-1])))
	require.NoError(t, err)
	require.Contains(t, parked.Reason, "version")
	var delivered struct{ Records []json.RawMessage }
	require.NoError(t, json.Unmarshal(w.now("stream-undecodable"), &delivered))
	require.Equal(t, string(delivered.Records[1]), string(parked.Record))
	f.requireCounted(metric.RecordsParked, 1)
}

func TestProjections_nameARecordThatCannotBeParked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.services.breakDown("objects", true)
	f := w.start(env.Projections)
	payload := w.happen("stream-undecodable")
	var delivered struct {
		Records []struct {
			DynamoDB struct{ SequenceNumber string } `json:"dynamodb"`
		}
	}
	require.NoError(t, json.Unmarshal(payload, &delivered))
	require.JSONEq(t, `{"batchItemFailures":[{"itemIdentifier":"`+delivered.Records[1].DynamoDB.SequenceNumber+`"}]}`,
		string(f.succeed(payload)))

	w.services.breakDown("objects", false)
	f.handled(payload)
	w.requireTotals(0, 2, 0)
}

func TestProjections_failOnAPayloadThatIsNoStreamEvent(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Projections)
	for _, payload := range []string{`{}`, `[]`, `null`, `{"Records":{}}`, `{"Records":[`} {
		o := f.invoke([]byte(payload))
		require.NotNil(t, o.failure, "%s", payload)
		require.Contains(t, o.failure.ErrorMessage, "decode stream event")
	}
	f.handled([]byte(`{"Records":[]}`)) // and the program goes on
}

// What a crash leaves takes rights that no other test asks for: here a repair has died between its rows.
func TestProjections_goOnFromTheRowsOfARepairThatDied(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Projections)
	f.handled(w.happen("stream-task-created"))
	staged := w.row(entity.LedgerKey(user, stats.Name, taskID))
	staged[entity.AttrForm] = item.Int(2)
	staged["next"] = item.String("1 " + string(staged["v"].(item.Number)) + " " + staged.Str("c"))
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: staged}))

	f.handled(w.happen("stream-task-completed"))
	require.Equal(t, w.item(product.TypeTask, taskID).Str(product.AttrCompletedAt),
		item.Item(w.stats()).Str(product.StatLastTaskCompleted))
	require.False(t, w.row(staged.Key()).Has(entity.AttrForm))
}

func TestProjections_takeBackAPendingEntryThatTheStoreRefuses(t *testing.T) {
	t.Parallel()
	w := setup(t)
	behind := wiretest.Forward(t, w.settings["AWS_ENDPOINT_URL_DYNAMODB"], nil)
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") && bytes.Contains(body, []byte("task_refused")) {
			answer.WriteHeader(http.StatusBadRequest)
			_, err = answer.Write([]byte(`{"__type":"com.amazon.coral.validate#ValidationException"}`))
			require.NoError(t, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		behind.ServeHTTP(answer, r)
	}))
	t.Cleanup(server.Close)
	w.settings["AWS_ENDPOINT_URL_DYNAMODB"] = server.URL
	f := w.start(env.Projections)
	f.handled(w.happen("stream-task-created"))
	meta := w.row(entity.MetaKey(user))
	meta[product.AttrStatsVersion] = item.Int(meta.Int(product.AttrStatsVersion) + 1)
	meta[product.AttrStats].(item.Map)[product.StatTotalTasks] = item.Int(2)
	meta[product.AttrStatsLast] = item.Map{
		"item": item.String("task_refused"), "v": item.Int(1),
		"c": item.String(`s1 {"add":{"` + product.StatTotalTasks + `":1}}`),
	}
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: meta}))

	f.handled(w.happen("stream-task-completed"))
	w.requireTotals(1, 1, 0)
}
