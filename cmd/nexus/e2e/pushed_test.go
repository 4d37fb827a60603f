package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local/pushservice"
)

// phones are the devices of a user, with a push service that outlives the system's processes.
type phones struct {
	*httptest.Server
	service *pushservice.Service

	mu      sync.Mutex
	chance  *rand.Rand
	calm    bool // it takes each message
	got     []gotMessage
	refused map[string]int
}

// gotMessage is a message that reached a device.
type gotMessage struct{ device, deliveryID, itemID string }

func newPhones(t *testing.T, seed uint64) *phones {
	t.Helper()
	p := &phones{
		service: pushservice.New(pushservice.Config{Secret: []byte("of this test"), Now: time.Now}),
		chance:  rand.New(rand.NewPCG(seed, 17)), refused: map[string]int{},
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *phones) address() string { return strings.TrimPrefix(p.URL, "http://") }

// ServeHTTP takes a message, refuses it for now, or takes it and breaks the connection before the answer.
func (p *phones) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	chance := p.chance.IntN(100)
	switch {
	case p.calm:
	case chance < 10:
		p.refused["503"]++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case chance < 13:
		p.refused["429"]++
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	taken := httptest.NewRecorder()
	p.service.ServeHTTP(taken, r)
	if taken.Code == http.StatusCreated {
		all := p.service.Messages()
		last := all[len(all)-1]
		var m struct{ DeliveryID, ItemID string }
		if err := decode([]byte(last.Text), &m); err != nil {
			p.refused["no JSON"]++
		}
		p.got = append(p.got, gotMessage{last.Subscription, m.DeliveryID, m.ItemID})
	}
	if !p.calm && chance < 25 {
		p.refused["lost answer"]++
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(taken.Code)
}

func (p *phones) messages() []gotMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

// told returns how many reminders have reached all devices.
func (p *phones) told(devices int) int {
	on := map[string]map[string]bool{}
	for _, m := range p.messages() {
		if on[m.itemID] == nil {
			on[m.itemID] = map[string]bool{}
		}
		on[m.itemID][m.device] = true
	}
	n := 0
	for _, of := range on {
		if len(of) == devices {
			n++
		}
	}
	return n
}

// A device that honours the tag shows each reminder once, whatever the process and the push services suffer.
func TestDev_showsEachReminderOnceOnEachDeviceWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	chosen := seed(t)
	p := newPhones(t, chosen)
	s := onDirectory(t, append(slices.Clone(unhurried), "--push-service", p.address())...)
	c, chance := s.client("reminded"), rand.New(rand.NewPCG(chosen, 18))
	devices := []string{"3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11", "3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a12"}
	for _, id := range devices {
		of := p.service.Subscribe(id)
		c.do(http.StatusOK, request{method: http.MethodPut, path: "/v1/me/devices/" + id, body: map[string]any{
			"endpoint": p.URL + pushservice.Path + id, "name": "Phone",
			"keys": map[string]any{"p256dh": of.P256dh, "auth": of.Auth},
		}})
	}
	n, base := amount(t, "reminders", 100, 1000), s.now()
	items := map[string]bool{}
	for i := range n {
		made := c.create("reminders", map[string]any{
			"title": fmt.Sprint("Reminder ", i), "tzid": "UTC",
			"triggerUtc": base.Add(time.Hour + time.Duration(i%5)*time.Minute).UTC().Format(time.RFC3339),
		})
		items[made["reminderId"].(string)] = true
	}
	s.waitUntilIdle()

	ended := make(chan struct{})
	go func() { // the clock moves on beside the kills
		defer close(ended)
		mover := s.anonymous()
		for _, by := range append([]string{"59m"}, slices.Repeat([]string{"30s"}, 16)...) {
			_, _, _ = mover.insist(t.Context(), request{
				method: http.MethodPost, path: "/dev/clock", body: map[string]any{"advance": by},
			})
		}
	}()
	kills := amount(t, "kills", 4, 12)
	for kill := range kills {
		enough := len(p.messages()) + 1 + chance.IntN(2*n/kills)
		reached := await(t.Context(), roundBound, time.Millisecond, func() bool {
			select {
			case <-ended:
				return true
			default:
				return len(p.messages()) >= enough
			}
		})
		require.True(t, reached, "kill %d", kill)
		s.kill()
		s.start()
	}
	<-ended
	p.mu.Lock()
	p.calm = true
	p.mu.Unlock()
	for minutes := 0; minutes < 45 && p.told(len(devices)) < n; minutes++ {
		s.advance(time.Minute)
		s.waitUntilIdle()
	}

	shown, repeated := map[gotMessage]bool{}, 0
	deliveries := map[string]map[string]bool{} // by device and reminder
	for _, m := range p.messages() {
		if shown[m] {
			repeated++ // it replaces itself: the tag is the same
		}
		shown[m] = true
		require.True(t, items[m.itemID], m)
		at := m.device + " " + m.itemID
		if deliveries[at] == nil {
			deliveries[at] = map[string]bool{}
		}
		deliveries[at][m.deliveryID] = true
	}
	for at, of := range deliveries {
		require.Len(t, of, 1, "%s is shown under several tags", at)
	}
	require.Len(t, deliveries, n*len(devices), "each reminder on each device")
	require.Len(t, shown, n*len(devices))
	_, remaining := s.verified(false)
	require.Zero(t, remaining)
	t.Logf("%d reminders on %d devices, %d kills: %d messages, %d of them again; push services: %v", n, len(devices),
		kills, len(p.messages()), repeated, p.refused)
}
