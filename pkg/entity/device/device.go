// Package device holds the keys of the rows about a user's devices: the change log, the row that says that an app is
// open, and those by which reminders are told on devices. Package changelog reads the log's rows.
//
// It promises that each key that it builds can be parsed again. It must never know which attributes a row has.
package device

import (
	"fmt"
	"strconv"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Prefixes of the sort keys.
const (
	RowChange = "CHANGE"
	RowDevice = "DEVICE"
	RowPush   = "PUSH"
	RowAct    = "ACT"
)

// watch stands where a row of the change log has its number. It sorts behind every number.
const watch = "open"

// changeDigits is the length of a row's number in the change log: numbers sort as their texts do.
const changeDigits = 12

// MaxChange is the greatest number that a row of a change log may have.
const MaxChange = 999_999_999_999

// key returns a key under the rule of package entity: it panics if a component is empty or contains the separator.
func key(user, prefix string, components ...string) item.Key {
	return item.Key{PK: entity.UserPK(user), SK: entity.SortKey{Prefix: prefix, Components: components}.String()}
}

// ChangeKey returns the key of a row of the user's change log, by its number from 1 on.
func ChangeKey(user string, n int64) item.Key {
	if n < 1 || n > MaxChange {
		panic(fmt.Sprintf("device: number %d of a row of a change log is not in 1..%d", n, int64(MaxChange)))
	}
	return key(user, RowChange, fmt.Sprintf("%0*d", changeDigits, n))
}

// ChangePrefix begins the sort keys of all rows of a change log, and of the watch.
func ChangePrefix() string { return entity.ItemPrefix(RowChange) }

// ParseChange returns the number of a row of a change log.
func ParseChange(sk string) (int64, error) {
	key, err := entity.ParseSortKey(sk)
	if err != nil {
		return 0, err
	}
	digits := key.Components[0]
	n, err := strconv.ParseInt(digits, 10, 64)
	if key.Prefix != RowChange || len(digits) != changeDigits || err != nil || n < 1 {
		return 0, fmt.Errorf("sort key %q: want %s and a number of %d digits from 1 on", sk, RowChange, changeDigits)
	}
	return n, nil
}

// WatchKey returns the key of the row that says, while it lives, that some app of the user is open. It sorts right
// behind the newest row of the change log, so that one read has both.
func WatchKey(user string) item.Key { return key(user, RowChange, watch) }

// DeviceKey returns the key of the row of a device on which reminders are told.
func DeviceKey(user, deviceID string) item.Key { return key(user, RowDevice, deviceID) }

// DevicePrefix begins the sort keys of all devices of a user.
func DevicePrefix() string { return entity.ItemPrefix(RowDevice) }

// ParseDevice returns the id of a device, by the sort key of its row.
func ParseDevice(sk string) (id string, err error) {
	key, err := entity.ParseSortKey(sk)
	if err == nil && key.Prefix != RowDevice {
		err = fmt.Errorf("sort key %q: want %s and the id of a device", sk, RowDevice)
	}
	if err != nil {
		return "", err
	}
	return key.Components[0], nil
}

// PushKey returns the key of the row that says whether a delivery was told on a device.
func PushKey(user, deliveryID, deviceID string) item.Key {
	return key(user, RowPush, deliveryID, deviceID)
}

// PushPrefix begins the sort keys of all rows of deliveries on devices.
func PushPrefix() string { return entity.ItemPrefix(RowPush) }

// ActKey returns the key of the row that says what was chosen about a delivery.
func ActKey(user, deliveryID string) item.Key { return key(user, RowAct, deliveryID) }
