package outbound

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuard_letsPublicAddressesPassAtTheAllowedPorts(t *testing.T) {
	t.Parallel()
	guard := Config{Ports: []uint16{443}, Own: netip.MustParseAddrPort("127.0.0.1:9")}.Guard()
	for _, address := range []string{"93.184.216.34:443", "[2606:4700::1111]:443", "127.0.0.1:9"} {
		require.NoError(t, guard("tcp4", address, nil), address)
	}
	for _, address := range []string{
		"93.184.216.34:80", "93.184.216.34:22", "[2606:4700::1111]:8443", "127.0.0.1:443", "127.0.0.2:9",
		"[fe80::1%eth0]:443", "/run/docker.sock", "",
	} {
		require.ErrorIs(t, guard("tcp4", address, nil), ErrRefused, address)
	}
	for _, network := range []string{"unix", "udp4", "ip4", "tcp"} {
		require.ErrorIs(t, guard(network, "93.184.216.34:443", nil), ErrRefused, network)
	}
}
