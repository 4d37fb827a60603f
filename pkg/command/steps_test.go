package command_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// begins begins steps for ann under the key.
func (b *fixture) begins(key string, request ...any) (*command.Steps, error) {
	return b.service.BeginSteps(b.t.Context(), ann, key, request...)
}

// inTime lets each pause pass in the bench's own time.
func (b *fixture) inTime() {
	b.busy = func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.now = b.now.Add(b.pauses[len(b.pauses)-1])
		return nil
	}
}

func (b *fixture) receipts() []item.Item {
	b.t.Helper()
	page, err := b.store.Query(b.t.Context(), table.Query{
		Partition: entity.UserPK(ann), Range: table.Range{Prefix: entity.RowReceipt},
	})
	require.NoError(b.t, err)
	return page.Items
}

func TestBeginSteps_doesStepsOnceUnderAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	steps, err := b.begins("k", "x", 1)
	require.NoError(t, err)
	require.Nil(t, steps.Answer)
	require.NoError(t, steps.Alive(t.Context()))
	require.NoError(t, steps.End(t.Context(), []byte("the answer")))
	again, err := b.begins("k", "x", 1)
	require.NoError(t, err)
	require.Equal(t, "the answer", string(again.Answer))
	_, err = b.begins("k", "y")
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	_, err = b.begins("a\nb", "x")
	require.ErrorIs(t, err, idempotency.ErrKey)
	_, err = b.service.BeginSteps(t.Context(), "a#b", "k", "x")
	require.ErrorIs(t, err, entity.ErrID)
	_, err = b.service.Import(t.Context(), "a#b", nil)
	require.ErrorIs(t, err, entity.ErrID)
	_, err = b.begins("k2", func() {})
	require.ErrorContains(t, err, "fingerprint")
	b.now = noon.Add(24*time.Hour - time.Second)
	again, err = b.begins("k", "x", 1)
	require.NoError(t, err)
	require.NotNil(t, again.Answer)
	b.now = noon.Add(24 * time.Hour)
	again, err = b.begins("k", "x", 1)
	require.NoError(t, err)
	require.Nil(t, again.Answer, "forgotten after a day")
}

func TestBeginSteps_remembersNothingWithoutAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 2 {
		steps, err := b.begins("", "x")
		require.NoError(t, err)
		require.NoError(t, steps.Alive(t.Context()))
		require.NoError(t, steps.End(t.Context(), []byte("answer")))
		require.NoError(t, steps.Abandon(t.Context()))
		require.Nil(t, steps.Answer)
	}
	require.Empty(t, b.receipts())
}

func TestBeginSteps_leavesTheKeyFreeAfterAFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	steps, err := b.begins("k", "x")
	require.NoError(t, err)
	require.NoError(t, steps.Abandon(t.Context()))
	require.Empty(t, b.receipts())
	b.now = noon.Add(time.Second)
	_, err = b.begins("k", "y")
	require.NoError(t, err, "also for another request")
	require.NoError(t, steps.Abandon(t.Context()), "what another has begun since stays")
	require.NotEmpty(t, b.receipts())
}

func TestAlive_renewsALeaseWhenAThirdOfItIsOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	steps, err := b.begins("k", "x")
	require.NoError(t, err)
	until := func() int64 { return b.receipts()[0].Int("leaseUntil") - noon.Unix() }
	require.EqualValues(t, 6, until())
	b.now = noon.Add(time.Second)
	require.NoError(t, steps.Alive(t.Context()))
	require.EqualValues(t, 6, until())
	b.now = noon.Add(2 * time.Second)
	require.NoError(t, steps.Alive(t.Context()))
	require.EqualValues(t, 8, until())
	b.now = noon.Add(3 * time.Second)
	require.NoError(t, steps.Alive(t.Context()))
	require.EqualValues(t, 8, until())
	b.now = noon.Add(4 * time.Second)
	require.NoError(t, steps.Alive(t.Context()))
	require.EqualValues(t, 10, until())
	b.now = noon.Add(7 * time.Second)
	b.once("Put", memory.Before, func() error { return table.ErrUnavailable })
	require.ErrorIs(t, steps.Alive(t.Context()), table.ErrUnavailable)
}

func TestBeginSteps_waitsForALeaseThatAnotherHas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.inTime()
	first, err := b.begins("k", "x")
	require.NoError(t, err)
	second, err := b.begins("k", "x")
	require.NoError(t, err)
	require.Equal(t, noon.Add(6*time.Second), b.now, "the first has been silent for as long as its lease")
	require.ErrorIs(t, first.Alive(t.Context()), command.ErrInProgress)
	require.NoError(t, first.End(t.Context(), []byte("late")))
	require.NoError(t, first.Abandon(t.Context()))
	require.NoError(t, second.End(t.Context(), []byte("answer")))
	third, err := b.begins("k", "x")
	require.NoError(t, err)
	require.Equal(t, "answer", string(third.Answer))
}

