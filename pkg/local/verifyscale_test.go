package local_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"nexus/pkg/local"
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

// liveBytes is what the last garbage collection found in use.
func liveBytes() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// peak calls do and returns by how much memory in use grew meanwhile at most.
func peak(do func()) (grown int64) {
	runtime.GC()
	before, highest := liveBytes(), int64(0)
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			highest = max(highest, liveBytes())
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
	return highest - before
}

func TestAUserOfAnySizeIsVerifiedInProportion(t *testing.T) {
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
		s.settle()
		has = size
		t.Logf("%d items are there after %v more", size, time.Since(began).Round(time.Second))
		for _, repair := range []bool{false, true} {
			grown := peak(func() {
				began = time.Now()
				found, sum := s.verified(fmt.Sprintf(`{"user":%q,"repair":%v}`, s.user, repair))
				require.Empty(t, found)
				require.EqualValues(t, size+1, sum.Items)
				took := time.Since(began)
				t.Logf("%d items, repair %v: %v, %v for 100,000; %d rows read",
					size, repair, took.Round(time.Millisecond), (took * 100_000 / time.Duration(size)).Round(time.Millisecond), sum.Rows)
			})
			t.Logf("memory in use grew by %d KB of %d MB", grown>>10, liveBytes()>>20)
		}
	}
}
