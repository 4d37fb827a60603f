package local

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/eventsource"
)

// Checkpoints that follow one another at once are written together, and the last of them is written in time.
func TestCheckpoints_areWrittenTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		kept, err := openCheckpoints(dir, "stream", slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		go kept.run(ctx)
		save := func(sequence string) {
			require.NoError(t, kept.Save(ctx, "effects", "shard", eventsource.Checkpoint{Sequence: sequence}))
			synctest.Wait()
		}
		isWritten := func(sequence string) bool {
			content, err := os.ReadFile(filepath.Join(dir, "effects.json"))
			require.NoError(t, err)
			return strings.Contains(string(content), `"`+sequence+`"`)
		}
		save("1")
		require.True(t, isWritten("1"), "the first one waits for nothing")
		save("2")
		save("3")
		require.True(t, isWritten("1"), "the next ones wait")
		time.Sleep(flushEvery)
		synctest.Wait()
		require.True(t, isWritten("3"))
	})
}