func TestBeginSteps_failsInTimeForALeaseThatIsRenewed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, err := b.begins("k", "x")
	require.NoError(t, err)
	b.inTime()
	pass := b.busy
	b.busy = func() error {
		if err := pass(); err != nil {
			return err
		}
		return first.Alive(context.WithoutCancel(t.Context()))
	}
	_, err = b.begins("k", "x")
	require.ErrorIs(t, err, command.ErrInProgress)
	require.Less(t, b.now.Sub(noon), 4*time.Second)
	b.busy = func() error { return context.DeadlineExceeded }
	_, err = b.begins("k", "x")
	require.ErrorIs(t, err, command.ErrInProgress, "there is no time to look again")

	b.busy = func() error { return first.End(context.WithoutCancel(t.Context()), []byte("answer")) }
	again, err := b.begins("k", "x")
	require.NoError(t, err)
	require.Equal(t, "answer", string(again.Answer))
}

// A clock that stands still must not keep a request for ever.
func TestBeginSteps_looksForAnotherSixtyTimesAtMost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.begins("k", "x")
	require.NoError(t, err)
	_, err = b.begins("k", "x")
	require.ErrorIs(t, err, command.ErrInProgress)
}

func TestBeginSteps_letsOneTakeOverALease(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.begins("k", "x")
	require.NoError(t, err)
	b.now = noon.Add(6 * time.Second)
	var other *command.Steps
	puts := 0
	b.fault = func(c memory.Call) error {
		if c.Op != "Put" || c.Stage != memory.Before {
			return nil
		}
		if puts++; puts == 2 { // the one that takes the lease over
			b.fault = nil
			other, err = b.begins("k", "x")
			require.NoError(t, err)
			require.NoError(t, other.End(t.Context(), []byte("other")))
		}
		return nil
	}
	again, err := b.begins("k", "x")
	require.NoError(t, err)
	require.Equal(t, "other", string(again.Answer))
}

func TestBeginSteps_hasNoLeaseIfTheStoreFails(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.once("Put", memory.Before, func() error { return table.ErrThrottled })
	_, err := b.begins("k", "x")
	require.ErrorIs(t, err, table.ErrThrottled)
	steps, err := b.begins("k", "x")
	require.NoError(t, err)
	b.now = noon.Add(6 * time.Second)
	puts := 0
	b.fault = func(c memory.Call) error {
		if c.Op != "Put" || c.Stage != memory.Before {
			return nil
		}
		if puts++; puts == 2 {
			return table.ErrThrottled
		}
		return nil
	}
	_, err = b.begins("k", "x")
	require.ErrorIs(t, err, table.ErrThrottled)
	b.once("Put", memory.Before, func() error { return table.ErrThrottled })
	require.ErrorIs(t, steps.End(t.Context(), []byte("answer")), table.ErrThrottled)
	b.once("Delete", memory.Before, func() error { return table.ErrThrottled })
	require.ErrorIs(t, steps.Abandon(t.Context()), table.ErrThrottled)
}

func TestZip_boundsAnAnswerThatIsRemembered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const most = 350 << 10 // of an answer that is compressed
	longest := most - (len(compressed(t, noise(most))) - most)
	require.Len(t, compressed(t, noise(longest)), most)
	for _, c := range []struct {
		key    string
		answer []byte
		fits   bool
	}{
		{"longest", noise(longest), true},
		{"too long", noise(longest + 1), false},
		{"short", []byte(strings.Repeat("a", 4<<20)), true},
		{"long", []byte(strings.Repeat("a", 4<<20+1)), false},
		{"mixed", noise(300 << 10), true},
		{"too mixed", noise(400 << 10), false},
	} {
		steps, err := b.begins(c.key, "x")
		require.NoError(t, err)
		err = steps.End(t.Context(), c.answer)
		if !c.fits {
			require.ErrorContains(t, err, "too long", c.key)
			continue
		}
		require.NoError(t, err, c.key)
		again, err := b.begins(c.key, "x")
		require.NoError(t, err)
		require.True(t, bytes.Equal(c.answer, again.Answer), c.key)
	}
}

func TestUnzip_refusesAnAnswerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	steps, err := b.begins("k", "x")
	require.NoError(t, err)
	require.NoError(t, steps.End(t.Context(), noise(1000)))
	row := b.receipts()[0]
	whole, ok := row["answer"].(item.Binary)
	require.True(t, ok)
	for _, broken := range []item.Binary{item.Binary("no gzip"), whole[:20]} {
		b.set(row.Key(), item.Item{"answer": broken})
		_, err = b.begins("k", "x")
		require.ErrorContains(t, err, "receipt")
	}
}

func compressed(t *testing.T, answer []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(answer)
	require.NoError(t, errors.Join(err, w.Close()))
	return out.Bytes()
}

// noise is bytes that no compression makes shorter.
func noise(n int) []byte {
	source := rand.NewChaCha8([32]byte{1})
	out := make([]byte, n)
	_, _ = source.Read(out)
	return out
}
