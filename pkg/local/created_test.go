package local

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The client repeats a call whose answer was lost, and hears that there is such a table.
func TestOpenTable_usesTheTableWhoseCreationWasNotAnswered(t *testing.T) {
	t.Parallel()
	calls := map[string]int{}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		calls[operation]++
		answer := `{"Table":{"TableStatus":"ACTIVE","LatestStreamArn":"arn:stream",` +
			`"StreamSpecification":{"StreamEnabled":true}}}`
		switch {
		case operation == "DescribeTable" && calls["CreateTable"] == 0:
			w.WriteHeader(http.StatusBadRequest)
			answer = `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}`
		case operation == "CreateTable" && calls[operation] == 1:
			panic(http.ErrAbortHandler) // it is made, and the answer is lost
		case operation == "CreateTable":
			w.WriteHeader(http.StatusBadRequest)
			answer = `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceInUseException"}`
		case operation == "UpdateTimeToLive":
			answer = `{}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(service.Close)
	transport := newTransport()
	t.Cleanup(transport.CloseIdleConnections)
	b, err := openTable(t.Context(), service.URL, transport, transport, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Equal(t, "arn:stream", b.stream)
	require.Equal(t, map[string]int{"DescribeTable": 2, "CreateTable": 2, "UpdateTimeToLive": 1}, calls)
}
