package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	for n := range amount(t, "lives", 3, 40) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			departs(t, first+uint64(n))
		})
	}
}

// ways are those in which an erasure is asked for and comes about.
var ways = []string{"the user", "the operator", "at once", "over HTTP", "killed"}

func departs(t *testing.T, of uint64) {
	t.Helper()
	t.Logf("%s=%d plays this life alone as the first", seedVariable, of)
	chance := rand.New(rand.NewPCG(of, 1))
	limits := []string{"--limit", "user=1000000", "--limit", "zone=1000000", "--limit", "daily-exports=100000"}
	s := onDirectory(t, limits...)
	s.noon(1)
	id := fmt.Sprintf("k%012x", chance.Uint64()>>16)
	leaver := s.life(id, chance)
	others := []*life{s.life(id+"-2", chance), s.life(id[:len(id)-1], chance), s.life("neighbour", chance)}
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
	leaver.requireStranger(filled)
	s.requireNoTrace(leaver, others, true)
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
func (s *system) copyEngine() (dir string) {
	s.t.Helper()
	code, _ := s.interrupt()
	require.Zero(s.t, code)
	dir = s.t.TempDir()
	require.NoError(s.t, os.CopyFS(dir, os.DirFS(filepath.Join(s.data, "engine"))))
	s.start()
	return dir
}

// restoreEngine puts the copy of the table's directory back, and erases again whom it brought back.
func (s *system) restoreEngine(dir string) {
	s.t.Helper()
	code, _ := s.interrupt()
	require.Zero(s.t, code)
	require.NoError(s.t, os.RemoveAll(filepath.Join(s.data, "engine")))
	require.NoError(s.t, os.CopyFS(filepath.Join(s.data, "engine"), os.DirFS(dir)))
	s.start()
	code, stdout, stderr := s.run("erase", "--dev", s.url(), "--again")
	require.Zero(s.t, code, "%s%s", stdout, stderr)
	s.waitUntilIdle()
	_, remaining := s.verified(true)
	require.Zero(s.t, remaining)
}

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
func (l *life) poison() {
	l.system.t.Helper()
	db, table := l.system.straight()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	_, err := db.PutItem(l.system.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{
		"PK": text("USER#" + l.user), "SK": text("TASK#task_" + l.uuid()), "entityType": text("TASK"),
		"version": text(l.text("version")), "title": text(l.text("poison")),
	}})
	require.NoError(l.system.t, err)
	l.system.waitUntilIdle()
	require.NotEmpty(l.system.t, l.system.parked())
}

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
	l.requireLeaving()
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
	late, err := s.client("").call(s.t.Context(), request{method: http.MethodGet, path: l.job["url"].(string)})
	require.NoError(s.t, err)
	require.GreaterOrEqual(s.t, late.status, 400, "the address of a file after 5 minutes")
	s.advance(time.Duration(seconds) * time.Second)
	l.create("notes", map[string]any{"title": l.text("back again")})
	l.shares()
	s.waitUntilIdle()
}

// erase has the account erased in one of the ways, and returns the exports of the others from just before.
func (l *life) erase(way string, others []*life, unchanged exported) (before []exported) {
	s := l.system
	s.t.Helper()
	s.t.Logf("erased by %s", way)
	take := func() {
		l.poison()
		for _, other := range others {
			_, content := s.export(other.user)
			before = append(before, content)
		}
	}
	command := func(status int, args ...string) {
		code, stdout, stderr := s.run(append([]string{"erase", "--dev", s.url()}, args...)...)
		require.Equal(s.t, status, code, "%s%s", stdout, stderr)
	}
	switch way {
	case "at once":
		take()
		command(0, "--user", l.user, "--now")
	case "over HTTP":
		take()
		var out struct{ State string }
		s.hears(func() {
			s.dev(http.MethodPost, "/dev/erase", map[string]any{"user": l.user, "now": true}, &out)
		}, "UserErased", l.user)
		require.Equal(s.t, "ERASED", out.State)
	case "killed":
		take()
		p := begin(s.t, launch{
			args: []string{"erase", "--dev", s.url(), "--user", l.user, "--now"}, env: os.Environ(), dir: s.t.TempDir(),
		})
		time.Sleep(time.Duration(l.chance.IntN(60)) * time.Millisecond)
		s.kill()
		require.True(s.t, p.ended(commandBound))
		s.start()
		command(0, "--user", l.user, "--now")
	default:
		if way == "the operator" {
			command(0, "--user", l.user)
		} else {
			l.do(http.StatusAccepted, request{method: http.MethodDelete, path: "/v1/me"})
		}
		_, leaving := s.export(l.user)
		requireSame(s.t, unchanged, leaving, "an account that leaves")
		s.advance(notice - 2*time.Minute)
		s.waitUntilIdle()
		l.get("/v1/me") // not before its time
		require.True(s.t, l.rang(s.now().Add(-notice)), "reminders of an account that leaves ring")
		take()
		s.advance(erasureBound + 2*time.Minute)
		s.waitUntilIdle()
	}
	return before
}

// rang says whether a reminder of the user rang since then.
func (l *life) rang(since time.Time) bool {
	for _, e := range l.system.events() {
		if e.Type == "ReminderDue" && e.Detail.UserID == l.user && e.Detail.DueUtc.After(since) {
			return true
		}
	}
	return false
}

// requireNothingBringsBack gives all that was before to the consumers again, and repairs.
func (l *life) requireNothingBringsBack(stream, file string) {
	s := l.system
	s.t.Helper()
	require.Positive(s.t, s.redeliver(2))
	code, stdout, stderr := s.run("replay", "--dev", s.url(), stream)
	require.Zero(s.t, code, "%s%s", stdout, stderr)
	for what, text := range map[string]string{"standard output": stdout, "standard error": stderr} {
		require.False(s.t, strings.Contains(text, l.word), "the word in the %s of a replay", what)
	}
	code, _, stderr = s.run("import", "--all", "--dev", s.url(), "--user", l.user, file)
	require.Equal(s.t, 1, code, "an import into an erased account: %s", stderr)
	code, _, stderr = s.run("export", "--all", "--dev", s.url(), "--user", l.user, "--out", filepath.Join(s.t.TempDir(), "x"))
	require.Equal(s.t, 1, code, "an export of an erased account: %s", stderr)
	for _, args := range [][]string{{}, {"--repair"}, {"--user", l.user}, {"--user", l.user, "--repair"}} {
		code, stdout, stderr = s.run(append([]string{"verify", "--dev", s.url()}, args...)...)
		require.Zero(s.t, code, "verify %v: %s%s", args, stdout, stderr)
	}
	for _, args := range [][]string{{"--user", l.user, "--now"}, {"--again"}} {
		code, _, stderr = s.run(append([]string{"erase", "--dev", s.url()}, args...)...)
		require.Zero(s.t, code, "an erasure again, %v: %s", args, stderr)
	}
	s.waitUntilIdle()
}

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
