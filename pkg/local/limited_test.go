package local_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/limit"
	"nexus/pkg/local"
)

// The limits hold over HTTP on either store, and time frees a rate.
func TestPlatform_holdsEachUserToARate(t *testing.T) {
	t.Parallel()
	for _, store := range []local.Store{local.Memory, local.DynamoDB} {
		t.Run(string(store), func(t *testing.T) {
			t.Parallel()
			s := startSystem(t, local.Options{
				Store: store, Ephemeral: store == local.DynamoDB, Limits: limit.Default(),
			})
			command := `{"id":"a","type":"DeleteNote","expectedVersion":1,"data":{"noteId":"note_1"}},`
			body := `{"commands":[` + strings.TrimSuffix(strings.Repeat(command, 100), ",") + `]}`
			send := func(user string) *http.Response {
				request, err := http.NewRequestWithContext(
					t.Context(), http.MethodPost, s.URL()+"/v1/commands", strings.NewReader(body))
				require.NoError(t, err)
				request.Header.Set("Authorization", "Bearer "+user)
				request.Header.Set("Content-Type", "application/json")
				response, err := s.client.Do(request)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				return response
			}
			var last *http.Response
			for range 20 {
				if last = send("u1"); last.StatusCode != http.StatusOK {
					break
				}
			}
			require.Equal(t, http.StatusTooManyRequests, last.StatusCode)
			require.Equal(t, `"user";q=600;w=60`, last.Header.Get("RateLimit-Policy"))
			seconds, err := strconv.Atoi(last.Header.Get("Retry-After"))
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, send("u2").StatusCode, "another user is not limited")
			s.must("POST", "/dev/clock", object{"advance": (time.Duration(seconds) * time.Second).String()})
			require.Equal(t, http.StatusOK, send("u1").StatusCode)
		})
	}
}
