package local_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// follower is a device that follows the rules of docs/sync.md.
type follower struct {
	*system
	types, token string
	things       map[string]object
}

func (s *system) follow(types string) *follower {
	f := &follower{system: s, types: types}
	f.snapshot()
	return f
}

func (f *follower) snapshot() {
	f.t.Helper()
	f.things, f.token = map[string]object{}, ""
	for path := "/v1/changes?types=" + f.types; f.token == ""; {
		page := f.must("GET", strings.TrimSuffix(path, "?types="), nil)
		f.take(page["items"].([]any))
		f.token, _ = page["next"].(string)
		path = fmt.Sprint("/v1/changes?cursor=", page["cursor"])
	}
}

// pull asks until there is no more, and returns how many changes came.
func (f *follower) pull() (came int) {
	f.t.Helper()
	f.waitUntilIdle()
	for more := true; more; {
		page := f.must("GET", "/v1/changes?limit=3&since="+f.token, nil)
		list := page["changes"].([]any)
		f.take(list)
		came += len(list)
		f.token, more = page["next"].(string), page["more"].(bool)
	}
	return came
}

func (f *follower) take(list []any) {
	for _, v := range list {
		change := v.(object)
		name := fmt.Sprint(change["type"], " ", change["id"])
		if name = strings.TrimSuffix(name, " <nil>"); change["type"] == "PLAN" {
			name = fmt.Sprint("PLAN ", change["date"])
		}
		if held := f.things[name]; held != nil && number64(change["version"]) < number64(held["version"]) {
			continue
		}
		f.things[name] = change
	}
}

// shown returns the things that the device shows: none that is gone, or has left by its own clock.
func (f *follower) shown() map[string]object {
	f.t.Helper()
	now := f.now()
	out := maps.Clone(f.things)
	maps.DeleteFunc(out, func(name string, change object) bool {
		at, err := time.Parse(time.RFC3339, fmt.Sprint(change["expiresAt"]))
		return change["gone"] == true || err == nil && !at.After(now) || strings.HasPrefix(name, "PLAN ")
	})
	return out
}

// holds checks that the device has what a new one gets, and what the check says.
func (f *follower) holds(when string) {
	f.t.Helper()
	require.Zero(f.t, f.pull(), when)
	want, got := f.follow(f.types).shown(), f.shown()
	require.Equal(f.t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), when)
	digest := make([]byte, 16)
	for name, change := range got {
		if name != "USER_META "+f.user || number64(change["version"]) > 0 { // else its times are those of the answer
			require.Equal(f.t, want[name], change, "%s: %s", when, name)
		}
		text := fmt.Sprint(name, " ", change["version"])
		if name == "VALUES" {
			text = fmt.Sprint(name, " ", change["revId"])
		}
		if change["expiresAt"] != nil {
			text += "!"
		}
		sum := sha256.Sum256([]byte(text))
		for i := range digest {
			digest[i] ^= sum[i]
		}
	}
	f.advance("61s")
	check := f.must("GET", strings.TrimSuffix("/v1/changes/check?types="+f.types, "?types="), nil)
	require.EqualValues(f.t, len(got), check["count"], when)
	require.Equal(f.t, hex.EncodeToString(digest), check["digest"], when)
}

func TestPlatform_keepsADeviceInStep(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		empty := s.follow("")
		s.inhabit(strangersID, stranger, "Own")
		all, some := s.follow(""), s.follow("TASK,INSTANCE")
		require.NotZero(t, empty.pull())
		empty.holds("from nothing")
		all.pull() // what the log had not yet come to at the snapshot
		all.holds("from a snapshot")

		any := []string{"If-Match", "*"}
		master := "/v1/series/" + strangersID("mst_", 5)
		s.must("PATCH", "/v1/notes/"+strangersID("note_", 1), object{"title": "another"}, any...)
		s.must("PUT", master+"/instances/20260310", object{"title": "for once"}, any...)
		s.must("PUT", master+"/instances/20260312", object{"title": "for once"}, any...)
		s.must("PUT", master+"/instances/20260312", object{}, any...)
		s.must("DELETE", "/v1/reminders/"+strangersID("rem_", 4), nil, any...)
		s.must("PATCH", "/v1/tasks/"+strangersID("task_", 3), object{"status": "COMPLETED"}, any...)
		s.must("PATCH", "/v1/me", object{"defaultTzid": "Asia/Tokyo"}, any...)
		require.NotZero(t, all.pull())
		require.Equal(t, true, all.things["REMINDER "+strangersID("rem_", 4)]["gone"])
		undone := "INSTANCE inst_20260312_" + strings.TrimPrefix(strangersID("mst_", 5), "mst_")
		require.Equal(t, true, all.things[undone]["gone"])
		require.NotZero(t, some.pull())
		for name := range some.things {
			require.Regexp(t, "^(TASK|INSTANCE|USER_META) ", name)
		}
		for _, f := range []*follower{empty, all, some} {
			f.pull()
			f.holds("after changes")
		}

		for _, by := range []string{"26h", "900h", "600h"} { // tasks are archived, items leave
			s.advance(by)
			all.pull()
			all.holds("after " + by)
		}
		s.advance("2000h")
		status, problem := s.call(http.MethodGet, "/v1/changes?since="+some.token, nil)
		require.Equal(t, http.StatusGone, status)
		require.Equal(t, "expired", problem["reason"])
		some.snapshot()
		some.holds("after a new snapshot")
	})
}
