package e2e_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// commandBound is how long a command line may take.
const commandBound = 60 * time.Second

// run runs the binary under test to its end.
func (s *system) run(args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	env := append(os.Environ(), engineVariable(s.t))
	p := begin(s.t, launch{binary: s.binary, args: args, env: env, dir: s.t.TempDir()})
	require.True(s.t, p.ended(commandBound), "nexus %v ends", args)
	return p.exit(s.t), p.stdout.text(), p.stderr.text()
}

// list reads all pages of a list.
func (c client) list(path string) (items []map[string]any) {
	c.system.t.Helper()
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	for cursor := ""; ; {
		page := struct {
			Items      []map[string]any `json:"items"`
			NextCursor string           `json:"nextCursor"`
		}{}
		at := path + mark + "limit=100"
		if cursor != "" {
			at += "&cursor=" + cursor
		}
		got := c.do(http.StatusOK, request{method: http.MethodGet, path: at})
		require.NoError(c.system.t, decode(got.body, &page), "%s: %s", at, got)
		items = append(items, page.Items...)
		if cursor = page.NextCursor; cursor == "" {
			return items
		}
	}
}

// exported is an account in a file, by the names of its parts.
type exported map[string][]byte

func unzip(t testing.TB, file []byte) exported {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	out := exported{}
	for _, f := range archive.File {
		in, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(in)
		require.NoError(t, err)
		require.NoError(t, in.Close())
		require.NotContains(t, out, f.Name)
		out[f.Name] = content
	}
	return out
}

// export takes an account out by the command, and returns the file too.
func (s *system) export(user string) (file string, content exported) {
	s.t.Helper()
	file = filepath.Join(s.t.TempDir(), "account.zip")
	code, _, stderr := s.run("export", "--all", "--dev", s.url(), "--user", user, "--out", file)
	require.Zero(s.t, code, stderr)
	raw, err := os.ReadFile(file)
	require.NoError(s.t, err)
	return file, unzip(s.t, raw)
}

// exportByJob takes an account out as its user does.
func (l *life) exportByJob() exported {
	l.system.t.Helper()
	at := l.do(http.StatusAccepted, request{method: http.MethodPost, path: "/v1/me/exports"}).header.Get("Location")
	l.system.waitUntilIdle()
	job := l.get(at)
	require.Equal(l.system.t, "DONE", job["state"], "%v", job)
	anyone := l.system.client("") // the address is all that one needs
	file := anyone.do(http.StatusOK, request{method: http.MethodGet, path: job["url"].(string)}).body
	l.job = job
	length, err := wholeNumber(job, "bytes")
	require.NoError(l.system.t, err)
	require.EqualValues(l.system.t, len(file), length)
	return unzip(l.system.t, file)
}

// period matches the members in which the manifests of two exports of one state differ.
var period = regexp.MustCompile(`"(from|to)": ?"[^"]*"`)

// requireSame compares two exports, but for the period in which they were made.
func requireSame(t testing.TB, want, got exported, what string) {
	t.Helper()
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), "%s: files", what)
	names := slices.Sorted(maps.Keys(want)) // the manifest, which says the least, comes last
	names = append(slices.DeleteFunc(names, func(name string) bool { return name == "manifest.json" }), "manifest.json")
	for _, name := range names {
		a, b := string(want[name]), string(got[name])
		if name == "manifest.json" {
			a, b = period.ReplaceAllString(a, ""), period.ReplaceAllString(b, "")
		}
		require.Equal(t, a, b, "%s: %s", what, name)
	}
}

// lines are the objects of a file of lines.
func (e exported) lines(t testing.TB, prefix string) (out []map[string]any) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(e)) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		require.True(t, len(e[name]) == 0 || bytes.HasSuffix(e[name], []byte("\n")), "%s ends with a line feed", name)
		for line := range strings.Lines(string(e[name])) {
			var object map[string]any
			require.NoError(t, decode([]byte(line), &object), "%s: %s", name, line)
			out = append(out, object)
		}
	}
	return out
}

