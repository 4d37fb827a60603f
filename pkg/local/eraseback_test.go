package local_test

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/local"
)

// past is a directory of data whose table can be set back to an earlier state. Nothing else is.
type past struct {
	testing.TB
	dir, engine string
}

// keepPast copies the table of a system that does not run.
func keepPast(t testing.TB, dir string) past {
	t.Helper()
	p := past{t, dir, filepath.Join(t.TempDir(), "engine")}
	require.NoError(t, os.CopyFS(p.engine, os.DirFS(filepath.Join(dir, "engine"))))
	return p
}

// putBack sets the table back.
func (p past) putBack() {
	p.Helper()
	require.NoError(p, os.RemoveAll(filepath.Join(p.dir, "engine")))
	require.NoError(p, os.CopyFS(filepath.Join(p.dir, "engine"), os.DirFS(p.engine)))
}

// lived returns a directory in which two users have lived, and its past.
func lived(t *testing.T) (s *system, of past) {
	t.Helper()
	dir := t.TempDir()
	s, _ = onDirectory(t, dir)
	s.live("goer")
	s.live("stayer")
	s.stop()
	of = keepPast(t, dir)
	s, _ = onDirectory(t, dir)
	return s, of
}

// requireNothingServed requires that nothing of the erased user is served by any path.
func (s *system) requireNothingServed(user string) {
	s.t.Helper()
	require.Equal(s.t, object{
		"schedules": 0.0, "repositories": 0.0, "objects": 0.0, "parked": 0.0, "rows": 0.0,
	}, s.must("POST", "/dev/erase", object{"user": user, "dryRun": true}))
	for _, path := range []string{"/dev/records?all=true", "/dev/events", "/dev/schedules", "/dev/parked"} {
		response, text := s.text(path)
		require.Equal(s.t, http.StatusOK, response.StatusCode, path)
		require.NotContains(s.t, text, user, path)
	}
}

func TestStart_erasesAgainWhomAnOlderTableBroughtBack(t *testing.T) {
	t.Parallel()
	for what, forget := range map[string]string{"checkpoints that are ahead": "", "no checkpoint": "checkpoints"} {
		s, of := lived(t)
		before := s.derived("stayer")
		s.must("POST", "/dev/erase", object{"user": "goer", "now": true})
		s.stop()
		of.putBack()
		if forget != "" {
			require.NoError(t, os.RemoveAll(filepath.Join(of.dir, forget)))
		}

		s, log := onDirectory(t, of.dir)
		s.user = "goer"
		status, refused := s.call("GET", "/v1/me", nil)
		require.Equal(t, http.StatusForbidden, status, what)
		require.Equal(t, "/problems/account-erased", refused["type"])
		s.waitUntilIdle()
		s.requireNothingServed("goer")
		require.Equal(t, before, s.derived("stayer"), "law E3")
		require.Contains(t, log.String(), "accounts that it brought back were erased again")
		told := s.must("POST", "/dev/erase", object{"again": true})
		require.Equal(t, 1.0, told["erased"], "what the start has done: %v", told)
		require.Equal(t, 0.0, s.must("POST", "/dev/erase", object{"again": true})["erased"])
		s.stop()
		_, log = onDirectory(t, of.dir)
		require.NotContains(t, log.String(), "set back", "it is put right for good")
	}
}

// A request to leave is not lost with the table, and one that was taken back does not come back with it.
func TestStart_keepsRequestsOfAnOlderTableAsTheyAre(t *testing.T) {
	t.Parallel()
	s, of := lived(t)
	s.user = "stayer"
	s.must("DELETE", "/v1/me", nil)
	s.waitUntilIdle()
	s.stop()
	of = keepPast(t, of.dir)
	s, _ = onDirectory(t, of.dir)
	s.user = "stayer"
	s.must("POST", "/v1/me/restore", nil)
	s.user = "goer"
	s.must("DELETE", "/v1/me", nil)
	s.waitUntilIdle()
	s.stop()
	of.putBack()
	s, _ = onDirectory(t, of.dir)
	s.user = "stayer"
	require.NotContains(t, s.must("GET", "/v1/me", nil), "leaving")
	s.user = "goer"
	require.Contains(t, s.must("GET", "/v1/me", nil), "leaving")
}

