package deliver

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// ActPath begins the path at which a notification's action is taken; a [Token] follows it.
const ActPath = "/v1/act/"

// ActLife is how long a delivery may be acted on, from the instant at which it was decided.
const ActLife = 24 * time.Hour

// The actions.
const (
	ActSnooze   = "snooze"
	ActComplete = "complete"
)

// actLength is the number of random bytes of a token.
const actLength = 16

func newAct(random io.Reader) (string, error) {
	bits := make([]byte, actLength)
	if _, err := io.ReadFull(random, bits); err != nil {
		return "", fmt.Errorf("draw the right to act: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(bits), nil
}

// hasActions reports whether a notification of an item of that type offers actions.
func hasActions(itemType string) bool {
	return itemType == product.TypeReminder || itemType == product.TypeTask
}

// Token is the right to act once on one delivery, as one device has it.
type Token struct{ User, DeliveryID, DeviceID, Act string }

// String returns the token as the last part of a path.
func (t Token) String() string { return t.User + "." + t.DeliveryID + "." + t.DeviceID + "." + t.Act }

// ParseToken is the inverse of [Token.String].
func ParseToken(text string) (Token, bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 4 {
		return Token{}, false
	}
	t := Token{parts[0], parts[1], parts[2], parts[3]}
	return t, entity.CheckUserID(t.User) == nil && isDeliveryID(t.DeliveryID) && CheckDeviceID(t.DeviceID) == nil &&
		t.Act != ""
}

// Choice is the action that a user chose about a delivery.
type Choice struct {
	Action  string
	Minutes int64 // of a snooze
}

// Target names the item and the occurrence of a choice.
type Target struct{ ItemType, ItemID, OccurrenceUtc string }

// Errors of [Acts.Choose] on which callers decide.
var (
	// ErrNoAct says that the token is none, or that its time is over.
	ErrNoAct = errors.New("there is nothing to act on")
	// ErrActed says that something else was chosen about the delivery before.
	ErrActed = errors.New("something else was chosen before")
	// ErrNoSuchAction says that items of that type have no such action.
	ErrNoSuchAction = errors.New("the item has no such action")
)

// Acts keeps what users choose about deliveries. It is safe for concurrent use.
type Acts struct {
	store table.Store
	now   func() time.Time
}

// NewActs returns the service.
func NewActs(store table.Store, now func() time.Time) *Acts { return &Acts{store, now} }

// IdempotencyKey names the command that carries out what was chosen about a delivery: the same for all devices.
func IdempotencyKey(deliveryID string) string { return "act-" + deliveryID }

// Zone returns the zone in which the user's floating times are read.
func (s *Acts) Zone(ctx context.Context, user string) (*time.Location, error) {
	meta, err := table.Find(ctx, s.store, entity.MetaKey(user))
	return product.ZoneOf(meta), err
}

// Choose records a choice, and returns what it is about. The first choice about a delivery stands, on whichever device
// it was made; a repetition of it is answered alike. admit is asked once the token has proved to be good: a stranger
// uses up no rate of the user's.
func (s *Acts) Choose(ctx context.Context, t Token, c Choice, admit func() error) (Target, error) {
	row, err := table.Find(ctx, s.store, device.PushKey(t.User, t.DeliveryID, t.DeviceID))
	if err != nil {
		return Target{}, err
	}
	if row == nil || subtle.ConstantTimeCompare([]byte(row.Str(attrAct)), []byte(t.Act)) != 1 {
		return Target{}, ErrNoAct
	}
	of, err := readDelivery(row)
	if err != nil {
		return Target{}, err
	}
	now := s.now().UTC().Truncate(time.Second)
	if !now.Before(of.event.firedAt.Add(ActLife)) {
		return Target{}, ErrNoAct
	}
	if !hasActions(of.event.ItemType) || c.Action == ActSnooze && of.event.ItemType != product.TypeReminder {
		return Target{}, ErrNoSuchAction
	}
	if err := admit(); err != nil {
		return Target{}, err
	}
	chosen := device.ActKey(t.User, t.DeliveryID).Item()
	chosen[attrAction], chosen[attrMinutes] = item.String(c.Action), item.Int(c.Minutes)
	chosen[attrDeviceID] = item.String(t.DeviceID)
	chosen.SetTime(attrAt, now)
	chosen[entity.AttrTTL] = item.Int(of.event.firedAt.Add(Retention).Unix())
	err = s.store.Put(ctx, table.Put{Item: chosen, If: table.NotExists()})
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		before := failed.Failures[0].Old
		if before.Str(attrAction) != c.Action || before.Int(attrMinutes) != c.Minutes {
			return Target{}, ErrActed
		}
		err = nil
	}
	if err != nil {
		return Target{}, fmt.Errorf("put what was chosen: %w", err)
	}
	return Target{of.event.ItemType, of.event.ItemID, of.event.OccurrenceUtc}, nil
}
