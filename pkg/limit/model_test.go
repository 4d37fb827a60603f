package limit_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// The model behind the figures of docs/limits.md: a request takes 10 ms, a call to the table 4.5 ms.
const (
	requestTime = 10 * time.Millisecond
	callTime    = 4500 * time.Microsecond
)

// slowStore takes its time for each call.
type slowStore struct{ table.Store }

func (s slowStore) Peek(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	time.Sleep(callTime)
	return s.Store.Peek(ctx, keys)
}

func (s slowStore) Update(ctx context.Context, u table.Update) (item.Item, error) {
	time.Sleep(callTime)
	return s.Store.Update(ctx, u)
}

// attack keeps so many instances busy with one user's requests of one point, in virtual time, and returns how many a
// second pass once the first bucket is used up.
func attack(t *testing.T, instances int) (perSecond float64) {
	const warmUp, length = 3 * time.Minute, 40 * time.Minute
	var passed atomic.Int64
	synctest.Test(t, func(t *testing.T) {
		store := slowStore{memory.New(time.Now, memory.Options{})}
		start := time.Now()
		for n := range instances {
			go func() {
				luck := rand.New(rand.NewPCG(uint64(n), 1))
				l := limit.New(limit.Config{
					Store: store, Now: time.Now, Draw: luck.Float64, Numbers: limit.Default(),
				}, keys())
				time.Sleep(time.Duration(luck.IntN(1000)) * time.Millisecond)
				for time.Since(start) < warmUp+length {
					wait, ok := serve(t, l)
					if time.Sleep(wait); ok && time.Since(start) > warmUp {
						passed.Add(1)
					}
				}
			}()
		}
		synctest.Wait()
		time.Sleep(warmUp + length + 2*time.Minute)
	})
	return float64(passed.Load()) / length.Seconds()
}

// serve carries out one request as a function does, and returns the time that it takes, or the time to wait.
func serve(t *testing.T, l *limit.Limiter) (time.Duration, bool) {
	err := l.Refused("ann", limit.User)
	if err == nil && l.Sampled() {
		_, err = l.Take(t.Context(), "ann", limit.User, 10)
	}
	var refused *limit.RateError
	switch {
	case errors.As(err, &refused):
		return refused.RetryAfter, false
	case err != nil:
		t.Error(err)
	}
	return requestTime, true
}

func TestLimiter_holdsOneUserAtManyInstancesAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		instances int
		perSecond float64
	}{{1, 9.8}, {20, 14}, {50, 26}, {200, 91}} {
		got := attack(t, c.instances)
		t.Logf("%d instances: %.1f pass a second, %.1f by the document", c.instances, got, c.perSecond)
		require.InEpsilon(t, c.perSecond, got, 0.2, "%d instances", c.instances)
	}
}
