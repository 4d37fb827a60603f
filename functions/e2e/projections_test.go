package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
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
	require.Len(t, stored, 2)
	require.True(t, strings.HasPrefix(stored[0], parking+"/"+consume.ParkedPrefix+"links/"), "%s", stored[0])
	require.True(t, strings.HasPrefix(stored[1], parking+"/"+consume.ParkedPrefix+"stats/"), "%s", stored[1])
	parked, err := consume.ReadParked([]byte(w.services.content(stored[1])))
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
