package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strconv"
)

// Internal is the base URL under which a client of [Engine.Transport] addresses the engine. It names no address, so
// that no error, log line or parked record of the client can reveal one.
const Internal = "http://engine.invalid"

// Secluded says whether the engine listens at an address that a page in a browser cannot find. The engine answers
// pages of every origin, so only the unknown address protects it.
const Secluded = runtime.GOOS == "linux"

// address is an engine's host and port.
type address struct {
	host string
	port int
}

func (a address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(a.port)) }

// chooseHost returns the loopback address for one engine. Linux takes all of 127.0.0.0/8 as its own: one address of 16
// million, beside the port, is more than a page can try. Other systems have 127.0.0.1 alone.
func chooseHost() string {
	if !Secluded {
		return formerHost
	}
	var random [3]byte
	_, _ = rand.Read(random[:]) // it never fails
	// Not below 127.1: other programs use addresses there. No address ends in 0 or 255, which look like a network's own.
	const lowest, last = 1, 254
	return net.IPv4(127, max(lowest, random[0]), random[1], 1+random[2]%last).String()
}

// freeAddress asks the system for an unused port of the host. Another process may take it before the engine does; the
// engine then ends with an error and the start tries another.
func freeAddress(ctx context.Context) (address, error) {
	host := chooseHost()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort(host, "0"))
	if err != nil {
		return address{}, fmt.Errorf("free port of the loopback address %s: %w", host, err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return address{host, port}, listener.Close()
}

// directTo returns a transport that connects to the address alone, for any requested host, and removes the address
// from its errors.
func directTo(where address) *http.Transport {
	direct := directTransport()
	direct.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		connection, err := (&net.Dialer{}).DialContext(ctx, network, where.String())
		if err != nil {
			return nil, withoutAddress(err)
		}
		return nameless{connection}, nil
	}
	return direct
}

// nameless is a connection whose errors name neither end.
type nameless struct{ net.Conn }

// Read implements [net.Conn].
func (c nameless) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, withoutAddress(err)
}

// Write implements [net.Conn].
func (c nameless) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, withoutAddress(err)
}

// withoutAddress returns the error of a network operation without the addresses of its ends.
func withoutAddress(err error) error {
	var operation *net.OpError
	if !errors.As(err, &operation) {
		return err
	}
	return &net.OpError{Op: operation.Op, Net: operation.Net, Err: operation.Err}
}
