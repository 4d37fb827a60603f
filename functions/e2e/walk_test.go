package e2e_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/entity"
	"nexus/pkg/queue"
	"nexus/pkg/reminders"
)

// enqueue answers as SQS does to SendMessage.
func (s *services) enqueue(w http.ResponseWriter, r *http.Request, body []byte) {
	var in struct{ QueueUrl, MessageBody, MessageGroupId, MessageDeduplicationId string }
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if err := json.Unmarshal(body, &in); err != nil || in.QueueUrl != walksURL || s.down["queue"] {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"com.amazonaws.sqs#AccessDeniedException","message":"not now"}`)
		return
	}
	m := queue.Message{Group: in.MessageGroupId, ID: in.MessageDeduplicationId, Body: []byte(in.MessageBody)}
	if s.taken != nil {
		s.taken(m)
	} else if err := s.walks.Put(r.Context(), m); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	sum := md5.Sum(m.Body)
	_ = json.NewEncoder(w).Encode(map[string]string{"MessageId": m.ID, "MD5OfMessageBody": hex.EncodeToString(sum[:])})
}

// walkEvent returns the payload file with another body.
func (w *fixture) walkEvent(body []byte) []byte {
	w.Helper()
	var event struct{ Records []map[string]any }
	require.NoError(w, json.Unmarshal(w.payload("walk-zone-changed"), &event))
	event.Records[0]["body"] = string(body)
	text, err := json.Marshal(event)
	require.NoError(w, err)
	return text
}

// carryOutWalks gives the messages of the queue to the walk function, and returns how many there were.
func (w *fixture) carryOutWalks() (n int) {
	w.Helper()
	if len(w.services.walks.Waiting()) == 0 {
		return 0
	}
	f := w.start(env.Walk)
	w.services.walks.Work(func(m queue.Message) error {
		n++
		if o := f.invoke(w.walkEvent(m.Body)); o.failure != nil {
			return errors.New(o.failure.ErrorMessage)
		}
		return nil
	})
	require.Empty(w, w.services.walks.Dead(), "%s", f.log)
	return n
}

func TestFunctions_failOnAMessageOfNoWalk(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Walk)
	for payload, want := range map[string]string{
		`{}`: "no messages", `[]`: "event of a queue",
		string(w.walkEvent([]byte(`{"userId":"` + user + `","cursor":"TASK#x"}`))): "payload field cursor",
	} {
		o := f.invoke([]byte(payload))
		require.NotNil(t, o.failure, payload)
		require.Contains(t, o.failure.ErrorMessage, want)
	}
}

// A message that was lost between the cursor and the queue comes with the record's repetition.
func TestEffects_putTheMessageOfAWalkThatTheQueueRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Effects)
	f.handled(w.happen("stream-reminder-created"))
	zone := w.happen("stream-zone-changed")
	w.services.breakDown("queue", true)
	require.Contains(t, string(f.succeed(zone)), "itemIdentifier")
	require.NotNil(t, w.row(entity.ZoneKey(user, 2)))
	w.services.breakDown("queue", false)
	f.handled(zone)
	require.Equal(t, 1, w.carryOutWalks())
	require.Contains(t, w.services.waiting(), reminders.ScheduleName(user, floatingID, 0))
	require.True(t, w.row(entity.ZoneKey(user, 2)).Bool("done"))
}
