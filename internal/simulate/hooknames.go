package simulate

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"nexus/pkg/outbound"
	"nexus/pkg/webhook"
)

// public is the address of a receiver, and notPublic are some that no request may reach (W4).
var (
	public    = netip.MustParseAddr("93.184.216.34")
	notPublic = []netip.Addr{
		netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1"), netip.MustParseAddr("10.0.0.1"),
		netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("fe80::1"), netip.MustParseAddr("100.64.0.1"),
		netip.MustParseAddr("::ffff:10.0.0.1"), netip.MustParseAddr("::ffff:169.254.169.254"),
		netip.MustParseAddr("64:ff9b::a00:1"), netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("224.0.0.1"),
	}
)

// hookName says to what the name of a receiver resolves.
type hookName int

const (
	named     hookName = iota // to a public address
	inside                    // to one that is not
	rebinding                 // to either, as it comes
	both                      // to one that is not, and then to a public one
)

// address returns that of a receiver of its own.
func (k *hooks) address() string {
	k.made++
	address := fmt.Sprintf("https://hooks.example.com%s/%d", pick(k.h.luck, "", "", ":8443"), k.made)
	k.receivers[address] = &receiver{
		name:   pick(k.h.luck, named, named, named, named, named, inside, rebinding, both),
		answer: pick(k.h.luck, answersOfReceivers...),
	}
	return address
}

// resolve returns the addresses of a receiver's name, each time as they are then. Where all settles there is a public
// one.
func (k *hooks) resolve(name hookName) []netip.Addr {
	private := notPublic[k.h.luck.IntN(len(notPublic))]
	switch {
	case name == both, name != named && k.h.settling:
		return []netip.Addr{private, public}
	case name == inside, name == rebinding && k.h.luck.one(2):
		return []netip.Addr{private}
	}
	return []netip.Addr{public}
}

// callable says which addresses webhooks may call in a deployment.
var callable = outbound.Config{Ports: webhook.Ports()}

// connect connects to an address of a receiver's name, as a dialer does: to the first one that pkg/outbound allows.
func (k *hooks) connect(to *url.URL, name hookName) (at netip.Addr, err error) {
	if err := callable.Check(to.String()); err != nil {
		return netip.Addr{}, err
	}
	guard := callable.Guard()
	for _, at = range k.resolve(name) {
		network := "tcp6"
		if at.Is4() || at.Is4In6() {
			network = "tcp4"
		}
		port := cmp.Or(to.Port(), "443")
		if err = guard(network, net.JoinHostPort(at.String(), port), nil); err == nil {
			k.h.happened["webhook connected: "+name.String()]++
			return at, nil
		}
	}
	k.h.happened["webhook not connected: "+name.String()]++
	return netip.Addr{}, err
}

func (n hookName) String() string { return [...]string{"public", "inside", "rebinding", "both"}[n] }
