package local_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
	"nexus/pkg/schedule/local"
)

// TestFire_callsSeveralAtATime: each call takes a second, one of them fails, and one puts its own schedule again, which
// must not be called before the call has ended.
func TestFire_callsSeveralAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		under, most, calls := map[string]bool{}, 0, map[string]int{}
		var s *local.Scheduler
		target := func(ctx context.Context, one schedule.Schedule) error {
			mu.Lock()
			if under[one.Name] {
				t.Errorf("two calls of %s at a time", one.Name)
			}
			under[one.Name] = true
			most = max(most, len(under))
			calls[one.Name]++
			first := calls[one.Name] == 1
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				delete(under, one.Name)
			}()
			if first && one.Name == "s0" {
				one.Payload = []byte(`{"again":true}`)
				if err := s.Put(ctx, one); err != nil {
					return err
				}
			}
			time.Sleep(time.Second)
			if first && one.Name == "s1" {
				return errors.New("no")
			}
			return nil
		}
		s, err := local.New(local.Config{Target: target, AtOnce: 3})
		require.NoError(t, err)
		for i := range 10 {
			require.NoError(t, s.Put(t.Context(), schedule.Schedule{
				Name: fmt.Sprintf("s%d", i), At: noon, Payload: []byte(`{}`),
			}))
		}
		began := time.Now()
		fired, err := s.Fire(t.Context(), noon)
		require.ErrorContains(t, err, `call schedule "s1"`)
		require.Equal(t, 10, fired, "nine, and one of them twice")
		require.Equal(t, 3, most)
		require.Equal(t, 4*time.Second, time.Since(began), "eleven calls, three at a time")
		require.Equal(t, 2, calls["s0"])

		fired, err = s.Fire(t.Context(), noon)
		require.NoError(t, err)
		require.Equal(t, 1, fired)
		_, any := s.Next()
		require.False(t, any)
	})
}
