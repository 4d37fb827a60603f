package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/queue"
	"nexus/pkg/queue/memory"
	"nexus/pkg/queue/queuetest"
)

// work gives the messages to the worker until none is left, and returns the dead letters.
func work(q *memory.Queue, worker func(queue.Message) error) []queue.Message {
	q.Work(worker)
	return q.Dead()
}

func TestQueue_conforms(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(*testing.T) queuetest.Subject {
		q := memory.New(nil)
		return queuetest.Subject{Queue: q, Work: func(_ *testing.T, worker func(queue.Message) error) []queue.Message {
			return work(q, worker)
		}}
	})
}

func one(id string) queue.Message { return queue.Message{Group: "g", ID: id, Body: []byte("{}")} }

func TestQueue_dropsAnIDThatWasPutBefore(t *testing.T) {
	t.Parallel()
	q := memory.New(nil)
	require.NoError(t, q.Put(t.Context(), one("a")))
	require.Empty(t, work(q, func(queue.Message) error { return nil }))
	require.NoError(t, q.Put(t.Context(), one("a")))
	require.Empty(t, q.Waiting())
}

func TestQueue_givesAMessageToOneWorkerAndItsGroupToNone(t *testing.T) {
	t.Parallel()
	q := memory.New(nil)
	require.NoError(t, q.Put(t.Context(), one("a")))
	require.NoError(t, q.Put(t.Context(), one("b")))
	_, isReady := q.Begin("b")
	require.False(t, isReady)
	m, isReady := q.Begin("a")
	require.True(t, isReady)
	require.Equal(t, one("a"), m)
	_, isReady = q.Begin("a")
	require.False(t, isReady)
	require.Empty(t, q.Ready())
	require.Len(t, q.Waiting(), 2)
}

func TestQueue_redrivesADeadLetterWithAllItsAttempts(t *testing.T) {
	t.Parallel()
	q := memory.New(nil)
	require.NoError(t, q.Put(t.Context(), one("a")))
	for range 2 {
		tries := 0
		dead := work(q, func(queue.Message) error { tries++; return queue.ErrUnavailable })
		require.Equal(t, []queue.Message{one("a")}, dead)
		require.Equal(t, queue.MaxReceives, tries)
		q.Redrive("a")
		require.Empty(t, q.Dead())
	}
	require.Empty(t, work(q, func(queue.Message) error { return nil }))
	require.Empty(t, q.Waiting())
}

func TestQueue_injectsFaultsAroundAPut(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		q := memory.New(func(m queue.Message, isAfter bool) error {
			if isAfter == after {
				return queue.ErrThrottled
			}
			return nil
		})
		require.ErrorIs(t, q.Put(t.Context(), one("a")), queue.ErrThrottled)
		require.Equal(t, after, len(q.Waiting()) == 1)
	}
}
