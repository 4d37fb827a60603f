package local_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// finishedExport asks for an export and returns it when it has ended.
func (s *system) finishedExport() object {
	s.t.Helper()
	made := s.must("POST", "/v1/me/exports", nil)
	require.Equal(s.t, "WAITING", made["state"])
	s.waitUntilIdle()
	done := s.must("GET", "/v1/me/exports/"+made["exportId"].(string), nil)
	require.Equal(s.t, "DONE", done["state"], "%v", done)
	return done
}

// unpacked returns the content of the files of an account, but the instants of the manifest.
func unpacked(t *testing.T, file []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	out := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(in)
		require.NoError(t, err)
		if out[f.Name] = string(content); f.Name == "manifest.json" {
			out[f.Name] = out[f.Name][strings.Index(out[f.Name], `"counts"`):]
		}
	}
	return out
}

// A user takes everything along by a job, puts it into an account elsewhere, and gets the same from there.
func TestPlatform_exportsAnAccountThatAnotherSystemTakes(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, here *system) {
		here.moving()
		done := here.finishedExport()
		status, file := here.ask("GET", done["url"].(string), "", nil)
		require.Equal(t, http.StatusOK, status, "%s", file)
		require.InDelta(t, len(file), done["bytes"], 0)
		there := startSystem(t, local.Options{Store: local.Memory})
		there.advance("385h")
		there.user = "zoe"
		status, report := there.ask("POST", "/dev/import?user=zoe", "application/zip", file)
		require.Equal(t, http.StatusOK, status, "%s", report)
		there.waitUntilIdle()
		again := there.finishedExport()
		require.Equal(t, done["counts"], again["counts"])
		status, copied := there.ask("GET", again["url"].(string), "", nil)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, unpacked(t, file), unpacked(t, copied))
	})
}

func TestLinks_serveTheirFileAloneAndForFiveMinutes(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	own := s.finishedExport()
	s.user = "u2"
	other := s.finishedExport()["url"].(string)
	address := own["url"].(string)
	status, file := s.ask("GET", address, "", nil)
	require.Equal(t, http.StatusOK, status, "it needs no token")
	require.True(t, bytes.HasPrefix(file, []byte("PK")))
	forged := func(change func(*url.URL, url.Values)) string {
		u, err := url.Parse(address)
		require.NoError(t, err)
		q := u.Query()
		change(u, q)
		u.RawQuery = q.Encode()
		return u.String()
	}
	of, err := url.Parse(other)
	require.NoError(t, err)
	for name, bad := range map[string]string{
		"another's file":      forged(func(u *url.URL, _ url.Values) { u.Path = of.Path }),
		"another's signature": forged(func(_ *url.URL, q url.Values) { q["signature"] = of.Query()["signature"] }),
		"later":               forged(func(_ *url.URL, q url.Values) { q.Set("until", "99999999999") }),
		"another name":        forged(func(_ *url.URL, q url.Values) { q.Set("file", "x.html") }),
		"unsigned":            forged(func(_ *url.URL, q url.Values) { q.Del("signature") }),
		"no instant":          forged(func(_ *url.URL, q url.Values) { q.Del("until") }),
		"a cold copy":         "/files/archive/u1/task_1/1.json",
		"above":               "/files/..%2fpepper",
	} {
		status, answer := s.ask("GET", bad, "", nil)
		require.Equal(t, http.StatusForbidden, status, "%s: %s", name, answer)
	}
	until, err := time.Parse(time.RFC3339, own["urlUntil"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, s.now().Add(5*time.Minute), until, time.Minute)
	s.advance("6m")
	status, _ = s.ask("GET", address, "", nil)
	require.Equal(t, http.StatusForbidden, status)
	s.user = "u1"
	path := "/v1/me/exports/" + own["exportId"].(string)
	address = s.must("GET", path, nil)["url"].(string)
	status, _ = s.ask("GET", address, "", nil)
	require.Equal(t, http.StatusOK, status)
	s.must("DELETE", path, nil)
	status, _ = s.ask("GET", address, "", nil)
	require.Equal(t, http.StatusNotFound, status)
}

// A file ends after 7 days of the local clock, as by the rule of the bucket.
func TestPlatform_endsFilesOfExports(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		done := s.finishedExport()
		path := "/v1/me/exports/" + done["exportId"].(string)
		files := func() string {
			_, names := s.ask("GET", "/dev/blobs?prefix=exports/", "", nil)
			return string(names)
		}
		s.advance("167h")
		require.Contains(t, s.must("GET", path, nil), "url")
		require.Contains(t, files(), "account.zip")
		s.advance("1h")
		require.NotContains(t, s.must("GET", path, nil), "url")
		require.NotContains(t, files(), "account.zip")
		s.finishedExport()
		require.Contains(t, files(), "account.zip")
	})
}

// An erasure takes the jobs and the files of its user along, and leaves those of another.
func TestPlatform_erasesExports(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		s.must("POST", "/v1/notes", object{"title": "Note"})
		address := s.finishedExport()["url"].(string)
		s.must("POST", "/v1/me/exports", nil)
		s.user = "u2"
		other := s.finishedExport()["url"].(string)
		status, answer := s.ask("POST", "/dev/erase", "application/json", []byte(`{"user":"u1","now":true}`))
		require.Equal(t, http.StatusOK, status, "%s", answer)
		status, _ = s.ask("GET", address, "", nil)
		require.Equal(t, http.StatusNotFound, status)
		status, _ = s.ask("GET", other, "", nil)
		require.Equal(t, http.StatusOK, status)
		_, names := s.ask("GET", "/dev/blobs?prefix=exports/", "", nil)
		require.NotContains(t, string(names), "exports/u1/")
		require.Contains(t, string(names), "exports/u2/000001/account.zip")
	})
}
