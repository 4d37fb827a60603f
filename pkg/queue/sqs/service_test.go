package sqs_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"sync"

	"nexus/pkg/queue"
	"nexus/pkg/queue/memory"
)

const queueURL = "https://sqs.eu-central-1.amazonaws.com/123456789012/nexus-walks.fifo"

// service speaks SQS's SendMessage (JSON 1.0). What its reference demands of a request is for the guard before it. The
// event source mapping is the test.
type service struct {
	*memory.Queue
	mu   sync.Mutex
	sent int // requests that were carried out
}

func newService() *service { return &service{Queue: memory.New(nil)} }

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ QueueUrl, MessageBody, MessageGroupId, MessageDeduplicationId string }
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.QueueUrl != queueURL {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": "com.amazonaws.sqs#QueueDoesNotExist"})
		return
	}
	s.mu.Lock()
	s.sent++
	s.mu.Unlock()
	m := queue.Message{Group: in.MessageGroupId, ID: in.MessageDeduplicationId, Body: []byte(in.MessageBody)}
	if err := s.Put(r.Context(), m); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	sum := md5.Sum(m.Body)
	_ = json.NewEncoder(w).Encode(map[string]string{"MessageId": m.ID, "MD5OfMessageBody": hex.EncodeToString(sum[:])})
}

func (s *service) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// work gives the messages to the worker until none is left, as the event source mapping does.
func (s *service) work(worker func(queue.Message) error) []queue.Message {
	s.Work(worker)
	return s.Dead()
}
