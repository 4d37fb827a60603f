package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion_isOneLine(t *testing.T) {
	t.Parallel()
	code, results, messages := nexus(t, "--version")
	require.Equal(t, exitDone, code)
	require.Regexp(t, `^nexus \S+ \(commit \w+, go1\.\S+, \w+/\w+\)\n$`, results)
	require.Empty(t, messages)
}

func TestVersion_isThatOfTheBuild(t *testing.T) {
	t.Parallel()
	const whole = "830b3522ca12ca0b04f5a19e6e0c0e7e0d9d1f42"
	stamp := []debug.BuildSetting{{Key: "vcs.revision", Value: whole}}
	for name, one := range map[string]struct {
		info            *debug.BuildInfo
		release, commit string
		want            string
	}{
		"make build": {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "v0.1.0", whole,
			"v0.1.0 (commit 830b3522ca12"},
		"go build": {&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0+dirty"}, Settings: stamp}, "", "",
			"v0.1.0+dirty (commit 830b3522ca12"},
		"go run":                {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "", "", "devel (commit unknown"},
		"without a description": {nil, "", "", "devel (commit unknown"},
	} {
		want := "nexus " + one.want + ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")"
		require.Equal(t, want, versionOf(one.info, one.release, one.commit), name)
	}
}

// versionMain is a main function that prints what nexus --version does, without the rest of the program.
const versionMain = `package main

func main() { println(version()) }
`

// The repository's own Makefile builds version.go alone, in a repository that has a tag.
func TestVersion_isSetByMakeBuild(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	source, err := os.ReadFile("version.go")
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	do := func(program string, args ...string) string {
		command := exec.CommandContext(t.Context(), program, args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false",
			"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
			"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@example.com", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@example.com")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s %v: %s", program, args, out)
		return string(out)
	}
	write("go.mod", "module nexus\n\ngo 1.26.0\n")
	write(".gitignore", "/bin/\n")
	write("cmd/nexus/version.go", string(source))
	write("cmd/nexus/main.go", versionMain)
	do("git", "init", "-q")
	do("git", "add", "-A")
	do("git", "commit", "-q", "-m", "all")
	do("git", "tag", "v0.1.0")
	commit := do("git", "rev-parse", "HEAD")[:12]
	platform := runtime.GOOS + "/" + runtime.GOARCH

	do("make", "-f", filepath.Join(root, "Makefile"), "build")
	want := "nexus v0.1.0 (commit " + commit + ", " + runtime.Version() + ", " + platform + ")\n"
	require.Equal(t, want, do(filepath.Join(dir, "bin", "nexus")))

	write("cmd/nexus/main.go", versionMain+"// changed\n")
	do("make", "-f", filepath.Join(root, "Makefile"), "build")
	require.Contains(t, do(filepath.Join(dir, "bin", "nexus")), "nexus v0.1.0-dirty (commit "+commit)
}
