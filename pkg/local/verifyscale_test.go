//go:build unix

package local_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"nexus/pkg/local"
	"nexus/pkg/verify"
)

// itemAt is the i-th item of a user, as a command: of each kind some, most of them dated, half with reminders or links.
func itemAt(i int, linkTo string) (kind string, data object) {
	at := time.Now().UTC().Truncate(time.Hour).AddDate(0, 0, i%1000-500).Format(time.RFC3339)
	title := fmt.Sprintf("item %d", i)
	data = object{"title": title}
	switch i % 4 {
	case 0:
		kind, data["startUtc"], data["startTzid"], data["reminderMinutes"] = "CreateEvent", at, "Europe/Berlin", []int{10, 60}
	case 1:
		kind, data["dueUtc"], data["dueTzid"], data["reminderMinutes"] = "CreateTask", at, "UTC", []int{30}
	case 2:
		kind, data["triggerUtc"], data["tzid"] = "CreateReminder", at, "UTC"
	default:
		kind, data["body"] = "CreateNote", "text"
	}
	if linkTo != "" && i%2 == 1 {
		data["links"] = []object{{"targetType": "NOTE", "targetId": linkTo}}
	}
	return kind, data
}

// populate has four clients give the user the items from one number up to another.
func (s *system) populate(from, to int, linkTo string) {
	s.t.Helper()
	const clients, each = 4, 100
	work := errgroup.Group{}
	for n := range clients {
		c := s.newClient(s.user)
		work.Go(func() error {
			for first := from + n*each; first < to; first += clients * each {
				var commands []object
				for i := first; i < min(first+each, to); i++ {
					kind, data := itemAt(i, linkTo)
					commands = append(commands, object{"id": uuid.NewString(), "type": kind, "data": data})
				}
				body, err := json.Marshal(object{"commands": commands})
				if err != nil {
					return err
				}
				answer, err := c.send(http.MethodPost, "/v1/commands", string(body), 0)
				if err != nil {
					return err
				}
				for _, result := range answer["results"].([]any) {
					if result.(object)["status"].(float64) != http.StatusCreated {
						return fmt.Errorf("refused: %v", result)
					}
				}
			}
			return nil
		})
	}
	require.NoError(s.t, work.Wait())
}

// processor is how much time of a core this process has used.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// inUse returns the bytes in memory that are still used.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// peak calls do and returns the most memory that was in use during the call, garbage included, in MB.
func peak(do func()) (most uint64) {
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc>>20)
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	do()
	close(done)
	<-watched
	return most
}

// It prints times and does not judge them. The memory that a verification needs is pinned in pkg/verify.
func TestPostVerify_takesTimeInProportionToTheUser(t *testing.T) {
	sizes := []int{500, 2000}
	if os.Getenv("NEXUS_SOAK") != "" {
		sizes = []int{100_000, 300_000, 1_000_000}
	} else {
		t.Parallel()
	}
	s := startSystem(t, local.Options{Store: local.Memory, Settling: 30 * time.Minute})
	hub := s.must("POST", "/v1/notes", object{"title": "hub", "body": "b"})["noteId"].(string)
	has := 0
	for _, size := range sizes {
		began := time.Now()
		s.populate(has, size, hub)
		s.waitUntilIdle()
		has = size
		t.Logf("%d items are there after %v more; %d MB in use", size, time.Since(began).Round(time.Second), inUse()>>20)

		began, used := time.Now(), processor(t)
		var sum verify.Summary
		most := peak(func() {
			var found map[string]verify.Difference
			found, sum = s.verified(fmt.Sprintf(`{"user":%q}`, s.user))
			maps.DeleteFunc(found, func(_ string, d verify.Difference) bool { return d.Kind == verify.Count }) // a repair counts
			require.Empty(t, found)
		})
		took, used := time.Since(began), processor(t)-used
		require.EqualValues(t, size+1, sum.Items)
		each := func(d time.Duration) time.Duration {
			return (d * 100_000 / time.Duration(size)).Round(time.Millisecond)
		}
		t.Logf("%d items: %v, %v for 100,000; processor time %v, %v for 100,000; %d rows read; %d MB in use, %d at most",
			size, took.Round(time.Millisecond), each(took), used.Round(time.Millisecond), each(used), sum.Rows,
			inUse()>>20, most)
	}
}