func TestStart_refusesATableWithAUserWhomNothingErasesAgain(t *testing.T) {
	t.Parallel()
	s, of := lived(t)
	s.must("POST", "/dev/erase", object{"user": "goer", "now": true})
	s.advance("936h") // 39 days
	s.stop()
	of.putBack()
	for _, options := range []local.Options{{}, {EraseAgain: true}} {
		options.DataDir, options.Addr = of.dir, "127.0.0.1:0"
		_, err := local.Start(t.Context(), options)
		require.ErrorIs(t, err, account.ErrTooOld)
		require.ErrorContains(t, err, "rows of 1 accounts that were erased more than 38 days ago")
		require.ErrorContains(t, err, "--user USER --now")
	}
	require.NoError(t, os.RemoveAll(filepath.Join(of.dir, "checkpoints"))) // there is much to do
	log := &logged{}
	s = startSystem(t, local.Options{DataDir: of.dir, Despite: true, Log: slog.New(slog.NewTextHandler(log, nil))})
	s.must("POST", "/dev/erase", object{"user": "goer", "now": true})
	reminded := map[string]bool{}
	for _, found := range regexp.MustCompile(`msg="reminder .* user=(\w+)`).FindAllStringSubmatch(log.String(), -1) {
		reminded[found[1]] = true
	}
	require.Len(t, reminded, 1, "the repair reminds the user who stays alone")
	for _, reader := range s.must("GET", "/dev/lag", nil)["readers"].([]any) {
		for _, consumer := range reader.(object)["consumers"].([]any) {
			require.Zero(t, consumer.(object)["records"], "no consumer works on a table that brought users back")
		}
	}
	s.stop()
	s, _ = onDirectory(t, of.dir)
	s.requireNothingServed("goer")
}

func TestStart_saysThatATableIsTooOldForTheList(t *testing.T) {
	t.Parallel()
	s, of := lived(t)
	s.must("POST", "/dev/erase", object{"user": "goer", "now": true})
	s.advance("984h") // 41 days
	s.waitUntilIdle()
	s.stop()
	of.putBack()
	s, log := onDirectory(t, of.dir)
	require.Contains(t, log.String(), "nothing vouches for the table")
	told := s.must("POST", "/dev/erase", object{"again": true})
	require.Equal(t, true, told["isOld"], "%v", told)
}

// The stream has no record of an erased user any more, so nothing brings one back when the account's row has ended.
func TestPlatform_deliversNothingOfAnErasedUserAfterFortyDays(t *testing.T) {
	t.Parallel()
	for _, store := range []local.Store{local.DynamoDB, local.Memory} {
		options := local.Options{Store: store}
		if store == local.DynamoDB {
			options.DataDir = t.TempDir()
		}
		s := startSystem(t, options)
		s.live("goer")
		s.live("stayer")
		s.advance("30h")
		s.waitUntilIdle()
		s.must("POST", "/dev/erase", object{"user": "goer", "now": true})
		s.requireNothingServed("goer")
		s.advance("985h")
		s.waitUntilIdle()
		before := s.derived("stayer")
		s.must("POST", "/dev/redeliver", object{"from": "start"})
		s.waitUntilIdle()
		s.requireNothingServed("goer")
		if store == local.DynamoDB {
			s.stop()
			require.NoError(t, os.RemoveAll(filepath.Join(options.DataDir, "checkpoints")))
			s = startSystem(t, options)
			s.waitUntilIdle()
			s.requireNothingServed("goer")
		}
		require.Equal(t, before, s.derived("stayer"), "law E3")
		s.user = "goer"
		s.task("a stranger's")
	}
}
