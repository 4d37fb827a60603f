package e2e_test

import (
	"os"
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
