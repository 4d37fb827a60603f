package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
)

var ways = []string{"the user", "the operator", "at once", "over HTTP", "killed", "offline"}

func (s *system) copyEngine() (dir string) {
	s.t.Helper()
	code, _ := s.interrupt()
	require.Zero(s.t, code)
	dir = s.t.TempDir()
	require.NoError(s.t, os.CopyFS(dir, os.DirFS(filepath.Join(s.data, "engine"))))
	s.start()
	return dir
}

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

func (l *life) poison() {
	l.system.t.Helper()
	db, table := l.system.straight()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	item := map[string]types.AttributeValue{
		"PK": text("USER#" + l.user), "SK": text("TASK#task_" + l.uuid()), "entityType": text("TASK"),
		"version": text(l.text("version")), "title": text(l.text("poison")),
	}
	_, err := db.PutItem(l.system.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item})
	require.NoError(l.system.t, err)
	l.system.waitUntilIdle()
	require.NotEmpty(l.system.t, l.system.parked())
}

func (l *life) erase(way string, others []*life, unchanged exported) (before []exported) {
	s := l.system
	s.t.Helper()
	s.t.Logf("erased by %s", way)
	take := func() {
		l.poison()
		l.requireCounted()
		for _, other := range others {
			_, content := s.export(other.user)
			before = append(before, content)
		}
	}
	command := func(status int, args ...string) string {
		code, stdout, stderr := s.run(append([]string{"erase", "--dev", s.url()}, args...)...)
		require.Equal(s.t, status, code, "%s%s", stdout, stderr)
		return stdout
	}
	command(1, "--user", l.user+"x", "--now") // of whom there is nothing
	switch way {
	case "offline":
		take()
		code, _ := s.interrupt()
		require.Zero(s.t, code)
		code, stdout, stderr := s.run("erase", "--data", s.data, "--user", l.user, "--now")
		require.Zero(s.t, code, stderr)
		l.requireProof(stdout)
		s.start()
	case "at once":
		take()
		l.requireProof(command(0, "--user", l.user, "--now"))
	case "over HTTP":
		take()
		var out struct{ State string }
		lines, stop := s.hear()
		told := make(chan bool)
		go func() {
			found := false
			for line := range lines {
				found = found || strings.Contains(line, "UserErased") && strings.Contains(line, l.user)
			}
			told <- found
		}()
		s.dev(http.MethodPost, "/dev/erase", map[string]any{"user": l.user, "now": true}, &out)
		l.system.waitUntilIdle()
		stop()
		require.True(s.t, <-told, "the subscribers of the bus are told")
		l.requireProof(s.process().stderr.text())
		require.Equal(s.t, "ERASED", out.State)
	case "killed":
		take()
		lines, stop := s.hear()
		p := begin(s.t, launch{
			args: []string{"erase", "--dev", s.url(), "--user", l.user, "--now"}, env: os.Environ(), dir: s.t.TempDir(),
		})
		for range l.chance.IntN(120) {
			if _, goesOn := <-lines; !goesOn {
				break
			}
		}
		s.kill()
		stop()
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
		l.requireProof(s.process().stderr.text())
	}
	return before
}

func (l *life) rang(since time.Time) bool {
	for _, e := range l.system.events() {
		if e.Type == "ReminderDue" && e.Detail.UserID == l.user && e.Detail.DueUtc.After(since) {
			return true
		}
	}
	return false
}

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
	out := filepath.Join(s.t.TempDir(), "account.zip")
	code, _, stderr = s.run("export", "--all", "--dev", s.url(), "--user", l.user, "--out", out)
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

// requireProof looks for the line that an operator keeps, with the name that the pepper gives the account.
func (l *life) requireProof(text string) {
	s := l.system
	s.t.Helper()
	code, name, stderr := s.run("pseudonym", "--account", l.user, "--data", s.data)
	require.Zero(s.t, code, stderr)
	require.Regexp(s.t, `account erased.*`+strings.TrimSpace(name), text)
	for _, member := range []string{"removed", "passes", "requestedAt", "begunAt"} {
		require.Contains(s.t, text, member)
	}
}

// requireCounted compares what a dry run counts with what the table and the lists of the system have.
func (l *life) requireCounted() {
	s := l.system
	s.t.Helper()
	code, stdout, stderr := s.run("erase", "--dev", s.url(), "--user", l.user, "--dry-run")
	require.Zero(s.t, code, stderr)
	var counted map[string]int
	require.NoError(s.t, decode([]byte(stdout), &counted), stdout)
	want := map[string]int{"schedules": 0, "repositories": 0, "objects": 0, "parked": len(s.parked()), "rows": 0}
	for _, r := range s.scan() {
		partition := r.text("PK")
		if partition == "USER#"+l.user {
			want["rows"]++
		}
		if partition == "U#"+l.user || strings.HasPrefix(partition, "U#"+l.user+"#") {
			want["repositories"]++
		}
	}
	for _, planned := range s.pending() {
		if planned.Payload.UserID == l.user {
			want["schedules"]++
		}
	}
	for _, prefix := range []string{"archive/", "exports/", "snap/"} {
		var objects struct{ Items []string }
		s.dev(http.MethodGet, "/dev/blobs?limit=1000&prefix="+prefix+l.user+"/", nil, &objects)
		want["objects"] += len(objects.Items)
	}
	for _, line := range s.lines("events", "events.ndjson") {
		var detail struct{ UserID string }
		if require.NoError(s.t, json.Unmarshal(line["detail"], &detail)); detail.UserID == l.user {
			want["events"]++
		}
	}
	expired := map[string]bool{} // a row has a line for each step of its end
	for _, line := range s.lines("engine", "sweeps.ndjson") {
		var pk string
		require.NoError(s.t, json.Unmarshal(line["pk"], &pk))
		if pk == "USER#"+l.user || pk == "U#"+l.user || strings.HasPrefix(pk, "U#"+l.user+"#") {
			expired[fmt.Sprintf("%s %s %s %s", pk, line["sk"], line["ttl"], line["version"])] = true
		}
	}
	if len(expired) > 0 {
		want["expired"] = len(expired)
	}
	require.Equal(s.t, want, counted, "what there is of %s", l.user)
}

// lines are those of a file of the system, each an object of JSON.
func (s *system) lines(path ...string) (all []map[string]json.RawMessage) {
	s.t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{s.data}, path...)...))
	require.NoError(s.t, err)
	for line := range strings.Lines(string(content)) {
		var one map[string]json.RawMessage
		require.NoError(s.t, json.Unmarshal([]byte(line), &one))
		all = append(all, one)
	}
	return all
}
