package local_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/pkg/command"
	"nexus/pkg/local"
	"nexus/pkg/product"
)

// walkItems is the number of items that each walk in these tests goes over.
var walkItems = flag.Int("walk-items", 300, "items of a user whose zone changes all the time")

const (
	// soon is how soon after its creation a reminder must be scheduled, whatever others do.
	soon = 2 * time.Second
	// bystanders is the number of other users.
	bystanders = 12
)

// mover changes a user's zone past every limit of the API.
type mover struct {
	commands *command.Service
	user     string
}

func (s *system) mover(user string) mover {
	return mover{user: user, commands: command.New(command.Config{
		Store: s.storeBehind(), Registry: product.Registry(), Now: s.now, NewID: newID,
		Pause: func(context.Context, time.Duration) error { return nil },
	})}
}

func newID() string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", time.Now().UnixNano()>>20, time.Now().UnixNano())
}

func (m mover) change(t *testing.T, n int) {
	t.Helper()
	version := int64(n)
	_, err := m.commands.Do(t.Context(), command.Request{User: m.user, ExpectedVersion: &version,
		Command: command.UpdateMe{Patch: map[string]any{"defaultTzid": []string{"Asia/Tokyo", "Europe/Berlin"}[n%2]}}})
	require.NoError(t, err)
}

// float gives a user floating events with a reminder.
func (m mover) float(t *testing.T, items int, at time.Time) {
	t.Helper()
	for i := range items {
		_, err := m.commands.Do(t.Context(), command.Request{User: m.user, Command: command.Create{
			Type: product.Event(), Fields: map[string]any{
				"title": fmt.Sprint(i), "startUtc": at.Add(time.Duration(i) * time.Minute).Format("2006-01-02T15:04:05"),
				"reminderMinutes": []any{json.Number("10")},
			},
		}})
		require.NoError(t, err)
	}
}

// scheduledIn has each of the bystanders create reminders one after another, and returns the longest time from an
// answer to the schedule.
func (s *system) scheduledIn(each int) (longest time.Duration) {
	s.t.Helper()
	var mu sync.Mutex
	put := map[string]chan time.Time{}
	lines := s.listen()
	go func() {
		for line := range lines {
			mu.Lock()
			for user, seen := range put {
				if strings.Contains(line, `"op":"put"`) && strings.Contains(line, user) {
					delete(put, user)
					seen <- time.Now()
				}
			}
			mu.Unlock()
		}
	}()
	var group sync.WaitGroup
	for n := range bystanders {
		user := fmt.Sprintf("bystander-%02d", n)
		group.Go(func() {
			one := s.as(user)
			for range each {
				seen := make(chan time.Time, 1)
				mu.Lock()
				put[user] = seen
				mu.Unlock()
				began := time.Now()
				one.reminder("Tea", s.now().Add(time.Hour))
				select {
				case at := <-seen:
					mu.Lock()
					longest = max(longest, at.Sub(began))
					mu.Unlock()
				case <-time.After(2 * time.Minute):
					s.t.Errorf("the reminder of %s is not scheduled", user)
				}
			}
		})
	}
	group.Wait()
	return longest
}

func (s *system) putSchedules() int {
	s.t.Helper()
	return int(s.must("GET", "/dev/lag", nil)["reminders"].(object)["scheduled"].(float64))
}

// One user changes the zone 100 times at once, past any limit, over many items. The reminders of others are scheduled
// all the while, and the changes put about as many schedules as one.
func TestPlatform_schedulesForOthersWhileOneUserChangesTheZoneAHundredTimes(t *testing.T) {
	t.Parallel()
	long.Only(t, "changes the zone a hundred times")
	s := startSystem(t, local.Options{Ephemeral: true, Settling: 5 * time.Minute})
	attacker := s.mover("attacker")
	attacker.float(t, *walkItems, s.now().Add(240*time.Hour))
	s.waitUntilIdle()
	calm := s.scheduledIn(2)
	before := s.putSchedules()
	for n := range 100 {
		attacker.change(t, n)
	}
	longest := s.scheduledIn(3)
	s.waitUntilIdle()
	put := s.putSchedules() - before - 3*bystanders
	t.Logf("%d items: scheduled in %s, undisturbed in %s; %d puts", *walkItems, longest, calm, put)
	require.LessOrEqual(t, longest, soon+5*calm)
	require.LessOrEqual(t, put, 2**walkItems+50)
	require.GreaterOrEqual(t, put, *walkItems)
	found, _ := s.verified(`{"user":"attacker"}`)
	require.Empty(t, found)
}

// Five users change their zones again and again, so that their walks never end.
func TestPlatform_schedulesForOthersBesideWalksThatNeverEnd(t *testing.T) {
	t.Parallel()
	long.Only(t, "lets walks take minutes")
	s := startSystem(t, local.Options{Ephemeral: true, Settling: 5 * time.Minute})
	var movers []mover
	for n := range 5 {
		m := s.mover(fmt.Sprint("mover-", n))
		m.float(t, *walkItems/5, s.now().Add(240*time.Hour))
		movers = append(movers, m)
	}
	s.waitUntilIdle()
	calm := s.scheduledIn(2)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for _, m := range movers {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-time.After(200 * time.Millisecond):
					m.change(t, n)
				}
			}
		})
	}
	longest := s.scheduledIn(8)
	left := len(s.must("GET", "/dev/walks", nil)["items"].([]any))
	close(stop)
	group.Wait()
	t.Logf("scheduled in %s, undisturbed in %s; %d walks left", longest, calm, left)
	require.LessOrEqual(t, longest, soon+5*calm)
	s.waitUntilIdle()
	found, _ := s.verified(`{}`)
	require.Empty(t, found)
	require.Empty(t, s.must("GET", "/dev/walks", nil)["items"])
}

// The platform is idle when a walk has been carried out, and not before.
func TestPlatform_isIdleWhenNoWalkIsLeft(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	at := s.now().Add(50 * time.Hour).UTC().Truncate(time.Second)
	s.must("POST", "/v1/tasks", object{
		"title": "x", "dueUtc": at.Format("2006-01-02T15:04:05"), "reminderMinutes": []int{0},
	})
	s.waitUntilIdle()
	require.Empty(t, s.must("GET", "/dev/walks", nil)["items"])
	status, _ := s.call("PATCH", "/v1/me", object{"defaultTzid": "Asia/Tokyo"}, "If-Match", `"0"`)
	require.Equal(t, 200, status)
	s.waitUntilIdle()
	require.Empty(t, s.must("GET", "/dev/walks", nil)["items"])
	require.EqualValues(t, 0, s.must("POST", "/dev/walks", object{})["redriven"])
	waiting := s.must("GET", "/dev/schedules?state=PENDING", nil)["items"].([]any)
	require.Len(t, waiting, 1)
	require.Equal(t, at.Add(-9*time.Hour).Format(time.RFC3339), waiting[0].(object)["at"], "in Japan")
}
