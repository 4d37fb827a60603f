package webhook_test

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"nexus/pkg/outbound"
	"nexus/pkg/webhook"
)

// Receivers that do what no good receiver does keep nothing from another endpoint, and their messages wait.
func TestWorker_withstandsItsReceivers(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	secret := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(secret.Close)
	end := make(chan struct{})
	roots := x509.NewCertPool()
	serve := func(handler http.HandlerFunc) string {
		s := httptest.NewTLSServer(handler)
		t.Cleanup(s.Close)
		roots.AddCert(s.Certificate())
		return s.URL
	}
	receivers := map[string]http.HandlerFunc{
		"hangs": func(http.ResponseWriter, *http.Request) { <-end },
		"slow": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-end
		},
		"resets": func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				if tcp, ok := c.(*net.TCPConn); ok {
					_ = tcp.SetLinger(0)
				}
				_ = c.Close()
			}
		},
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, secret.URL, http.StatusTemporaryRedirect)
		},
		"fails": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"busy": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		},
		"good": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	}
	addresses := map[string]string{}
	for name, handler := range receivers {
		addresses[name] = serve(handler)
	}
	t.Cleanup(func() { close(end) })
	client := outbound.New(outbound.Config{Loopback: true, Roots: roots, Timeout: 500 * time.Millisecond})
	t.Cleanup(client.Close)
	f := setup(t, func(c *webhook.Config) { c.Client = client })
	ids, n := map[string]string{}, 0
	for name, address := range addresses {
		n++
		ids[name] = fmt.Sprintf("whk_00000000-0000-4000-8000-%012d", n)
		f.hook(ids[name], "url", address)
	}
	f.apply(f.task("task_a", 1))
	f.work()
	for name, want := range map[string]int64{
		"hangs": 0, "slow": 200, "resets": 0, "redirects": 307, "fails": 500, "busy": 429, "endless": 500, "good": 204,
	} {
		list, _, err := f.endpoints.List(t.Context(), user, ids[name], webhook.Filter{}, "", 10)
		f.NoError(err)
		f.Len(list, 1)
		f.Len(list[0].Attempts, 1, name)
		f.Equal(want, list[0].Attempts[0].Status, name)
		f.LessOrEqual(len(list[0].Attempts[0].Text), 256)
		isDone := want >= 200 && want < 300
		f.Equal(isDone, list[0].State == "done", name)
		if name == "busy" {
			f.GreaterOrEqual(list[0].NextAt.Sub(f.now), 90*time.Second)
		}
	}
	f.Zero(reached.Load(), "a redirect is followed")
}
