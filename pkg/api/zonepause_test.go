package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"nexus/pkg/limit"
)

func TestUpdateMe_holdsTheZoneForAMinute(t *testing.T) {
	t.Parallel()
	b := limited(t, never, nil)
	var commands []string
	for n := range 100 {
		zone := "Europe/London"
		if n > 0 {
			zone = []string{"Asia/Tokyo", "Europe/Berlin"}[n%2]
		}
		commands = append(commands, fmt.Sprintf(
			`{"id":"z%d","type":"UpdateMe","expectedVersion":%d,"data":{"defaultTzid":%q}}`, n, min(n, 1), zone))
	}
	res := b.do(request{method: "POST", path: "/v1/commands", body: `{"commands":[` + strings.Join(commands, ",") + `]}`})
	b.Equal(http.StatusOK, res.Code)
	counts := map[string]int{}
	for n, one := range res.doc["results"].([]any) {
		result := one.(map[string]any)
		counts[fmt.Sprint(result["status"])]++
		if n > 0 {
			problem := result["problem"].(map[string]any)
			b.Equal("/problems/rate-limited", problem["type"])
			b.Equal("60", fmt.Sprint(problem["retryAfter"]))
		}
	}
	b.Equal(map[string]int{"200": 1, "429": 99}, counts)

	patch := func(body string, version int) response {
		return b.do(request{method: "PATCH", path: "/v1/me", body: body,
			header: map[string]string{"If-Match": fmt.Sprintf(`"%d"`, version)}})
	}
	b.Equal(http.StatusOK, patch(`{"preferences":{"theme":"light"}}`, 1).Code, "what is not the zone")
	b.Equal(http.StatusOK, patch(`{"defaultTzid":"Europe/London"}`, 2).Code, "the zone that there is")
	b.advance(20 * time.Second)
	b.refused(patch(`{"defaultTzid":"Asia/Tokyo"}`, 2), `"zone";q=1;w=60`, 40)
	b.advance(40 * time.Second)
	b.Equal(http.StatusOK, patch(`{"defaultTzid":"Asia/Tokyo"}`, 2).Code)
}

// The settings know their last change alone: a number above one shortens the time after it.
func TestUpdateMe_tellsTheRateOfTheZoneThatIsEnforced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ number, seconds int }{{3, 20}, {7, 9}, {60, 1}} {
		b := limited(t, never, map[string]int{limit.Zone: c.number})
		version := 0
		patch := func(zone string) response {
			return b.do(request{method: "PATCH", path: "/v1/me", body: `{"defaultTzid":"` + zone + `"}`,
				header: map[string]string{"If-Match": fmt.Sprintf(`"%d"`, version)}})
		}
		for _, zone := range []string{"Europe/London", "Asia/Tokyo", "Europe/Paris"} {
			b.Equal(http.StatusOK, patch(zone).Code)
			version++
			b.refused(patch("Europe/Rome"), fmt.Sprintf(`"zone";q=1;w=%d`, c.seconds), c.seconds)
			b.advance(time.Duration(c.seconds) * time.Second)
		}
	}
	b := limited(t, never, map[string]int{limit.Zone: 61})
	for version, zone := range []string{"Europe/London", "Asia/Tokyo", "Europe/Paris"} {
		b.Equal(http.StatusOK, b.do(request{method: "PATCH", path: "/v1/me", body: `{"defaultTzid":"` + zone + `"}`,
			header: map[string]string{"If-Match": fmt.Sprintf(`"%d"`, version)}}).Code)
	}
}
