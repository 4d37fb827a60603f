package metering_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/entity/metering"
	"nexus/pkg/item"
)

func TestRateKey_isParsedAgain(t *testing.T) {
	t.Parallel()
	key := metering.RateKey("ann", "user")
	require.Equal(t, item.Key{PK: "USER#ann", SK: "RATE#user"}, key)
	parsed, err := entity.ParseSortKey(key.SK)
	require.NoError(t, err)
	require.Equal(t, entity.SortKey{Prefix: "RATE", Components: []string{"user"}}, parsed)
	require.Panics(t, func() { metering.RateKey("ann", "a#b") })
}

func TestCountKey_isParsedAgain(t *testing.T) {
	t.Parallel()
	key := metering.CountKey("ann")
	require.Equal(t, item.Key{PK: "USER#ann", SK: "COUNT#ann"}, key)
	parsed, err := entity.ParseSortKey(key.SK)
	require.NoError(t, err)
	require.Equal(t, entity.SortKey{Prefix: "COUNT", Components: []string{"ann"}}, parsed)
}
