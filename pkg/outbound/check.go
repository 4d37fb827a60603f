package outbound

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// MaxURL is the length of an address in bytes.
const MaxURL = 1024

// Check returns an [ErrRefused] for an address that can be refused as it stands: it is no https address of a name, has
// user information or a fragment, names another port than those allowed, or is too long. It resolves nothing, so
// passing it allows nothing yet.
func (c Config) Check(address string) error {
	if len(address) > MaxURL {
		return fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrRefused, len(address), MaxURL)
	}
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("%w: it is no URL", ErrRefused) // the error repeats the address, which is a secret
	}
	switch {
	case u.User != nil:
		return fmt.Errorf("%w: it has user information", ErrRefused)
	case u.Fragment != "":
		return fmt.Errorf("%w: it has a fragment", ErrRefused)
	case c.isOwn(u), c.Loopback && isLoopback(u):
		return nil
	case u.Scheme != "https":
		return fmt.Errorf("%w: it does not begin with https://", ErrRefused)
	}
	if port, err := portOf(u); err != nil || !slices.Contains(c.ports(), port) {
		return fmt.Errorf("%w: its port is none of %v", ErrRefused, c.ports())
	}
	return checkName(u.Hostname())
}

// isOwn reports whether it is an address of the program's own service.
func (c Config) isOwn(u *url.URL) bool {
	is, err := netip.ParseAddrPort(u.Host)
	return err == nil && c.Own.IsValid() && is == c.Own && u.Scheme == "http"
}

// isLoopback reports whether it names this very machine.
func isLoopback(u *url.URL) bool {
	is, err := netip.ParseAddr(u.Hostname())
	return (u.Scheme == "http" || u.Scheme == "https") &&
		(u.Hostname() == "localhost" || err == nil && is.IsLoopback())
}

func portOf(u *url.URL) (uint16, error) {
	if u.Port() == "" {
		return 443, nil
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return uint16(n), err
}

// checkName refuses what is an IP address, in whichever notation, and what is no name of the public tree.
func checkName(host string) error {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case host == "":
		return fmt.Errorf("%w: it names no host", ErrRefused)
	case strings.Contains(host, ":") || endsInNumber(last):
		return fmt.Errorf("%w: it has an IP address in the place of a name", ErrRefused)
	case last == host || strings.EqualFold(last, "localhost"):
		return fmt.Errorf("%w: its name is of this network", ErrRefused)
	}
	return nil
}

// endsInNumber reports whether readers of URLs take a name with this last part for an IPv4 address: also octal and
// hexadecimal ones.
func endsInNumber(last string) bool {
	if last == "" {
		return false
	}
	digits := strings.Trim(last, "0123456789") == ""
	_, err := strconv.ParseUint(last, 0, 64)
	return digits || err == nil
}
