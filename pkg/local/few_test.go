package local

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestFew_sendsNoMoreRequestsAtOnceThanItHasRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var atOnce atomic.Int32
		proceed := make(chan struct{})
		f := few{room: make(chan struct{}, 2), base: roundTrip(func(*http.Request) (*http.Response, error) {
			atOnce.Add(1)
			defer atOnce.Add(-1)
			<-proceed
			return &http.Response{StatusCode: http.StatusOK}, nil
		})}
		results := make(chan error)
		send := func(ctx context.Context) {
			_, err := f.RoundTrip(httptest.NewRequestWithContext(ctx, http.MethodPost, "/", http.NoBody))
			results <- err
		}
		for range 4 {
			go send(t.Context())
			synctest.Wait()
		}
		require.EqualValues(t, 2, atOnce.Load())
		ctx, giveUp := context.WithCancel(t.Context())
		go send(ctx)
		synctest.Wait()
		giveUp()
		require.ErrorIs(t, <-results, context.Canceled, "one that waits leaves with its context")
		for range 4 {
			proceed <- struct{}{}
			require.NoError(t, <-results)
			synctest.Wait()
			require.LessOrEqual(t, atOnce.Load(), int32(2))
		}
		require.Empty(t, f.room)
	})
}
