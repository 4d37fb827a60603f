package outbound

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestControl_letsPublicAddressesPassAtTheAllowedPorts(t *testing.T) {
	t.Parallel()
	control := Config{Ports: []uint16{443}, Own: netip.MustParseAddrPort("127.0.0.1:9")}.control()
	for _, address := range []string{"93.184.216.34:443", "[2606:4700::1111]:443", "127.0.0.1:9"} {
		require.NoError(t, control("tcp4", address, nil), address)
	}
	for _, address := range []string{
		"93.184.216.34:80", "93.184.216.34:22", "[2606:4700::1111]:8443", "127.0.0.1:443", "127.0.0.2:9",
		"[fe80::1%eth0]:443", "/run/docker.sock", "",
	} {
		require.ErrorIs(t, control("tcp4", address, nil), ErrRefused, address)
	}
	for _, network := range []string{"unix", "udp4", "ip4", "tcp"} {
		require.ErrorIs(t, control(network, "93.184.216.34:443", nil), ErrRefused, network)
	}
}
