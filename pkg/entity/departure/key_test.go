package departure_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/register"
)

func TestName_isTheInverseOfStateKey(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("0123456789abcdef", 4)
	key := departure.StateKey(name)
	require.Equal(t, item.Key{PK: "ERASE#" + name, SK: "STATE"}, key)
	got, ok := departure.Name(key)
	require.True(t, ok)
	require.Equal(t, name, got)
	for _, other := range []item.Key{
		{}, {PK: "ERASE#", SK: "STATE"}, {PK: key.PK, SK: "OTHER"}, {PK: "USER#" + name, SK: "STATE"},
		{PK: key.PK + "#x", SK: "STATE"}, departure.FormKey(), departure.PepperKey(),
	} {
		_, ok := departure.Name(other)
		require.False(t, ok, other)
	}
	require.Panics(t, func() { departure.StateKey("a#b") })
	require.True(t, strings.HasPrefix(departure.AllStatePKs(), departure.StatePK()+"#"))
}

func TestStateKey_isInTheRegister(t *testing.T) {
	t.Parallel()
	for key, place := range map[item.Key]register.Place{
		departure.StateKey("x"): register.Account, departure.FormKey(): register.Form, departure.PepperKey(): register.Pepper,
	} {
		line, ok := register.FindRow(key.PK, key.SK)
		require.True(t, ok, key)
		require.Equal(t, place, line.Place)
	}
}
