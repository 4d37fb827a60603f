package e2e_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// once sends a request under a key, and the same again: the second answer says that it is a repetition.
func (l *life) once(status int, r request) (again func(status int) answer) {
	l.system.t.Helper()
	require.Empty(l.system.t, l.do(status, r).header.Get("Idempotency-Replayed"), "%s %s", r.method, r.path)
	again = func(status int) answer {
		l.system.t.Helper()
		got := l.do(status, r)
		require.Equal(l.system.t, "true", got.header.Get("Idempotency-Replayed"), "%s %s: %s", r.method, r.path, got)
		return got
	}
	again(status)
	return again
}

// A late repetition under an idempotency key deletes, prunes, leaves and returns no second time, and a key that another
// request used is refused.
func TestDev_carriesAWriteUnderAKeyOutOnce(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	l := s.life("repeater", rand.New(rand.NewPCG(seed(t), 4)))
	l.do(http.StatusCreated, request{method: http.MethodPost, path: "/v1/notes", body: note(0), key: "taken"})
	l.day = s.now().UTC()
	date := l.day.Format(time.DateOnly)
	at := "/v1/plans/" + date
	commit := func(parent any) any {
		body := map[string]any{"reason": "morning_plan", "todos": []any{}, "blocks": []any{}}
		if parent != nil {
			body["parentRevId"] = parent
		}
		return l.do(http.StatusCreated, request{
			method: http.MethodPost, path: at + "/revisions", body: body,
		}).object()["revId"]
	}
	prune := request{
		method: http.MethodPost, path: at + "/prune", body: map[string]any{"keep": map[string]any{"last": 1}}, key: "prune",
	}
	commit(commit(nil))
	pruneAgain := l.once(http.StatusOK, prune)
	commit(l.get(at)["revId"])
	pruneAgain(http.StatusOK)
	require.Len(t, l.list(at+"/revisions"), 2)
	other := prune
	other.body = map[string]any{"keep": map[string]any{"last": 2}}
	l.do(http.StatusUnprocessableEntity, other)

	s.advance(time.Minute)
	deleteAgain := l.once(http.StatusNoContent, request{method: http.MethodDelete, path: at, key: "delete"})
	made := commit(nil)
	s.advance(time.Hour)
	deleteAgain(http.StatusNoContent)
	require.Equal(t, made, l.get(at)["revId"])

	leaveAgain := l.once(http.StatusAccepted, request{method: http.MethodDelete, path: "/v1/me", key: "leave"})
	returnAgain := l.once(http.StatusOK, request{method: http.MethodPost, path: "/v1/me/restore", key: "return"})
	s.advance(time.Hour)
	leaveAgain(http.StatusNoContent)
	require.Nil(t, l.get("/v1/me")["leaving"])
	l.do(http.StatusAccepted, request{method: http.MethodDelete, path: "/v1/me"})
	returnAgain(http.StatusOK)
	require.NotNil(t, l.get("/v1/me")["leaving"])
	l.do(http.StatusOK, request{method: http.MethodPost, path: "/v1/me/restore"})
	s.advance(time.Minute)

	for _, r := range []request{
		{method: http.MethodDelete, path: at}, prune, {method: http.MethodDelete, path: "/v1/me"},
		{method: http.MethodPost, path: "/v1/me/restore"},
	} {
		r.key = "taken"
		got := l.do(http.StatusUnprocessableEntity, r)
		require.Equal(t, "/problems/idempotency-key-reused", got.object()["type"], "%s %s", r.method, r.path)
	}
}

// A damaged row is named in the manifest, by both ways of an export, and blocks neither. Until the erasure has ended an
// account that leaves takes no import. Afterwards no folder is named after the user, and an export is refused.
func TestDev_exportsAndErasesAnAccountWithADamagedRow(t *testing.T) {
	t.Parallel()
	s := onDirectory(t, "--limit", "daily-exports=100")
	chance := rand.New(rand.NewPCG(seed(t), 5))
	l := s.life(fmt.Sprintf("damaged%08x", chance.Uint32()), chance)
	l.begin()
	l.poison()
	file, taken := s.export(l.user)
	requireMissing(t, taken, "task_")
	requireSame(t, taken, l.exportByJob(), "the export by a job")

	goer := s.life("goer", chance)
	goer.do(http.StatusAccepted, request{method: http.MethodDelete, path: "/v1/me"})
	code, _, stderr := s.run("import", "--all", "--dev", s.url(), "--user", goer.user, file)
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stderr, "is to be erased")

	s.dev(http.MethodPost, "/dev/erase", map[string]any{"user": l.user, "now": true}, nil)
	s.waitUntilIdle()
	got, err := s.anonymous().call(t.Context(), request{
		method: http.MethodPost, path: "/dev/export", body: map[string]any{"user": l.user},
	})
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, got.status, "%s", got)
	require.NoError(t, filepath.WalkDir(filepath.Join(s.data, "blobs"), func(path string, _ fs.DirEntry, err error) error {
		require.NotContains(t, path, l.user)
		return err
	}))
	code, _, stderr = s.run("erase", "--dev", s.url(), "--due")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "erases by itself")
}

// requireMissing requires that a manifest names one thing, whose id begins so.
func requireMissing(t *testing.T, of exported, prefix string) {
	t.Helper()
	var manifest struct{ Missing []struct{ ID, Why string } }
	require.NoError(t, decode(of["manifest.json"], &manifest))
	require.Len(t, manifest.Missing, 1)
	require.True(t, strings.HasPrefix(manifest.Missing[0].ID, prefix), "%v", manifest.Missing)
	require.NotEmpty(t, manifest.Missing[0].Why)
}
