package local_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob/dir"
	"nexus/pkg/local"
)

// A batch that was given up has words of users, and ends as in AWS.
func TestPlatform_endsBatchesThatWereGivenUpAfter35Days(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	blobs, err := dir.New(filepath.Join(data, "blobs"))
	require.NoError(t, err)
	name := time.Now().UTC().Format("2006-01-02T15.04.05") + "-id"
	for _, one := range []string{name, "of-an-operator"} {
		require.NoError(t, blobs.Put(t.Context(), "aws/lambda/effects/shard/"+one, []byte("{}")))
	}
	require.NoError(t, blobs.Close())
	s := startSystem(t, local.Options{DataDir: data})
	kept := func() string {
		response, text := s.text("/dev/blobs?prefix=aws/lambda/")
		require.Equal(t, http.StatusOK, response.StatusCode)
		return text
	}
	s.advance("838h")
	require.Contains(t, kept(), name)
	s.advance("3h")
	require.NotContains(t, kept(), name)
	require.Contains(t, kept(), "of-an-operator")
}
