package outbound_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"nexus/pkg/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// forbidden holds an address of each kind that is not public, or that leads to one that is not.
var forbidden = map[string]string{
	"this host":                 "0.0.0.0",
	"private 10":                "10.0.0.1",
	"private 172":               "172.16.0.1",
	"private 192":               "192.168.0.1",
	"shared by a carrier":       "100.64.0.1",
	"loopback":                  "127.0.0.1",
	"loopback, another":         "127.8.9.10",
	"metadata, link-local":      "169.254.169.254",
	"protocol assignments":      "192.0.0.8",
	"documentation 1":           "192.0.2.1",
	"documentation 2":           "198.51.100.1",
	"documentation 3":           "203.0.113.1",
	"benchmarks":                "198.18.0.1",
	"multicast":                 "224.0.0.1",
	"reserved":                  "240.0.0.1",
	"broadcast":                 "255.255.255.255",
	"unspecified of IPv6":       "::",
	"loopback of IPv6":          "::1",
	"mapped private":            "::ffff:10.0.0.1",
	"mapped loopback":           "::ffff:127.0.0.1",
	"mapped metadata":           "::ffff:169.254.169.254",
	"NAT64 of a private one":    "64:ff9b::a00:1",
	"NAT64 of a local use":      "64:ff9b:1::a00:1",
	"6to4 of a private one":     "2002:a00:1::1",
	"Teredo":                    "2001:0:a00:1::1",
	"unique local":              "fd00::1",
	"metadata of IPv6":          "fd00:ec2::254",
	"link-local of IPv6":        "fe80::1",
	"documentation of IPv6":     "2001:db8::1",
	"new documentation of IPv6": "3fff::1",
	"multicast of IPv6":         "ff02::1",
}

// target is a server of the machine, which no user's address may reach.
type target struct {
	server *httptest.Server
	calls  atomic.Int32
}

func newTarget(t *testing.T, handler http.HandlerFunc) *target {
	t.Helper()
	out := &target{}
	out.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out.calls.Add(1)
		handler(w, r)
	}))
	t.Cleanup(out.server.Close)
	return out
}

func (s *target) address() netip.AddrPort {
	return netip.MustParseAddrPort(s.server.Listener.Addr().String())
}

func (s *target) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.server.Certificate())
	return pool
}

func newClient(t *testing.T, c outbound.Config) *outbound.Client {
	t.Helper()
	client := outbound.New(c)
	t.Cleanup(client.Close)
	return client
}

func get(t *testing.T, c *outbound.Client, address string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	return c.Do(request)
}

func answers(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }

func TestClient_connectsToNoNameThatResolvesToAnAddressThatIsNotPublic(t *testing.T) {
	t.Parallel()
	server := newTarget(t, answers)
	port := server.address().Port()
	for kind, text := range forbidden {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			zone := &names{turns: map[string][][]netip.Addr{"push.example.com": {{netip.MustParseAddr(text)}}}}
			client := newClient(t, outbound.Config{Ports: []uint16{port}, Resolver: zone.resolver(t), Roots: server.roots()})
			_, err := get(t, client, "https://push.example.com:"+portText(port)+"/x")
			require.ErrorIs(t, err, outbound.ErrRefused)
		})
	}
	t.Cleanup(func() { require.Zero(t, server.calls.Load()) })
}

func portText(port uint16) string {
	_, text, _ := net.SplitHostPort(netip.AddrPortFrom(netip.IPv4Unspecified(), port).String())
	return text
}

// The name resolves to the program's own service first, whose address may be called, and to loopback afterwards. Its
// connections end after each answer, so each request dials. The address of the first answer is not asked again.
func TestClient_judgesTheAddressOfEachConnection(t *testing.T) {
	t.Parallel()
	own := newTarget(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	elsewhere := netip.MustParseAddr("127.0.0.2")
	zone := &names{turns: map[string][][]netip.Addr{"example.com": {{own.address().Addr()}, {elsewhere}}}}
	client := newClient(t, outbound.Config{
		Ports: []uint16{own.address().Port()}, Resolver: zone.resolver(t), Roots: own.roots(), Own: own.address(),
	})
	at := "https://example.com:" + portText(own.address().Port()) + "/"
	answer, err := get(t, client, at)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	client.Close()
	_, err = get(t, client, at)
	require.ErrorIs(t, err, outbound.ErrRefused)
	require.EqualValues(t, 1, own.calls.Load())
}

func TestClient_refusesPublicAddressesBesideTheOneThatIsNot(t *testing.T) {
	t.Parallel()
	server := newTarget(t, answers)
	zone := &names{turns: map[string][][]netip.Addr{"push.example.com": {{
		netip.MustParseAddr("10.0.0.1"), server.address().Addr(), netip.MustParseAddr("::1"),
	}}}}
	client := newClient(t, outbound.Config{Ports: []uint16{server.address().Port()}, Resolver: zone.resolver(t)})
	_, err := get(t, client, "https://push.example.com:"+portText(server.address().Port()))
	require.ErrorIs(t, err, outbound.ErrRefused)
	require.Zero(t, server.calls.Load())
}

func TestClient_returnsARedirectAndFollowsNone(t *testing.T) {
	t.Parallel()
	inside := newTarget(t, answers)
	for kind, address := range forbidden {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			to := "https://" + net.JoinHostPort(address, portText(inside.address().Port())) + "/latest/meta-data"
			own := newTarget(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
			zone := &names{turns: map[string][][]netip.Addr{"example.com": {{own.address().Addr()}}}}
			client := newClient(t, outbound.Config{
				Ports: []uint16{own.address().Port()}, Resolver: zone.resolver(t), Roots: own.roots(), Own: own.address(),
			})
			answer, err := get(t, client, "https://example.com:"+portText(own.address().Port()))
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			require.Equal(t, http.StatusFound, answer.StatusCode)
			require.EqualValues(t, 1, own.calls.Load())
		})
	}
	t.Cleanup(func() { require.Zero(t, inside.calls.Load()) })
}

