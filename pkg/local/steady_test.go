package local_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// Clients that never pause do not stop the clock, and what was asked of it before they wrote happens on the way.
func TestPlatform_movesTimeWhileClientsWrite(t *testing.T) {
	t.Parallel()
	const most, pace = 2000, 30 * time.Millisecond
	s := startSystem(t, local.Options{Ephemeral: true, Settling: 5 * time.Minute})
	reminder := s.reminder("on the way", s.now().Add(90*time.Minute))
	ended := make(chan struct{})
	var writers, wrote sync.WaitGroup
	for _, user := range []string{"writer1", "writer2", "writer3"} {
		c := s.newClient(user)
		wrote.Add(1)
		writers.Go(func() {
			next := time.NewTicker(pace)
			defer next.Stop()
			for n := range most {
				_, err := c.send(http.MethodPost, "/v1/notes", `{"title":"steady"}`, 0)
				if n == 0 {
					wrote.Done()
				}
				select {
				case <-ended:
					return
				case <-next.C:
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wrote.Wait()
	status, moved := s.call("POST", "/dev/clock", object{"advance": "25h"})
	close(ended)
	writers.Wait()
	require.Equal(t, http.StatusOK, status, moved)
	require.GreaterOrEqual(t, moved["steps"], 2.0, "time stopped for the reminder")
	rang := 0
	for _, one := range s.items("/dev/events?limit=200") {
		if detail, ok := one["detail"].(object); ok && detail["itemId"] == reminder["reminderId"] {
			require.Equal(t, "ReminderDue", one["type"])
			rang++
		}
	}
	require.Equal(t, 1, rang)
}
