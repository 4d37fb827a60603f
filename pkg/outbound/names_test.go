package outbound_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// names is a name server on loopback. It answers the question for a name with what the name has for that turn.
type names struct {
	mu    sync.Mutex
	turns map[string][][]netip.Addr // of a name: what each resolution gets; the last one stays
	asked map[string]int
}

const (
	typeA    = 1
	typeAAAA = 28
)

// resolver starts the server and returns a resolver that asks it alone.
func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, socket.Close()) })
	go func() {
		question := make([]byte, 512)
		for {
			size, from, err := socket.ReadFrom(question)
			if err != nil {
				return
			}
			_, _ = socket.WriteTo(n.answer(question[:size]), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", socket.LocalAddr().String())
	}}
}

// answer answers a question of RFC 1035: the header, the question as it came, and a record for each address.
func (n *names) answer(question []byte) []byte {
	const header = 12
	var labels []string
	at := header
	for question[at] != 0 {
		end := at + 1 + int(question[at])
		labels, at = append(labels, string(question[at+1:end])), end
	}
	kind := binary.BigEndian.Uint16(question[at+1:])
	out := append([]byte{}, question[:at+5]...)
	binary.BigEndian.PutUint16(out[2:], 0x8180) // an answer, recursion available
	count := uint16(0)
	for _, address := range n.addresses(strings.Join(labels, "."), kind) {
		if is4 := address.Is4(); kind == typeA && is4 || kind == typeAAAA && !is4 {
			count++
			out = append(out, 0xc0, header, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(address.AsSlice())))
			out = append(out, address.AsSlice()...)
		}
	}
	binary.BigEndian.PutUint16(out[6:], count)
	binary.BigEndian.PutUint32(out[8:], 0) // no authority, nothing additional
	return out
}

// addresses returns what a name has. A resolution asks for both kinds, and counts by the question for A.
func (n *names) addresses(name string, kind uint16) []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	turns := n.turns[name]
	if len(turns) == 0 {
		return nil
	}
	if n.asked == nil {
		n.asked = map[string]int{}
	}
	turn := turns[min(n.asked[name], len(turns)-1)]
	if kind == typeA {
		n.asked[name]++
	}
	return turn
}
