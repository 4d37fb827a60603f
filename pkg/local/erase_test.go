package local_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// marked is a text that a user writes.
func marked(user string, n int) string { return fmt.Sprintf("plover-%d of %s", n, user) }

// live lets a user have something of everything that the API makes.
func (s *system) live(user string) {
	s.t.Helper()
	s.user = user
	n := 0
	text := func() string {
		n++
		return marked(user, n)
	}
	now := s.now()
	in := func(d time.Duration) string { return now.Add(d).UTC().Truncate(time.Second).Format(time.RFC3339) }
	note := s.must("POST", "/v1/notes", object{"title": text(), "body": text()})
	link := object{"links": []object{{"targetType": "NOTE", "targetId": note["noteId"]}}}
	s.must("POST", "/v1/events", object{
		"title": text(), "description": text(), "location": text(), "startUtc": in(2 * time.Hour), "startTzid": "UTC",
		"endUtc": in(3 * time.Hour), "reminderMinutes": []int{5, 60},
	})
	master := s.must("POST", "/v1/series", object{
		"title": text(), "startUtc": in(4 * time.Hour), "startTzid": "UTC", "rrule": "FREQ=DAILY;COUNT=400",
		"reminderMinutes": []int{10},
	})
	require.NotEmpty(s.t, master["masterId"])
	s.reminder(text(), now.Add(time.Hour))
	s.reminder(text(), now.Add(400*24*time.Hour))
	task := s.task(text(), link)
	s.must("PATCH", "/v1/tasks/"+task["taskId"].(string), object{"status": "COMPLETED"}, "If-Match", version(task))
	gone := s.must("POST", "/v1/notes", object{"title": text(), "body": "b"}, "Idempotency-Key", text())
	s.must("DELETE", "/v1/notes/"+gone["noteId"].(string), nil, "If-Match", version(gone))
	s.must("PUT", "/v1/me/feed", object{})
	first := s.grow(text(), 3)
	s.must("POST", treePath+"/revisions", drivers(first, text(), 40))
	s.must("PATCH", "/v1/me", object{"defaultTzid": "Europe/Paris"}, "If-Match", `"0"`)
	s.waitUntilIdle()
}

// found returns the files below a directory that have one of the texts.
func found(t testing.TB, dir string, texts ...string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) || strings.Contains(path, text) {
				names = append(names, strings.TrimPrefix(path, dir)+": "+text)
			}
		}
		return nil
	}))
	return names
}

// derived returns what the API answers of a user.
func (s *system) derived(user string) string {
	s.t.Helper()
	was := s.user
	defer func() { s.user = was }()
	s.user = user
	var all []string
	for _, path := range []string{
		"/v1/me", "/v1/me/stats", "/v1/notes", "/v1/tasks", "/v1/reminders", "/v1/events", "/v1/me/feed", treePath,
		"/v1/archive",
	} {
		status, out := s.call("GET", path, nil)
		delete(out, "asOf")
		all = append(all, fmt.Sprint(path, status, out))
	}
	return strings.Join(all, "\n")
}

func TestPlatform_leavesNothingOfAnErasedUser(t *testing.T) {
	t.Parallel()
	const user, other = "d4b7a6f0-3c1e-4c59-9a2b-6f1f0e9d8c7b", "d4b7a6f0-3c1e-4c59-9a2b-6f1f0e9d8c7"
	dir := t.TempDir()
	s := startSystem(t, local.Options{DataDir: dir})
	s.live(user)
	s.live(other)
	s.advance("26h") // reminders are delivered, and the task is archived
	s.waitUntilIdle()
	require.NotEmpty(t, found(t, filepath.Join(dir, "events"), user))
	require.NotEmpty(t, found(t, filepath.Join(dir, "schedules"), user))
	swept := filepath.Join(dir, "engine", "sweeps.ndjson")
	require.NotEmpty(t, found(t, swept, user+`"`), "a timer has expired")
	before := s.derived(other)
	require.Contains(t, before, "plover-1 of "+other)

	erased := s.must("POST", "/dev/erase", object{"user": user, "now": true})
	require.Equal(t, "ERASED", erased["state"])
	s.user = other
	for range 3 {
		s.must("POST", "/dev/redeliver", object{"from": "start", "times": 3})
	}
	_, records := s.text("/dev/records?all=true")
	require.Contains(t, records, "of "+other+`"`, "law E3")
	require.Contains(t, records, `"ERASE#`)
	for _, text := range []string{user + `"`, user + "#", "of " + user + `"`} {
		require.NotContains(t, records, text)
	}
	verified, err := s.client.Post(s.URL()+"/dev/verify", "application/json", strings.NewReader(`{"repair":true}`))
	require.NoError(t, err)
	require.NoError(t, verified.Body.Close())
	require.Equal(t, http.StatusOK, verified.StatusCode)
	s.waitUntilIdle()
	require.Equal(t, before, s.derived(other), "law E3")
	s.stop()

	for _, text := range []string{user + `"`, user + "/", user + "#"} { // the other's id begins likewise
		for _, place := range []string{"events", "schedules", "blobs", "checkpoints"} {
			require.Empty(t, found(t, filepath.Join(dir, place), text), text)
		}
		require.Empty(t, found(t, swept, text), text)
	}
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "blobs"), func(file string, _ fs.DirEntry, err error) error {
		require.NotContains(t, file+"/", user+"+/", "the name of a folder")
		return err
	}))
	require.NotEmpty(t, found(t, swept, other+`"`), "law E3")
	for _, text := range []string{
		user + "\"", user + "#", user + "/", "of " + user + "\"",
		base64.StdEncoding.EncodeToString([]byte("USER#" + user))[:54],
	} {
		require.Empty(t, found(t, filepath.Join(dir, "engine"), text), text)
	}
	for _, file := range []string{"dynamodb.sqlite", "sweeps.ndjson"} {
		info, err := os.Stat(filepath.Join(dir, "engine", file))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), file)
	}
}

