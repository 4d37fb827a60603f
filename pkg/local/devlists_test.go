package local_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pages follows a list to its end and returns its items page by page.
func (s *system) pages(path, cursor string) (pages [][]any) {
	s.t.Helper()
	for after := ""; len(pages) < 1000; {
		page := s.must("GET", path+after, nil)
		pages = append(pages, page["items"].([]any))
		next, more := page["next"].(string)
		if !more {
			return pages
		}
		after = "&" + cursor + "=" + url.QueryEscape(next)
	}
	require.Fail(s.t, "the list does not end")
	return nil
}

func TestListParams_leadToTheEndOfSchedulesAndEvents(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		const many = 57
		at := s.now().Add(time.Hour)
		batch := []object{}
		for i := range many {
			batch = append(batch, object{"id": fmt.Sprint(i), "type": "CreateReminder", "data": object{
				"title": fmt.Sprint(i), "tzid": "UTC",
				"triggerUtc": at.Add(time.Duration(i%7) * time.Second).UTC().Format(time.RFC3339),
			}})
		}
		for len(batch) > 0 {
			part := batch[:min(100, len(batch))]
			batch = batch[len(part):]
			for _, result := range s.must("POST", "/v1/commands", object{"commands": part})["results"].([]any) {
				require.EqualValues(t, http.StatusCreated, result.(object)["status"], "%v", result)
			}
		}
		s.waitUntilIdle()
		whole := func(pages [][]any, id func(object) any) map[any]bool {
			distinct := map[any]bool{}
			for _, page := range pages {
				for _, item := range page {
					require.False(t, distinct[id(item.(object))], "%v twice", item)
					distinct[id(item.(object))] = true
				}
			}
			return distinct
		}
		scheduleName := func(o object) any { return o["name"] }
		for _, limit := range []int{10, 19, 56, 57, 1000} {
			path := fmt.Sprintf("/dev/schedules?state=PENDING&limit=%d", limit)
			pages := s.pages(path, "after")
			require.Len(t, whole(pages, scheduleName), many, "limit %d", limit)
			require.Len(t, pages, (many+limit-1)/limit)
			last := ""
			for _, page := range pages {
				for _, item := range page {
					require.GreaterOrEqual(t, item.(object)["at"], last)
					last = item.(object)["at"].(string)
				}
			}
		}
		s.advance("2h")
		deliveryID := func(o object) any { return o["detail"].(object)["deliveryId"] }
		for _, limit := range []int{10, 56, 57, 1000} {
			pages := s.pages(fmt.Sprintf("/dev/events?limit=%d", limit), "before")
			require.Len(t, whole(pages, deliveryID), many, "limit %d", limit)
			require.Len(t, pages[0], min(limit, many), "the first page is that of the latest")
		}
		for _, bad := range []string{
			"/dev/events?before=0", "/dev/events?before=x", "/dev/schedules?after=x",
			"/dev/schedules?after=2026-01-01T00:00:00Z/n/x",
		} {
			status, _ := s.call("GET", bad, nil)
			require.Equal(t, http.StatusUnprocessableEntity, status, bad)
		}
	})
}