func TestClient_asksNoProxyAndSendsNoCookies(t *testing.T) {
	proxy := newTarget(t, answers)
	t.Setenv("HTTPS_PROXY", proxy.server.URL)
	t.Setenv("HTTP_PROXY", proxy.server.URL)
	cookies := 0
	own := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		cookies += len(r.Cookies())
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
	})
	zone := &names{turns: map[string][][]netip.Addr{"example.com": {{own.address().Addr()}}}}
	client := newClient(t, outbound.Config{
		Ports: []uint16{own.address().Port()}, Resolver: zone.resolver(t), Roots: own.roots(), Own: own.address(),
	})
	for range 2 {
		answer, err := get(t, client, "https://example.com:"+portText(own.address().Port()))
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}
	require.Zero(t, proxy.calls.Load())
	require.EqualValues(t, 2, own.calls.Load())
	require.Zero(t, cookies)
}

func TestClient_endsARequestInTimeAndReadsAPartOfAnEndlessAnswer(t *testing.T) {
	t.Parallel()
	own := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/endless" {
			for piece := []byte(strings.Repeat("x", 4096)); r.Context().Err() == nil; {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}
		<-r.Context().Done()
	})
	zone := &names{turns: map[string][][]netip.Addr{"example.com": {{own.address().Addr()}}}}
	client := newClient(t, outbound.Config{
		Ports: []uint16{own.address().Port()}, Resolver: zone.resolver(t), Roots: own.roots(), Own: own.address(),
		Timeout: 2 * time.Second,
	})
	at := "https://example.com:" + portText(own.address().Port())
	answer, err := get(t, client, at+"/endless")
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Len(t, body, outbound.MaxAnswer)
	_, err = get(t, client, at+"/secret-path")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotContains(t, err.Error(), "secret-path")
}

func TestClient_speaksNoTLSBefore12(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(answers))
	server.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	server.StartTLS()
	t.Cleanup(server.Close)
	own := &target{server: server}
	zone := &names{turns: map[string][][]netip.Addr{"example.com": {{own.address().Addr()}}}}
	client := newClient(t, outbound.Config{
		Ports: []uint16{own.address().Port()}, Resolver: zone.resolver(t), Roots: own.roots(), Own: own.address(),
	})
	_, err := get(t, client, "https://example.com:"+portText(own.address().Port()))
	require.ErrorContains(t, err, "protocol version")
}

func TestClient_speaksPlainHTTPWithItsOwnProgramAlone(t *testing.T) {
	t.Parallel()
	calls := 0
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls++ }))
	t.Cleanup(plain.Close)
	own := newClient(t, outbound.Config{Own: netip.MustParseAddrPort(plain.Listener.Addr().String())})
	answer, err := get(t, own, plain.URL+"/push/1")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	_, err = get(t, newClient(t, outbound.Config{}), plain.URL+"/push/1")
	require.ErrorIs(t, err, outbound.ErrRefused)
	require.Equal(t, 1, calls)
}

func TestClient_checksWhatAnAddressSaysByItself(t *testing.T) {
	t.Parallel()
	client := newClient(t, outbound.Config{})
	for _, good := range []string{
		"https://push.example.com/send/abc?x=1", "https://push.example.com:443/", "https://a.b.example.com.",
		"https://bücher.example",
	} {
		require.NoError(t, client.Check(good), good)
	}
	for _, bad := range []string{
		"", "push.example.com", "http://push.example.com/", "ftp://push.example.com", "unix:///run/x.sock", "https://",
		"https://user@push.example.com", "https://user:word@push.example.com", "https://push.example.com/#part",
		"https://push.example.com:80", "https://push.example.com:8443", "https://push.example.com:99999",
		"https://10.0.0.1", "https://93.184.216.34", "https://[::1]/", "https://[2606:4700::1111]", "https://2130706433",
		"https://0x7f.0.0.1", "https://0x7f000001", "https://127.1", "https://0177.0.0.1", "https://1.2.3.4.",
		"https://localhost", "https://a.localhost", "https://intranet", "https://push.example.com/%zz",
		"https://push.example.com/" + strings.Repeat("x", outbound.MaxURL),
	} {
		require.ErrorIs(t, client.Check(bad), outbound.ErrRefused, bad)
	}
	hooks := newClient(t, outbound.Config{Ports: []uint16{443, 8443}})
	require.NoError(t, hooks.Check("https://hooks.example.com:8443/x"))
}

func TestClient_repeatsNoAddressInARefusal(t *testing.T) {
	t.Parallel()
	client := newClient(t, outbound.Config{})
	for _, bad := range []string{"https://push.example.com/secret%zz", "http://push.example.com/secret"} {
		require.NotContains(t, client.Check(bad).Error(), "secret")
	}
}
