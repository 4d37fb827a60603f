package e2e_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// demoBound is how long a demonstration may take on a machine that is busy with other tests; its aim is ten seconds
// (P10).
const demoBound = 60 * time.Second

func TestDemo_holdsEveryCheck(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"memory", "dynamodb"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			dir, temporary := t.TempDir(), t.TempDir()
			p := begin(t, launch{
				args: []string{"demo", "--store", store},
				env:  append(os.Environ(), engineVariable(t), "TMPDIR="+temporary), dir: dir,
			})
			began := time.Now()
			require.True(t, p.ended(demoBound), "the demonstration ends:\n%s", p.stdout.text())
			require.Zero(t, p.exit(t), "exit code:\n%s\n%s", p.stdout.text(), p.stderr.text())
			require.NotEmpty(t, p.stdout.text())
			require.Empty(t, entries(t, dir), "files in its working directory")
			require.Empty(t, entries(t, temporary), "temporary files")
			left, err := enginesOn(temporary)
			require.NoError(t, err)
			require.Empty(t, left, "engines")
			t.Logf("on store %s after %s", store, time.Since(began).Round(time.Millisecond))
		})
	}
}

// The browser is a program of the test that writes down what it is to open.
func TestDemo_keepsTheSystemAndOpensItsConsole(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the browser of the test is xdg-open")
	}
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	script := "#!/bin/sh\necho \"$1\" > \"" + opened + ".new\" && mv \"" + opened + ".new\" \"" + opened + "\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700))
	p := begin(t, launch{
		args: []string{"demo", "--store", "memory", "--keep"},
		env:  append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH")), dir: dir,
	})
	var address []byte
	require.True(t, await(t.Context(), demoBound, 20*time.Millisecond, func() (there bool) {
		var err error
		address, err = os.ReadFile(opened)
		return err == nil
	}), "%s", p.stderr.text())
	url := strings.TrimSpace(string(address))
	require.True(t, strings.HasSuffix(url, "/console"), url)
	board := strings.TrimSuffix(url, "console") + "v1/board"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, board, nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer demo")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `"taskId"`, "what the story has made")
	p.signal(t, syscall.SIGINT)
	require.True(t, p.ended(demoBound))
	require.Zero(t, p.exit(t), p.stderr.text())
	require.Contains(t, p.stdout.text(), "checks hold")
}
