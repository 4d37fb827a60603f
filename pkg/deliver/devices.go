package deliver

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Attributes of a device.
const (
	attrEndpoint = "endpoint"
	attrP256dh   = "p256dh"
	attrAuth     = "auth"
	attrName     = "name"
	attrSeenOn   = "seenOn"
)

const (
	// DeviceLife is how long a device is kept after it was last registered.
	DeviceLife = 180 * 24 * time.Hour
	// devicePages is how many pages of a query hold all devices that a user can have.
	devicePages = 1
	// authLength is that of a subscription's secret (RFC 8291 §3.2).
	authLength = 16
)

// Device is a browser or another program that a user has registered.
type Device struct {
	ID        string
	Endpoint  string
	Keys      Keys
	Name      string
	CreatedAt time.Time
	SeenOn    time.Time // the day on which it was last registered
}

// Errors of [Devices] on which callers decide.
var (
	// ErrDeviceID says that the text names no device.
	ErrDeviceID = errors.New("a device is named by a UUID in lower case")
	// ErrFull says that the user has as many devices as there may be.
	ErrFull = errors.New("there are as many devices as there may be")
)

// CheckDeviceID accepts a UUID in lower case.
func CheckDeviceID(id string) error {
	if entity.CheckClientID("device", "device_"+id) != nil {
		return ErrDeviceID
	}
	return nil
}

// Check returns what is wrong with a subscription, by the members of its JSON; none if it is right. checkEndpoint
// refuses an endpoint that may not be called.
func (s Device) Check(checkEndpoint func(string) error) (faults []entity.FieldError) {
	add := func(pointer, detail string) {
		faults = append(faults, entity.FieldError{Pointer: pointer, Detail: detail})
	}
	if err := checkEndpoint(s.Endpoint); err != nil {
		add("/endpoint", err.Error())
	}
	point, err := base64.RawURLEncoding.DecodeString(s.Keys.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(point)
	}
	if err != nil {
		add("/keys/p256dh", "must be a point of P-256, uncompressed, in base64url without padding")
	}
	if secret, err := base64.RawURLEncoding.DecodeString(s.Keys.Auth); err != nil || len(secret) != authLength {
		add("/keys/auth", "must be 16 bytes in base64url without padding")
	}
	return faults
}

// CheckHost returns an error for an endpoint whose host is none of the push services that a deployment allows, by the
// suffixes of their names; without suffixes it allows all. The endpoint is a URL.
func CheckHost(host string, suffixes []string) error {
	if len(suffixes) == 0 {
		return nil
	}
	for _, suffix := range suffixes {
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return nil
		}
	}
	return errors.New("is of no push service that is allowed here")
}

func (s Device) row(user string) item.Item {
	row := device.DeviceKey(user, s.ID).Item()
	row[attrEndpoint] = item.String(s.Endpoint)
	row[attrP256dh] = item.String(s.Keys.P256dh)
	row[attrAuth] = item.String(s.Keys.Auth)
	row[attrName] = item.String(s.Name)
	row.SetTime(entity.AttrCreatedAt, s.CreatedAt)
	row[attrSeenOn] = item.String(item.FormatDate(s.SeenOn))
	row[entity.AttrTTL] = item.Int(s.SeenOn.Add(DeviceLife).Unix())
	return row
}

func readDevice(row item.Item) Device {
	id, _ := device.ParseDevice(row.Key().SK)
	created, _ := row.Time(entity.AttrCreatedAt)
	seen, _ := item.ParseDate(row.Str(attrSeenOn))
	return Device{
		ID: id, Endpoint: row.Str(attrEndpoint), Keys: Keys{row.Str(attrP256dh), row.Str(attrAuth)},
		Name: row.Str(attrName), CreatedAt: created, SeenOn: seen,
	}
}

// devicesOf returns the devices of a user, by their ids.
func devicesOf(ctx context.Context, store table.Reader, user string, now time.Time) ([]Device, error) {
	rows, err := table.All(ctx, store, table.Query{
		Partition: entity.UserPK(user), Range: table.Range{Prefix: device.DevicePrefix()},
	}, devicePages)
	if err != nil {
		return nil, fmt.Errorf("read the devices: %w", err)
	}
	var all []Device
	for _, row := range rows {
		if !entity.Expired(row, now) {
			all = append(all, readDevice(row))
		}
	}
	return all, nil
}

// Devices registers the devices of users. It is safe for concurrent use.
type Devices struct {
	store table.Store
	now   func() time.Time
}

// NewDevices returns the service.
func NewDevices(store table.Store, now func() time.Time) *Devices { return &Devices{store, now} }

// List returns the devices of a user, by their ids.
func (s *Devices) List(ctx context.Context, user string) ([]Device, error) {
	return devicesOf(ctx, s.store, user, s.now())
}

// Find returns a device of a user; nil if it is not registered.
func (s *Devices) Find(ctx context.Context, user, id string) (*Device, error) {
	if err := CheckDeviceID(id); err != nil {
		return nil, err
	}
	return findDevice(ctx, s.store, user, id, s.now())
}

// Put registers a device, or renews it. A user with most devices gets [ErrFull] for another one. The count is as of the
// call: two calls at once may pass it by one.
func (s *Devices) Put(ctx context.Context, user string, in Device, most int) (Device, error) {
	if err := CheckDeviceID(in.ID); err != nil {
		return Device{}, err
	}
	all, err := s.List(ctx, user)
	if err != nil {
		return Device{}, err
	}
	now := s.now().UTC().Truncate(time.Second)
	in.CreatedAt, in.SeenOn = now, now.Truncate(24*time.Hour)
	known := false
	for _, one := range all {
		if one.ID == in.ID {
			known, in.CreatedAt = true, one.CreatedAt
		}
	}
	if !known && most > 0 && len(all) >= most {
		return Device{}, ErrFull
	}
	if err := s.store.Put(ctx, table.Put{Item: in.row(user)}); err != nil {
		return Device{}, fmt.Errorf("put a device: %w", err)
	}
	return in, nil
}

// Delete removes a device; one that is not there counts as removed.
func (s *Devices) Delete(ctx context.Context, user, id string) error {
	if err := CheckDeviceID(id); err != nil {
		return err
	}
	if err := s.store.Delete(ctx, table.Delete{Key: device.DeviceKey(user, id)}); err != nil {
		return fmt.Errorf("delete a device: %w", err)
	}
	return nil
}
