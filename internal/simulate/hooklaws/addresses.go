package hooklaws

import (
	"net/netip"
	"net/url"
	"slices"
)

// notPublic are the addresses to which no connection is made (W4): this host, private ones, those of a carrier's
// network, loopback, link-local, of protocols, documentation and tests, multicast, reserved, and those of IPv6 that
// stand for one of IPv4.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("224.0.0.0/3"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
}

// unicast are the addresses of IPv6 that are given out to hosts.
var unicast = netip.MustParsePrefix("2000::/3")

func isPublic(address netip.Addr) bool {
	isGiven := address.Is4() || unicast.Contains(address) // one that is mapped is not
	return isGiven && !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(address) })
}

// checkAddress judges where a request went: to a public address (W4), by https, by a name, and at port 443 or 8443.
func (j *Judge) checkAddress(r Request, id string) {
	if r.To.IsValid() && !isPublic(r.To) {
		j.breach("W4", hookKey{}, id, "a connection to %s", r.To)
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "https" || u.User != nil {
		j.breach("W4", hookKey{}, id, "a request to %s", r.URL)
		return
	}
	_, err = netip.ParseAddr(u.Hostname())
	isBare := err == nil || u.Hostname() == "localhost"
	if port := u.Port(); isBare || port != "" && port != "443" && port != "8443" {
		j.breach("W4", hookKey{}, id, "a request to %s", r.URL)
	}
}
