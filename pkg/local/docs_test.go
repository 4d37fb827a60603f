package local_test

import (
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// sampleOf finds an operation's id and its sample for a shell in the page.
var sampleOf = regexp.MustCompile(`(?s)<article id="(\w+)" class="operation".*?<summary>curl</summary>` +
	`<pre tabindex="0"><code>(.*?)</code>`)

// documentation returns the page of /docs.
func (s *system) documentation() string {
	s.t.Helper()
	response, err := s.client.Get(s.URL() + "/docs")
	require.NoError(s.t, err)
	page, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	return string(page)
}

// guideOf finds the commands of a guide, and expected the statuses that they are said to have.
var (
	guideOf  = regexp.MustCompile(`(?s)<pre class="guide" tabindex="0"><code>(.*?)</code>`)
	expected = regexp.MustCompile(` # (\d{3})(?m:$)`)
)

// A reader who follows the guides gets the answers that they tell of.
func TestPlatform_answersAsItsGuidesSay(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: no curl, so the guides of /docs were not played")
	}
	s := startSystem(t, local.Options{Store: local.Memory})
	statuses := filepath.Join(t.TempDir(), "statuses")
	script := "set -e\ncurl() { command curl -s -m 10 -D - -o body \"$@\" | sed -n '1s/^HTTP[^ ]* \\([0-9]*\\).*/\\1/p' " +
		">> " + statuses + "; cat body; }\n"
	var want []string
	for _, guide := range guideOf.FindAllStringSubmatch(s.documentation(), -1) {
		commands := html.UnescapeString(guide[1])
		for _, one := range expected.FindAllStringSubmatch(commands, -1) {
			want = append(want, one[1])
		}
		script += commands + "\n"
	}
	require.Greater(t, len(want), 15)
	play := exec.CommandContext(t.Context(), "sh", "-c", script)
	play.Dir = t.TempDir()
	play.Env = append(os.Environ(), "NEXUS="+s.URL(), "TOKEN="+s.user)
	told, err := play.CombinedOutput()
	require.NoError(t, err, "%s", told)
	got, err := os.ReadFile(statuses)
	require.NoError(t, err)
	require.Equal(t, want, strings.Fields(string(got)), "%s", told)
}

// Every sample for a shell is a request that the system understands: it is carried out, or refused for what there is.
func TestPlatform_understandsTheSamplesOfItsDocumentation(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: no curl, so the samples of /docs were not run")
	}
	s := startSystem(t, local.Options{Store: local.Memory})
	ids := []string{}
	for name, made := range map[string]any{
		"TASK_ID": s.must("POST", "/v1/tasks", object{"title": "t"})["taskId"],
		"NOTE_ID": s.must("POST", "/v1/notes", object{"title": "n"})["noteId"],
		"EVENT_ID": s.must("POST", "/v1/events", object{
			"title": "e", "startUtc": "2026-03-02T09:00:00Z", "endUtc": "2026-03-02T10:00:00Z", "startTzid": "UTC",
		})["eventId"],
	} {
		ids = append(ids, name, made.(string))
	}
	page := s.documentation()
	samples := sampleOf.FindAllStringSubmatch(page, -1)
	require.Len(t, samples, strings.Count(page, `class="operation"`))
	fine := []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed}
	carriedOut := 0
	for _, one := range samples {
		command := strings.NewReplacer(ids...).Replace(html.UnescapeString(one[2]))
		asked := exec.CommandContext(t.Context(), "sh", "-c",
			strings.Replace(command, "curl", `curl -s -m 10 -w "\n%{http_code}"`, 1))
		asked.Env = append(os.Environ(), "NEXUS="+s.URL(), "TOKEN="+s.user)
		answer, err := asked.Output()
		require.NoError(t, err, "%s\n%s", one[1], command)
		status, err := strconv.Atoi(string(answer[strings.LastIndexByte(string(answer), '\n')+1:]))
		require.NoError(t, err, "%s\n%s", command, answer)
		switch {
		case status < 300:
			carriedOut++
		default:
			require.True(t, slices.Contains(fine, status), "%s\n%s\n%s", one[1], command, answer)
		}
	}
	require.Greater(t, carriedOut, len(samples)/3)
}
