package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by "make build" from git, which also supports worktrees. Go's own stamp does not (docs/decisions.md).
var (
	release string // git describe: the latest tag, the commits since then, and whether files were changed
	commit  string
)

// commitDigits is how many digits of a commit are shown: as many as Go writes into a version.
const commitDigits = 12

// version describes this program in one line.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info, release, commit)
}

// versionOf describes a build. Values that the build did not set come from Go's stamp; "go run" writes none.
func versionOf(info *debug.BuildInfo, release, commit string) string {
	if info != nil {
		release = cmp.Or(release, strings.Trim(info.Main.Version, "()"))
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = cmp.Or(commit, s.Value)
			}
		}
	}
	commit = cmp.Or(commit, "unknown")
	return fmt.Sprintf("nexus %s (commit %s, %s, %s/%s)", cmp.Or(release, "devel"),
		commit[:min(commitDigits, len(commit))],
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
