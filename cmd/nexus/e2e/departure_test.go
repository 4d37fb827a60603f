package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// notice is the time between a request to leave and the erasure.
	notice = 7 * 24 * time.Hour
	// erasureBound is how long after its time an account is erased, for those with little.
	erasureBound = 31 * time.Minute
	// remembered is for how long an id is kept from being used again.
	remembered = 40 * 24 * time.Hour
)

// Random lives of several users are judged by docs/privacy.md, docs/contracts.md and docs/operations.md alone: one user

// leaves, comes back, leaves for good, and is a stranger in the end.

func TestDev_leavesNothingOfALifeThatWasErasedAndOthersAsTheyWere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("lives of several users take most of a minute")
	}
	first := seed(t)
	for n := range amount(t, "lives", 1, 40) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			departs(t, first+uint64(n))
		})
	}
}

// ways are those in which an erasure is asked for and comes about.

func departs(t *testing.T, of uint64) {
	t.Helper()
	t.Logf("%s=%d plays this life alone as the first", seedVariable, of)
	chance := rand.New(rand.NewPCG(of, 1))
	limits := []string{"--limit", "user=1000000", "--limit", "zone=1000000", "--limit", "daily-exports=100000"}
	s := onDirectory(t, limits...)
	s.noon(1)
	id := fmt.Sprintf("k%012x", chance.Uint64()>>16)
	leaver := s.life(id, chance)
	longer := id + "-2"
	if chance.IntN(2) == 0 { // then the engine's file is searched for the id, too
		longer = id[:len(id)-1] + "-2"
	}
	others := []*life{s.life(longer, chance), s.life(id[:len(id)-1], chance), s.life("neighbour", chance)}
	all := append([]*life{leaver}, others...)
	for _, l := range all {
		l.begin()
		l.goOn(4 + chance.IntN(12))
	}
	for _, days := range []int{1 + chance.IntN(2), 8 + chance.IntN(3)} {
		s.noon(days)
		for _, l := range all {
			l.goOn(3 + chance.IntN(8))
		}
	}
	leaver.shares()
	s.advance(10 * time.Minute) // away from all that falls due whole days after something was done
	s.waitUntilIdle()
	file, taken := s.export(leaver.user)
	leaver.requireComplete(taken)
	requireSame(t, taken, leaver.exportByJob(), "the export by a job")
	leaver.requireMoves(file, taken, s.now(), limits)
	leaver.requireReturn()

	stream, copied := s.record(), ""
	if chance.IntN(3) == 0 {
		copied = s.copyEngine()
	}
	_, unchanged := s.export(leaver.user)
	filled := leaver.filled()
	_, found := s.search(leaver, others, true)
	for _, where := range []string{"events/events.ndjson", "the table", "the name of a file"} { // the search can find
		require.True(t, slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, where) }), where)
	}
	before := leaver.erase(pick(leaver, ways...), others, unchanged)
	leaver.requireErased(filled)
	for i, other := range others {
		_, after := s.export(other.user)
		requireSame(t, before[i], after, "neighbour "+other.user)
	}
	s.requireNoTrace(leaver, others, true)
	leaver.requireRemains(1)
	leaver.requireNothingBringsBack(stream, file)
	leaver.requireErased(filled)
	s.requireNoTrace(leaver, others, true)
	if copied != "" {
		s.restoreEngine(copied)
		leaver.requireErased(filled)
		s.requireNoTrace(leaver, others, true)
	}
	s.interrupt()
	t.Logf("%d files without a trace; answers %v", s.requireNoTrace(leaver, others, false), leaver.answers)

	s.start()
	s.advance(remembered - 24*time.Hour)
	leaver.requireErased(filled)
	s.advance(25 * time.Hour)
	s.waitUntilIdle()
	s.requireNoTrace(leaver, others, true)
	leaver.requireStranger(filled)
	leaver.requireRemains(0)
	leaver.requireNewLife()
	_, remaining := s.verified(true)
	require.Zero(t, remaining)
}

// record captures the stream, with what no consumer gets.

func (s *system) record() (file string) {
	s.t.Helper()
	file = filepath.Join(s.t.TempDir(), "stream.ndjson")
	code, _, stderr := s.run("record", "--dev", s.url(), "--all", "--out", file)
	require.Zero(s.t, code, stderr)
	return file
}

// copyEngine stops the system, copies the directory of its table, and starts it again.

// restoreEngine puts the copy of the table's directory back, and erases again whom it brought back.

// calendar is a file of another program's.

func (l *life) calendar() (file string) {
	l.system.t.Helper()
	file = filepath.Join(l.system.t.TempDir(), "calendar.ics")
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:one@example.com\r\n" +
		"DTSTAMP:20260301T120000Z\r\nDTSTART:20270101T090000Z\r\nSUMMARY:one\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	require.NoError(l.system.t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// poison puts a row that no consumer can process: its record is parked.

// requireReturn leaves, looks at what an account that leaves can do, and comes back: everything is as it was.

func (l *life) requireReturn() {
	l.system.t.Helper()
	s := l.system
	_, before := s.export(l.user)
	asked := s.now()
	leave := request{method: http.MethodDelete, path: "/v1/me"}
	at := l.do(http.StatusAccepted, leave).object()
	require.NotEmpty(s.t, at["remains"])
	when, err := time.Parse(time.RFC3339, at["eraseAt"].(string))
	require.NoError(s.t, err)
	require.WithinDuration(s.t, asked.Add(notice), when, 5*time.Second, "the time of the erasure")
	require.Equal(s.t, at["eraseAt"], l.do(http.StatusAccepted, leave).object()["eraseAt"], "a repetition changes nothing")
	l.requireLeaving(at["eraseAt"])
	_, leaving := s.export(l.user)
	requireSame(s.t, before, leaving, "an account that leaves")
	requireSame(s.t, before, l.exportByJob(), "an account that leaves, by a job")
	code, _, stderr := s.run("verify", "--dev", s.url(), "--user", l.user)
	require.Zero(s.t, code, stderr)
	back := l.do(http.StatusOK, request{method: http.MethodPost, path: "/v1/me/restore"}).object()
	seconds, err := wholeNumber(back, "writesAfterSeconds")
	require.NoError(s.t, err)
	require.LessOrEqual(s.t, seconds, int64(60))
	_, after := s.export(l.user)
	requireSame(s.t, before, after, "an account that came back")
	s.advance(5*time.Minute + time.Second)
	late, err := s.anonymous().call(s.t.Context(), request{method: http.MethodGet, path: l.job["url"].(string)})
	require.NoError(s.t, err)
	require.GreaterOrEqual(s.t, late.status, 400, "the address of a file after 5 minutes")
	s.advance(time.Duration(seconds) * time.Second)
	l.create("notes", map[string]any{"title": l.text("back again")})
	l.shares()
	s.waitUntilIdle()
}

// erase has the account erased in one of the ways, and returns the exports of the others from just before.

// rang says whether a reminder of the user rang since then.

// requireNothingBringsBack gives all that was before to the consumers again, and repairs.

// requireNewLife begins again under the id: every id that was used is free.

func (l *life) requireNewLife() {
	l.system.t.Helper()
	for id := range l.ids {
		if strings.HasPrefix(id, "task_") {
			l.create("tasks", map[string]any{"taskId": id, "title": "another life"})
		}
	}
	for _, name := range []string{"/v1/values", "/v1/me/feed"} {
		l.do(http.StatusNotFound, request{method: http.MethodGet, path: name})
	}
}