func TestPlatform_erasesAUserInMemoryWhenTheTimeHasCome(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	s.live("leaving")
	answer := s.must("POST", "/dev/erase", object{"user": "leaving"})
	require.Equal(t, "REQUESTED", answer["state"])
	s.user = "leaving"
	require.Equal(t, object{"eraseAt": answer["eraseAt"]}, s.must("GET", "/v1/me", nil)["leaving"])
	status, refused := s.call("POST", "/v1/notes", object{"title": "n", "body": "b"})
	require.Equal(t, http.StatusForbidden, status)
	require.Equal(t, answer["eraseAt"], refused["eraseAt"])
	s.advance("160h")
	require.Contains(t, s.derived("leaving"), "plover-1 of leaving")
	s.advance("9h")
	s.waitUntilIdle()
	require.NotContains(t, s.derived("leaving"), "plover-")
	status, refused = s.call("POST", "/v1/notes", object{"title": "n", "body": "b"})
	require.Equal(t, http.StatusForbidden, status)
	require.Equal(t, "/problems/account-erased", refused["type"])
	_, names := s.ask("GET", "/dev/blobs?prefix=erased/", "", nil)
	require.Contains(t, string(names), "erased/")
	s.advance("959h")
	_, names = s.ask("GET", "/dev/blobs?prefix=erased/", "", nil)
	require.Contains(t, string(names), "erased/")
	s.advance("1h") // 40 days
	_, names = s.ask("GET", "/dev/blobs?prefix=erased/", "", nil)
	require.NotContains(t, string(names), "erased/")
	s.must("POST", "/v1/notes", object{"title": "a stranger", "body": "b"})
	status, refusal := s.call("POST", "/dev/erase", object{"user": "a#b"})
	require.Equal(t, http.StatusUnprocessableEntity, status, refusal)
}

// An account that leaves can be exported, and takes no import. One that was erased takes neither.
func TestPlatform_refusesTransfersOfAnAccountThatLeavesOrIsErased(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	const media = "application/zip"
	s.live("giver")
	export := func(user string) (int, []byte) {
		return s.ask("POST", "/dev/export", "application/json", []byte(`{"user":"`+user+`"}`))
	}
	status, file := export("giver")
	require.Equal(t, http.StatusOK, status)
	s.user = "goer"
	s.must("DELETE", "/v1/me", nil)
	status, refused := s.ask("POST", "/dev/import?user=goer", media, file)
	require.Equal(t, http.StatusConflict, status, "%s", refused)
	require.Contains(t, string(refused), "is to be erased")
	status, _ = export("goer")
	require.Equal(t, http.StatusOK, status)
	s.must("POST", "/dev/erase", object{"user": "giver", "now": true})
	status, refused = export("giver")
	require.Equal(t, http.StatusConflict, status, "%s", refused)
	require.Contains(t, string(refused), "the account is erased")
	status, _ = s.ask("POST", "/dev/import?user=giver", media, file)
	require.Equal(t, http.StatusConflict, status)
	s.user = "goer"
	s.must("POST", "/v1/me/restore", nil)
	status, report := s.ask("POST", "/dev/import?user=goer", media, file)
	require.Equal(t, http.StatusOK, status, "%s", report)
}

// What the platform erases by itself, as it looks for what is due whenever its clock moves, it tells only its log.
func TestErase_tellsWhoeverAskedWhatItDid(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	ctx, stop := context.WithCancel(t.Context())
	var looks sync.WaitGroup
	looks.Go(func() {
		for ctx.Err() == nil {
			post(ctx, s.URL()+"/dev/clock", `{"advance":"1s"}`)
		}
	})
	for n := range 100 {
		s.user = fmt.Sprint("leaver-", n)
		s.must("POST", "/v1/notes", object{"title": "t", "body": "b"})
		answer := s.must("POST", "/dev/erase", object{"user": s.user, "now": true})
		require.NotNil(t, answer["erasure"], "%v", answer)
	}
	stop()
	looks.Wait()
}

// post sends a request whose answer does not matter.
func post(ctx context.Context, url, body string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	if answer, err := http.DefaultClient.Do(r); err == nil {
		answer.Body.Close()
	}
}
