package local_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestPostReplay_takesRecordsAloneAndNamesOtherFaults(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	fixture, err := os.ReadFile("../../testdata/streams/kinds.ndjson")
	require.NoError(t, err)
	for _, one := range []struct {
		name, query, media, body string
		status                   int
	}{
		{"a fixture", "", "application/x-ndjson", string(fixture), http.StatusOK},
		{"to one consumer", "?consumer=links", "application/x-ndjson", string(fixture), http.StatusOK},
		{"a form's type", "", "text/plain", string(fixture), http.StatusUnsupportedMediaType},
		{"nobody's consumer", "?consumer=mail", "application/x-ndjson", string(fixture), http.StatusUnprocessableEntity},
		{"no records", "", "application/x-ndjson", `{"a":1}`, http.StatusUnprocessableEntity},
		{"nothing", "", "application/x-ndjson", "", http.StatusUnprocessableEntity},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/dev/replay"+one.query,
			strings.NewReader(one.body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", one.media)
		response, err := s.client.Do(request)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, one.status, response.StatusCode, "%s: %s", one.name, text)
	}
	status, _ := s.call(http.MethodGet, "/dev/records?everything=1", nil)
	require.Equal(t, http.StatusBadRequest, status)
}
