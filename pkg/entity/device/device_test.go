package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
)

func TestChangeKey_sortsAsItCounts(t *testing.T) {
	t.Parallel()
	require.Equal(t, item.Key{PK: "USER#ann", SK: "CHANGE#000000000009"}, device.ChangeKey("ann", 9))
	require.Less(t, device.ChangeKey("ann", 9).SK, device.ChangeKey("ann", 10).SK)
	for _, n := range []int64{1, 10, device.MaxChange} {
		got, err := device.ParseChange(device.ChangeKey("ann", n).SK)
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	require.Panics(t, func() { device.ChangeKey("ann", 0) })
	require.Panics(t, func() { device.ChangeKey("ann", device.MaxChange+1) })
}

func TestParseChange_refusesWhatIsNoRowOfALog(t *testing.T) {
	t.Parallel()
	for _, sk := range []string{
		"", "CHANGE", "CHANGE#", "CHANGE#1", "CHANGE#000000000000", "CHANGE#00000000000a", "CHANGE#-00000000001",
		"CHANGE#0000000000001", "CHANGE#000000000001#1", "CHANGE#open", "TASK#000000000001",
	} {
		_, err := device.ParseChange(sk)
		require.Error(t, err, sk)
	}
}

func TestRowChange_isOfARowAndNoEntity(t *testing.T) {
	t.Parallel()
	for _, key := range []item.Key{device.ChangeKey("ann", 1), device.WatchKey("ann")} {
		sk, err := entity.ParseSortKey(key.SK)
		require.NoError(t, err)
		require.True(t, sk.IsRow())
		require.Equal(t, device.RowChange, sk.Prefix)
	}
}

func TestPushKey_isOfARowAsThoseOfDevicesAndChoicesAre(t *testing.T) {
	t.Parallel()
	id, err := device.ParseDevice(device.DeviceKey("ann", "d-1").SK)
	require.NoError(t, err)
	require.Equal(t, "d-1", id)
	for _, sk := range []string{"DEVICE", "DEVICE#", "DEVICE#a#b", "CHANGE#open", "TASK#task_1"} {
		_, err := device.ParseDevice(sk)
		require.Error(t, err, sk)
	}
	for _, key := range []item.Key{device.PushKey("ann", "a", "b"), device.ActKey("ann", "a")} {
		sk, err := entity.ParseSortKey(key.SK)
		require.NoError(t, err)
		require.True(t, sk.IsRow())
	}
}

func TestWatchKey_sortsBehindEveryRowOfTheLog(t *testing.T) {
	t.Parallel()
	require.Equal(t, item.Key{PK: "USER#ann", SK: "CHANGE#open"}, device.WatchKey("ann"))
	require.Less(t, device.ChangeKey("ann", device.MaxChange).SK, device.WatchKey("ann").SK)
}
