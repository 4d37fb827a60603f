package local_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// foundBy returns the titles that a search finds.
func (s *system) foundBy(question string) (titles []string) {
	s.t.Helper()
	for _, hit := range s.must("GET", "/v1/search?"+question, nil)["items"].([]any) {
		titles = append(titles, hit.(object)["title"].(string))
	}
	return titles
}

func (s *system) snapshots() string {
	s.t.Helper()
	_, names := s.ask("GET", "/dev/blobs?prefix=snap/", "", nil)
	return string(names)
}

func TestPlatform_findsWhatWasJustWritten(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		require.Empty(t, s.foundBy("q=plover"))
		note := s.must("POST", "/v1/notes", object{"title": "plover", "body": "a bird",
			"tags": []string{"birds", "birds, small"}})
		s.must("POST", "/v1/series", object{
			"title": "watch birds", "startUtc": "2020-01-01T09:00:00Z", "startTzid": "UTC", "rrule": "FREQ=DAILY",
		})
		s.waitUntilIdle()
		require.Equal(t, []string{"plover"}, s.foundBy("q=PLOVER&tags=birds"))
		require.Equal(t, []string{"plover"}, s.foundBy("q=bird&types=NOTE"))
		require.Equal(t, []string{"plover"}, s.foundBy("tag=birds%2C+small&tags=birds"))
		require.Empty(t, s.foundBy("tag=birds%2C+small&tags=cats"))
		require.Equal(t, []string{"watch birds"}, s.foundBy("is=today"))
		require.Contains(t, s.snapshots(), "snap/"+s.user+"/search/")
		require.Equal(t, []any{object{"tag": "birds", "count": 1.0}, object{"tag": "birds, small", "count": 1.0}},
			s.must("GET", "/v1/tags", nil)["items"])
		s.must("PATCH", "/v1/notes/"+note["noteId"].(string), object{"title": "dotterel"},
			"If-Match", version(note))
		s.waitUntilIdle()
		require.Empty(t, s.foundBy("q=plover"))
		require.Equal(t, []string{"dotterel"}, s.foundBy("q=dotterel"))
		status, problem := s.call("GET", "/v1/search?is=new&sort=rank&q=", nil)
		require.Equal(t, 422, status)
		require.Equal(t, "/problems/validation-failed", problem["type"])
	})
}

func TestPlatform_endsSnapshotsOfIndexes(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	for _, user := range []string{"ann", "anna"} {
		s.user = user
		s.must("POST", "/v1/notes", object{"title": "plover of " + user})
		s.waitUntilIdle()
		require.Equal(t, []string{"plover of " + user}, s.foundBy("q=plover"))
	}
	require.Contains(t, s.snapshots(), "snap/ann/")
	s.must("POST", "/dev/erase", object{"user": "ann", "now": true})
	require.NotContains(t, s.snapshots(), "snap/ann/")
	require.Contains(t, s.snapshots(), "snap/anna/")
	s.user = "ann"
	status, _ := s.call("GET", "/v1/search?q=plover", nil)
	require.Equal(t, 403, status)
	require.NotContains(t, s.snapshots(), "snap/ann/")
	s.advance(fmt.Sprint(30*24+1, "h"))
	s.waitUntilIdle()
	require.NotContains(t, s.snapshots(), "snap/")
	s.user = "anna"
	require.Equal(t, []string{"plover of anna"}, s.foundBy("q=plover"))
}
