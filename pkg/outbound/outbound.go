// Package outbound makes requests to addresses that users give: those of their devices. No other package dials them.
//
// It promises that a connection is made to a public unicast address alone, at one of the allowed ports. The address is
// judged in the dialer, after the name was resolved, and it is the very one that is dialled. So a name that resolves
// otherwise a moment later leads nowhere else. It follows no redirect, uses no proxy of the environment, sends no
// cookies, and speaks TLS from 1.2 on. It must never know what it sends.
package outbound

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

const (
	// ConnectTime is how long a connection may take to come about.
	ConnectTime = 5 * time.Second
	// RequestTime is how long a request may take, answer included, unless a Config says otherwise.
	RequestTime = 10 * time.Second
	// MaxAnswer is how much is read of an answer's body, and of its header.
	MaxAnswer = 64 << 10
)

// ErrRefused says that the address is none that may be called. Repeating the request cannot help, unless its name comes
// to resolve otherwise.
var ErrRefused = errors.New("address refused")

// Config says what may be called. The zero Config is that of the deployment.
type Config struct {
	// Ports are those that may be called; none stands for 443.
	Ports []uint16
	// Timeout bounds a request; 0 stands for [RequestTime].
	Timeout time.Duration
	// Own is an address that may be called besides, also without TLS: that of a service of this very program.
	Own netip.AddrPort
	// Loopback lets addresses of this very machine be called, at any port, also without TLS.
	Loopback bool
	// Resolver resolves names, and Roots are whom TLS trusts; nil for those of the machine.
	Resolver *net.Resolver
	Roots    *x509.CertPool
}

// Client makes the requests. It is safe for concurrent use.
type Client struct {
	Config
	client *http.Client
}

// ports returns those that may be called.
func (c Config) ports() []uint16 {
	if len(c.Ports) == 0 {
		return []uint16{443}
	}
	return c.Ports
}

// New returns a client.
func New(c Config) *Client {
	dialer := &net.Dialer{Timeout: ConnectTime, Resolver: c.Resolver, Control: c.Guard()}
	return &Client{c, &http.Client{
		Timeout: cmp.Or(c.Timeout, RequestTime),
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots},
			TLSHandshakeTimeout:    ConnectTime,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: MaxAnswer,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        time.Minute,
		},
	}}
}

// Do makes the request and returns the answer as it came, a redirect too. It refuses what [Config.Check] refuses. An
// address that is none to call is [ErrRefused]; nothing was sent then. No error repeats the address: it is a secret.
func (c *Client) Do(request *http.Request) (*http.Response, error) {
	if err := c.Check(request.URL.String()); err != nil {
		return nil, err
	}
	answer, err := c.client.Do(request)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		return nil, failed.Err // the error around it repeats the address
	}
	if err != nil {
		return nil, err
	}
	answer.Body = bounded{io.LimitReader(answer.Body, MaxAnswer), answer.Body}
	return answer, nil
}

// Close closes the connections that are idle.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Guard returns the function that a dialer asks about each address before it connects ([net.Dialer]). Its error is an
// [ErrRefused].
func (c Config) Guard() func(network, address string, _ syscall.RawConn) error {
	guardian := ssrf.New(ssrf.WithPorts(slices.Clone(c.ports())...))
	return func(network, address string, raw syscall.RawConn) error {
		if is, err := netip.ParseAddrPort(address); err == nil &&
			(c.Own.IsValid() && is == c.Own || c.Loopback && is.Addr().IsLoopback()) {
			return nil
		}
		if err := guardian.Safe(network, address, raw); err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return nil
	}
}

// bounded is a body of which a part is read at most.
type bounded struct {
	io.Reader
	io.Closer
}
