package local_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestPlatform_endsJSONWithALineFeed(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	for path, status := range map[string]int{
		"/v1/board": 200, "/v1/notes/none": 404, "/v1/calendar.ics": 200, "/openapi.json": 200, "/dev/lag": 200,
	} {
		response, err := s.client.Do(s.request(http.MethodGet, path))
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode, path)
		require.True(t, bytes.HasSuffix(text, []byte("\n")), path)
		require.False(t, bytes.HasSuffix(text, []byte("}\n\n")), path)
	}
	response, err := s.client.Do(s.request(http.MethodHead, "/v1/board"))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 200, response.StatusCode)
}
