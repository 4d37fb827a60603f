package s3_test

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
)

// version is one version of an object in the bucket, or the mark of its deletion.
type version struct {
	key, id string
	marker  bool
}

// keep records a new version.
func (s *service) keep(key string, marker bool) {
	s.kept = append(s.kept, version{key, fmt.Sprintf("v%06d", len(s.kept)), marker})
}

type versionAnswer struct {
	Key       string
	VersionID string `xml:"VersionId"`
}

// listVersions answers in the order of the keys, and of a key the newest first (S3 API Reference, ListObjectVersions).
func (s *service) listVersions(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("max-keys"))
	if err != nil || limit < 1 || limit > 1000 {
		answerError(w, http.StatusBadRequest, "InvalidArgument")
		return
	}
	order := func(a, b version) int { return cmp.Or(strings.Compare(a.key, b.key), -strings.Compare(a.id, b.id)) }
	found := slices.DeleteFunc(slices.Clone(s.kept), func(v version) bool {
		after := version{key: query.Get("key-marker"), id: query.Get("version-id-marker")}
		return !strings.HasPrefix(v.key, query.Get("prefix")) || after.key != "" && order(v, after) <= 0
	})
	slices.SortFunc(found, order)
	var answer struct {
		XMLName             xml.Name `xml:"ListVersionsResult"`
		IsTruncated         bool
		NextKeyMarker       string          `xml:",omitempty"`
		NextVersionIDMarker string          `xml:"NextVersionIdMarker,omitempty"`
		Versions            []versionAnswer `xml:"Version"`
		DeleteMarkers       []versionAnswer `xml:"DeleteMarker"`
	}
	limit = min(limit, s.pageSize)
	answer.IsTruncated = len(found) > limit || s.emptyPages
	for _, v := range found[:min(limit, len(found))] {
		answer.NextKeyMarker, answer.NextVersionIDMarker = v.key, v.id
		if v.marker {
			answer.DeleteMarkers = append(answer.DeleteMarkers, versionAnswer{v.key, v.id})
		} else {
			answer.Versions = append(answer.Versions, versionAnswer{v.key, v.id})
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

func (s *service) deleteVersions(w http.ResponseWriter, body []byte) {
	var in struct{ Object []versionAnswer }
	if err := xml.Unmarshal(body, &in); err != nil {
		answerError(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	var answer struct {
		XMLName xml.Name `xml:"DeleteResult"`
		Error   []struct{ Key, Code, Message string }
	}
	for _, object := range in.Object {
		if object.Key == s.refuses {
			answer.Error = append(answer.Error, struct{ Key, Code, Message string }{object.Key, "InternalError", "refused"})
			continue
		}
		s.kept = slices.DeleteFunc(s.kept, func(v version) bool { return v.key == object.Key && v.id == object.VersionID })
		if !slices.ContainsFunc(s.kept, func(v version) bool { return v.key == object.Key && !v.marker }) {
			delete(s.objects, object.Key)
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

func TestPurge_removesVersionsAndMarksOfDeletions(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "dev/")
	for i := range 3 {
		for _, name := range []string{"a/1", "a/2", "b/1"} {
			require.NoError(t, s.Put(t.Context(), name, []byte{byte(i)}))
		}
	}
	require.NoError(t, s.Delete(t.Context(), "a/1"))
	require.NoError(t, s.Delete(t.Context(), "never"))
	removed, err := s.Purge(t.Context(), "a/")
	require.NoError(t, err)
	require.Equal(t, 7, removed)
	removed, err = s.Purge(t.Context(), "never")
	require.NoError(t, err)
	require.Equal(t, 1, removed, "the mark alone")
	require.Len(t, fake.kept, 3)
	for _, v := range fake.kept {
		require.Equal(t, "dev/b/1", v.key)
	}
}

func TestPurge_namesWhatStays(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "")
	require.NoError(t, s.Put(t.Context(), "a/1", nil))
	require.NoError(t, s.Put(t.Context(), "a/2", nil))
	fake.refuses = "a/2"
	_, err := s.Purge(t.Context(), "a/")
	require.ErrorIs(t, err, blob.ErrUnavailable)
	require.ErrorContains(t, err, `"a/2": InternalError`)
	fake.refuses = ""
	removed, err := s.Purge(t.Context(), "a/")
	require.NoError(t, err)
	require.Equal(t, 1, removed)
}

func TestPurge_failsIfItDoesNotMoveOn(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "")
	fake.emptyPages = true
	_, err := s.Purge(t.Context(), "a/")
	require.ErrorIs(t, err, blob.ErrUnavailable)
}
