package e2e_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
)

// Programs are built without HTTP/2, which a service may offer.
func TestFunctions_speakHTTP1ToAServiceThatPrefersHTTP2(t *testing.T) {
	t.Parallel()
	w := setup(t)
	spoken := make(chan string, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		spoken <- r.Proto
		w.services.ServeHTTP(out, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(authority, text, 0o600))

	payload, _ := w.becomeDue()
	environment := w.environment(env.Notify)
	environment["AWS_ENDPOINT_URL"], environment["SSL_CERT_FILE"] = server.URL, authority
	f := start(t, env.Notify, environment)
	require.JSONEq(t, `{}`, string(f.succeed(payload)))
	w.requireEvent("ReminderDue")
	require.Equal(t, "HTTP/1.1", <-spoken)

	response, err := server.Client().Head(server.URL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 2, response.ProtoMajor, "the service does offer it")
}
