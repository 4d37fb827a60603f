package lint_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const workflows = ".github/workflows/"

var (
	runStep = regexp.MustCompile(`(?m)^ +(?:- )?run: *(.*)$`)
	useStep = regexp.MustCompile(`(?m)^ +(?:- )?uses: *(.*)$`)
	pinned  = regexp.MustCompile(`^(actions|aws-actions)/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	ownFlow = regexp.MustCompile(`^\./\.github/workflows/[a-z]+\.yaml$`)
	job     = regexp.MustCompile(`(?m)^  [a-z-]+:$`)
)

// jobsOf returns the text of each job of a workflow by its name.
func jobsOf(t *testing.T, name string) map[string]string {
	t.Helper()
	_, text, found := strings.Cut(atRoot(t, workflows+name), "\njobs:\n")
	require.True(t, found, name)
	out := map[string]string{}
	places := job.FindAllStringIndex(text, -1)
	for i, place := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		out[strings.Trim(text[place[0]:place[1]], " :")] = text[place[1]:end]
	}
	return out
}

// permissionsIn returns the lines of the blocks of permissions in a text, without their comments.
func permissionsIn(text string) []string {
	var out []string
	inside, depth := false, 0
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), " #")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "permissions:"):
			inside, depth = true, indent
			if rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "permissions:")); rest != "" {
				out = append(out, rest)
			}
		case inside && indent > depth && strings.TrimSpace(line) != "":
			out = append(out, strings.TrimSpace(line))
		default:
			inside = false
		}
	}
	return out
}

func TestWorkflow_callsTheScriptAloneToCheck(t *testing.T) {
	t.Parallel()
	jobs := jobsOf(t, "check.yaml")
	require.Len(t, jobs, 1, "one job")
	steps := runStep.FindAllStringSubmatch(jobs["check"], -1)
	require.Len(t, steps, 1, "what has to hold stands in .ci/run, where a laptop can run it")
	require.Equal(t, ".ci/run", steps[0][1])
}

func TestWorkflow_mayDoLittleAndStoresNoKey(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(workflows)))
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		names = append(names, file.Name())
	}
	require.Equal(t, []string{"check.yaml", "deploy.yaml", "stage.yaml", "weekly.yaml"}, names)
	for _, name := range names {
		text := atRoot(t, workflows+name)
		top, _, _ := strings.Cut(text, "\njobs:\n")
		require.Equal(t, []string{"contents: read"}, permissionsIn(top), "%s: what every job may do", name)
		for _, permission := range permissionsIn(text) {
			require.Contains(t, []string{"contents: read", "id-token: write"}, permission, name)
		}
		for _, word := range []string{
			"secrets", "access-key", "ACCESS_KEY", "SECRET", "TOKEN:", "pull_request_target", "workflow_run", "self-hosted",
		} {
			require.NotContains(t, text, word, name)
		}
		for _, action := range useStep.FindAllStringSubmatch(text, -1) {
			if !ownFlow.MatchString(action[1]) {
				require.Regexp(t, pinned, action[1], "%s: a tag can be moved to other code, a commit cannot", name)
			}
		}
		for name, of := range jobsOf(t, name) {
			require.True(t, strings.Contains(of, "timeout-minutes:") || strings.Contains(of, "    uses: ./"), name)
			require.Equal(t, strings.Count(of, "actions/checkout@"), strings.Count(of, "persist-credentials: false"), name)
		}
		// What others may have chosen, such as a branch's name, is never a part of a script.
		inScript, depth := false, 0
		for line := range strings.Lines(text) {
			indent := len(line) - len(strings.TrimLeft(line, " "))
			if inScript = inScript && indent > depth; inScript || strings.Contains(line, "run: ") {
				require.NotContains(t, line, "${{", name)
			}
			if strings.HasSuffix(strings.TrimSpace(line), "run: |") {
				inScript, depth = true, indent
			}
		}
	}
}

// goVersion finds the Go that a workflow installs: the newest patch release, in which known vulnerabilities of the
// standard library are mended.
var goVersion = regexp.MustCompile(`go-version: "(\d+\.\d+)"\n +check-latest: true\b`)

func TestWorkflow_buildsWithTheNewestPatchOfTheModulesGo(t *testing.T) {
	t.Parallel()
	language := regexp.MustCompile(`(?m)^go (\d+\.\d+)\.\d+$`).FindStringSubmatch(atRoot(t, "go.mod"))
	require.NotNil(t, language)
	for _, name := range []string{"check.yaml", "stage.yaml", "weekly.yaml"} {
		text := atRoot(t, workflows+name)
		versions := goVersion.FindAllStringSubmatch(text, -1)
		require.Len(t, versions, strings.Count(text, "actions/setup-go@"), name)
		for _, version := range versions {
			require.Equal(t, language[1], version[1], "%s: go.mod says otherwise", name)
		}
	}
}

func TestWorkflow_looksAtModulesAndRunsLongTestsEachWeek(t *testing.T) {
	t.Parallel()
	weekly := atRoot(t, workflows+"weekly.yaml")
	require.Regexp(t, `(?m)^    - cron: "\d+ \d+ \* \* \d"$`, weekly)
	jobs := jobsOf(t, "weekly.yaml")
	require.Len(t, jobs, 2)
	require.Contains(t, jobs["long"], "run: make long\n")
	for _, target := range []string{"checksums", "vulnerabilities"} {
		require.Regexp(t, `(?m)^ +(- )?run: make `+target+`$`, jobs["modules"], "its exit code decides")
	}
	require.Contains(t, jobs["modules"], "make updates")
	require.NotContains(t, weekly, "continue-on-error")
}

func TestWorkflow_deploysWhatWasCheckedAndShown(t *testing.T) {
	t.Parallel()
	deploy := jobsOf(t, "deploy.yaml")
	require.Contains(t, deploy["check"], "uses: ./.github/workflows/check.yaml")
	require.Contains(t, deploy["dev"], "needs: check\n")
	require.Contains(t, deploy["prod"], "needs: [check, dev]\n")
	require.Contains(t, deploy["prod"], "needs.check.result == 'success'")

	stage := jobsOf(t, "stage.yaml")
	require.Len(t, stage, 2)
	for name, of := range stage {
		require.Contains(t, of, "    environment: ${{ inputs.stage }}\n", "%s: no other environment gets the role", name)
		require.Contains(t, of, "role-to-assume: ${{ vars.DEPLOY_ROLE }}\n", name)
		require.Equal(t, []string{"contents: read", "id-token: write"}, permissionsIn(of), name)
	}
	require.Contains(t, stage["diff"], "GITHUB_STEP_SUMMARY")
	require.NotContains(t, stage["diff"], "make deploy")
	require.Contains(t, stage["deploy"], "needs: diff\n", "its reviewers have read what would change")
	var runs []string
	for _, step := range runStep.FindAllStringSubmatch(stage["deploy"], -1) {
		runs = append(runs, step[1])
	}
	require.Equal(t, []string{`make deploy STAGE="$STAGE" APPROVED=1`, `make smoke STAGE="$STAGE"`}, runs)
	makefile := atRoot(t, "Makefile")
	require.Contains(t, makefile, "$(if $(filter 1,$(APPROVED)),--require-approval never)")
	require.Equal(t, 1, strings.Count(makefile, "--require-approval"))
	require.True(t, slices.Contains(strings.Split(makefile, "\n"),
		"	@$(GO) run ./internal/tools/preflight -stage $(STAGE) -- $(CDKFLAGS)"))
}
