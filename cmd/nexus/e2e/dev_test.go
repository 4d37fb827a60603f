package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/stretchr/testify/require"
)

// The local-only surface, as far as the tests read it.
type (
	info struct {
		Endpoint string `json:"endpoint"`
		Table    string `json:"table"`
		DataDir  string `json:"dataDirectory"`
		Missed   int    `json:"missed"`
	}
	event struct {
		Type   string `json:"type"`
		Detail struct {
			DeliveryID string    `json:"deliveryId"`
			UserID     string    `json:"userId"`
			ItemID     string    `json:"itemId"`
			DueUtc     time.Time `json:"dueUtc"`
		} `json:"detail"`
	}
	schedule struct {
		Name    string    `json:"name"`
		At      time.Time `json:"at"`
		State   string    `json:"state"`
		Payload struct {
			UserID        string    `json:"userId"`
			ItemID        string    `json:"itemId"`
			OffsetMinutes int64     `json:"offsetMinutes"`
			DueUtc        time.Time `json:"dueUtc"`
		} `json:"payload"`
	}
	parked struct {
		Object string `json:"object"`
		Body   struct {
			Consumer string          `json:"consumer"`
			Reason   string          `json:"reason"`
			Record   json.RawMessage `json:"record"`
		} `json:"body"`
	}
	lag struct {
		Readers []struct {
			Reader    string `json:"reader"`
			Consumers []struct {
				Consumer string `json:"consumer"`
				Records  int    `json:"records"`
				Parked   int    `json:"parked"`
			} `json:"consumers"`
		} `json:"readers"`
		Reminders map[string]int `json:"reminders"`
	}
)

// everyone's view of the system: no user.
func (s *system) dev(method, path string, body, into any) {
	s.t.Helper()
	got := s.anonymous().do(http.StatusOK, request{method: method, path: path, body: body})
	if into != nil {
		require.NoError(s.t, json.Unmarshal(got.body, into), "%s %s: %s", method, path, got)
	}
}

func (s *system) info() (out info) {
	s.t.Helper()
	s.dev(http.MethodGet, "/dev/info", nil, &out)
	return out
}

func (s *system) waitUntilIdle() {
	s.t.Helper()
	s.dev(http.MethodPost, "/dev/settle", map[string]any{}, nil)
}

func (s *system) advance(by time.Duration) {
	s.t.Helper()
	s.dev(http.MethodPost, "/dev/clock", map[string]any{"advance": by.String()}, nil)
}

func (s *system) now() time.Time {
	s.t.Helper()
	var out struct {
		Now time.Time `json:"now"`
	}
	s.dev(http.MethodGet, "/dev/clock", nil, &out)
	return out.Now
}

func (s *system) events() []event {
	s.t.Helper()
	var out struct {
		Items []event `json:"items"`
	}
	s.dev(http.MethodGet, "/dev/events?limit=1000", nil, &out)
	return out.Items
}

// pending returns the schedules that are still to be called.
func (s *system) pending() []schedule {
	s.t.Helper()
	var all []schedule
	for after := ""; ; {
		var page struct {
			Items []schedule `json:"items"`
			Next  string     `json:"next"`
		}
		s.dev(http.MethodGet, "/dev/schedules?limit=1000&state=PENDING&after="+url.QueryEscape(after), nil, &page)
		if all = append(all, page.Items...); page.Next == "" {
			return all
		}
		after = page.Next
	}
}

// parked returns everything parked; the pages are bounded by what tests park.
func (s *system) parked() []parked {
	s.t.Helper()
	var all []parked
	for after, pages := "", 0; pages < 100; pages++ {
		var page struct {
			Items []parked `json:"items"`
			Next  string   `json:"next"`
		}
		path := "/dev/parked"
		if after != "" {
			path += "?after=" + after
		}
		s.dev(http.MethodGet, path, nil, &page)
		all = append(all, page.Items...)
		if after = page.Next; after == "" {
			return all
		}
	}
	require.Fail(s.t, "the list of what is parked does not end")
	return nil
}

func (s *system) lag() (out lag) {
	s.t.Helper()
	s.dev(http.MethodGet, "/dev/lag", nil, &out)
	return out
}

// redeliver brings everything from the stream's start on to all consumers again.
func (s *system) redeliver(times int) (delivered int) {
	s.t.Helper()
	var out struct {
		Delivered map[string]int `json:"delivered"`
	}
	s.dev(http.MethodPost, "/dev/redeliver", map[string]any{"from": "start", "times": times}, &out)
	for _, n := range out.Delivered {
		delivered += n
	}
	return delivered
}