// requireWhole holds the manifest against the files.
func (e exported) requireWhole(t testing.TB) {
	t.Helper()
	var manifest struct {
		Form   int            `json:"form"`
		Counts map[string]int `json:"counts"`
		Files  []struct {
			Name   string `json:"name"`
			Bytes  int    `json:"bytes"`
			Lines  int    `json:"lines"`
			SHA256 string `json:"sha256"`
		} `json:"files"`
		Missing []any `json:"missing"`
		LeftOut []struct{ What, Why string }
	}
	require.NoError(t, json.Unmarshal(e["manifest.json"], &manifest))
	require.Equal(t, 1, manifest.Form)
	require.Empty(t, manifest.Missing)
	require.NotEmpty(t, manifest.LeftOut)
	names := []string{"manifest.json"}
	for _, f := range manifest.Files {
		names = append(names, f.Name)
		sum := sha256.Sum256(e[f.Name])
		require.Equal(t, hex.EncodeToString(sum[:]), f.SHA256, f.Name)
		require.Equal(t, len(e[f.Name]), f.Bytes, f.Name)
		if strings.HasSuffix(f.Name, ".ndjson") {
			require.Equal(t, bytes.Count(e[f.Name], []byte("\n")), f.Lines, f.Name)
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(e)), names, "the files of the manifest")
	counts := map[string]int{
		"archived": len(e.lines(t, "archive/")), "gone": len(e.lines(t, "gone.ndjson")), "valuesRevisions": len(e.lines(t,
			"values/log.ndjson")),
	}
	for _, kind := range []string{"EVENT", "MASTER", "INSTANCE", "TASK", "REMINDER", "NOTE"} {
		counts[kind] = 0
	}
	for _, item := range e.lines(t, "items/") {
		counts[item["entityType"].(string)]++
	}
	for name := range e {
		if strings.HasPrefix(name, "plans/") && strings.HasSuffix(name, "/log.ndjson") {
			counts["plans"]++
			counts["planRevisions"] += len(e.lines(t, name))
		}
	}
	for name, n := range counts {
		require.Equal(t, n, manifest.Counts[name], "count %s of %v", name, manifest.Counts)
	}
}

// requireMoves takes an exported account into another system, under another id: both accounts have the same state.
func (l *life) requireMoves(file string, content exported, now time.Time, limits []string) {
	t := l.system.t
	t.Helper()
	there := ephemeral(t, limits...)
	there.dev(http.MethodPost, "/dev/clock", map[string]any{"set": now.Add(time.Second).UTC().Format(time.RFC3339)}, nil)
	user := there.life("mover", l.chance)
	user.day, user.dates, user.ids, user.becameID = l.day, l.dates, l.ids, l.becameID
	for range 2 { // a repetition has no effect
		code, stdout, stderr := there.run("import", "--all", "--dev", there.url(), "--user", user.user, file)
		require.Zero(t, code, "%s%s", stdout, stderr)
		there.waitUntilIdle()
		_, moved := there.export(user.user)
		requireSame(t, content, moved, "the account in another system")
	}
	_, moved := there.export(user.user)
	user.requireComplete(moved)
	for _, e := range there.events() {
		require.NotEqual(t, "ReminderDue", e.Type, "what was due before rings: %v", e)
	}
	code, stdout, stderr := there.run("verify", "--dev", there.url())
	require.Zero(t, code, "%s%s", stdout, stderr)
	here, gone := l.get("/v1/me/stats"), user.get("/v1/me/stats")
	for name := range here {
		if strings.HasPrefix(name, "total") {
			require.Equal(t, here[name], gone[name], name)
		}
	}
	// An account that has something takes no other file.
	used := there.client("used")
	used.create("notes", map[string]any{"title": "x"})
	there.waitUntilIdle()
	_, before := there.export("used")
	code, _, _ = there.run("import", "--all", "--dev", there.url(), "--user", "used", file)
	require.Equal(t, 1, code, "an import into an account that is not empty")
	_, after := there.export("used")
	requireSame(t, before, after, "an account that is not empty")
}
