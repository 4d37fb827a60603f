package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/command"
	"nexus/pkg/deliver"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
)

// Notifications hold the dependencies of the operations about reminders on devices.
type Notifications struct {
	Devices *deliver.Devices
	Acts    *deliver.Acts
	// Name returns the pseudonym by which devices know the user.
	Name func(user string) string
	// Key is the public key by which push services know the deployment.
	Key string
	// CheckEndpoint refuses an endpoint that may not be called.
	CheckEndpoint func(endpoint string) error
	// Test has a device told that it is reached. It may return before that is done.
	Test func(ctx context.Context, t deliver.Test) error
	// Hosts are the suffixes of the hosts of push services that are allowed; none allows all.
	Hosts []string
}

const (
	devicesPath = "/v1/me/devices"

	memberDeviceID   = "deviceId"
	memberExpiration = "expirationTime"
	memberEndpoint   = "endpoint"
	memberKeys       = "keys"
	memberP256dh     = "p256dh"
	memberAuth       = "auth"
	memberName       = "name"
	memberSeenOn     = "seenOn"
	memberKey        = "key"
	memberUser       = "user"
	memberDelivery   = "deliveryId"

	memberAct     = "act"
	memberAction  = "action"
	memberMinutes = "minutes"

	maxKeyText    = 100
	maxDeviceName = 100
	snoozeMinutes = 10
)

// mayNotify reports why nothing is told on devices here.
func (s *Config) mayNotify() error {
	if s.Notifications == nil {
		return refuse(notFound, "This system tells no devices of reminders.")
	}
	return nil
}

// deviceOperations returns the operations with which a user has reminders told on devices.
func deviceOperations() []*operation {
	path := map[string]object{memberDeviceID: deviceIDSchema()}
	text := func(name, doc string, most int64) entity.Field {
		return entity.Field{Name: name, Kind: entity.Text, Required: true, Min: 1, Max: most, Doc: doc}
	}
	registration := form(
		text(memberEndpoint, "Where the push service takes messages for the device: https.", 1024),
		entity.Field{Name: memberKeys, Kind: entity.Object, Required: true, Doc: "The keys of the subscription.",
			Fields: []entity.Field{
				text(memberP256dh, "The public key, in base64url.", maxKeyText),
				text(memberAuth, "The secret, in base64url.", maxKeyText),
			}},
		text(memberName, "How the user knows the device.", maxDeviceName),
		entity.Field{Name: memberExpiration, Kind: entity.Integer, Max: 1 << 53,
			Doc: "As a browser's subscription has it. It is not kept: what the push service says ends a device."},
	)
	return []*operation{
		{
			id: "listDevices", method: http.MethodGet, path: devicesPath, tag: "me", finds: true,
			summary: "List the devices on which reminders are told", detail: "By their ids, without endpoints and keys.",
			answers: []documented{{
				status: http.StatusOK, doc: "The devices.",
				schema: record([]string{memberItems}, object{{memberItems, listOf(deviceSchema())}}),
			}},
			run: listDevices,
		},
		{
			id: "getPushKey", method: http.MethodGet, path: devicesPath + "/key", tag: "me", finds: true,
			summary: "Read what a browser needs to subscribe",
			detail: "key is the applicationServerKey of PushManager.subscribe. user is the name of the user in messages: a " +
				"service worker shows nothing of another.",
			answers: []documented{{status: http.StatusOK, doc: "The key and the name.", schema: record(
				[]string{memberKey, memberUser}, object{
					{memberKey, textSchema("The public key of the deployment, in base64url.")},
					{memberUser, textSchema("A pseudonym of the user.")},
				})}},
			run: func(_ context.Context, s *Config, c call) (answer, error) {
				if err := s.mayNotify(); err != nil {
					return answer{}, err
				}
				return viewAnswer(http.StatusOK, object{
					{memberKey, s.Notifications.Key}, {memberUser, s.Notifications.Name(c.user)},
				})
			},
		},
		{
			id: "putDevice", method: http.MethodPut, path: devicesPath + "/{" + memberDeviceID + "}", tag: "me",
			writes: true, alone: true, forgets: true, finds: true, paths: path,
			summary: "Register a device for reminders, or renew it",
			detail: "The id is a UUID that the device draws once. A device that was not renewed for 180 days is forgotten: " +
				"renew it whenever the app opens. One whose push service says that it is gone is removed.",
			body: &body{
				form: registration, schema: formSchema(registration), required: true, example: map[string]any{
					memberEndpoint: "https://push.example.com/send/abc", memberName: "Firefox on the laptop",
					memberKeys: map[string]any{
						memberP256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
						memberAuth:   "tBHItJI5svbpez7KI4CCXg",
					},
				},
			},
			answers:   []documented{{status: http.StatusOK, doc: "The device.", schema: deviceSchema()}},
			conflicts: "The user has as many devices as there may be: " + quotaReached.slug + ".",
			run:       putDevice,
		},
		{
			id: "deleteDevice", method: http.MethodDelete, path: devicesPath + "/{" + memberDeviceID + "}", tag: "me",
			writes: true, alone: true, forgets: true, finds: true, whileLeaving: true, paths: path,
			summary: "Tell a device no more", detail: "One that is not there was removed already.",
			answers: []documented{{status: http.StatusNoContent, doc: "There is no such device any more."}},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				if err := s.mayNotify(); err != nil {
					return answer{}, err
				}
				err := s.Notifications.Devices.Delete(ctx, c.user, c.path[memberDeviceID])
				return answer{status: http.StatusNoContent}, deviceProblem(err, 0)
			},
		},
		testOperation(path),
		actOperation(),
	}
}

// testOperation sends a message to one device.
func testOperation(path map[string]object) *operation {
	return &operation{
		id: "testDevice", method: http.MethodPost, path: devicesPath + "/{" + memberDeviceID + "}/test", tag: "me",
		writes: true, alone: true, forgets: true, finds: true, paths: path,
		summary: "Send a test to a device",
		detail: "The device gets a message with the itemType " + deliver.TypeTest + " and its own name as title. All tests " +
			"of a device within a minute are one. The answer does not wait for the push service.",
		answers: []documented{{status: http.StatusAccepted, doc: "The message is on its way.", schema: record(
			[]string{memberDelivery}, object{{memberDelivery, object{
				{"type", "string"}, {"pattern", "^[A-Za-z0-9_-]{1,64}$"}, {"description", "The deliveryId of the message."},
			}}},
		)}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			if err := s.mayNotify(); err != nil {
				return answer{}, err
			}
			on, err := s.Notifications.Devices.Find(ctx, c.user, c.path[memberDeviceID])
			if err != nil {
				return answer{}, deviceProblem(err, 0)
			}
			if on == nil {
				return answer{}, refuse(notFound, "There is no such device.")
			}
			t := s.Notifications.Devices.NewTest(c.user, on.ID)
			if err := s.Notifications.Test(ctx, t); err != nil {
				return answer{}, err
			}
			return viewAnswer(http.StatusAccepted, object{{memberDelivery, t.DeliveryID()}})
		},
	}
}

// deviceProblem returns the problem of an error about devices.
func deviceProblem(err error, most int) error {
	switch {
	case errors.Is(err, deliver.ErrDeviceID):
		return refuse(notFound, "A device is named by a UUID in lower case.")
	case errors.Is(err, deliver.ErrFull):
		p := refuse(quotaReached, "There are %d devices. Delete one, and try again.", most)
		p.Quota, p.Limit, p.Used = limit.Devices, &most, &most
		return p
	}
	return err
}

func listDevices(ctx context.Context, s *Config, c call) (answer, error) {
	if err := s.mayNotify(); err != nil {
		return answer{}, err
	}
	all, err := s.Notifications.Devices.List(ctx, c.user)
	if err != nil {
		return answer{}, err
	}
	views := []object{}
	for _, one := range all {
		views = append(views, viewOfDevice(one))
	}
	return viewAnswer(http.StatusOK, object{{memberItems, views}})
}

func putDevice(ctx context.Context, s *Config, c call) (answer, error) {
	if err := s.mayNotify(); err != nil {
		return answer{}, err
	}
	keys := c.form.Map(memberKeys)
	in := deliver.Device{
		ID: c.path[memberDeviceID], Endpoint: c.form.Str(memberEndpoint), Name: c.form.Str(memberName),
		Keys: deliver.Keys{P256dh: keys.Str(memberP256dh), Auth: keys.Str(memberAuth)},
	}
	if err := deliver.CheckDeviceID(in.ID); err != nil {
		return answer{}, deviceProblem(err, 0)
	}
	if faults := in.Check(s.Notifications.check); len(faults) > 0 {
		return answer{}, refuseFields(faults...)
	}
	most := s.Limits.Numbers[limit.Devices] // 0, for none, in a system without limits
	made, err := s.Notifications.Devices.Put(ctx, c.user, in, most)
	if err != nil {
		return answer{}, deviceProblem(err, most)
	}
	return viewAnswer(http.StatusOK, viewOfDevice(made))
}

// check refuses an endpoint that may not be called, or is of no push service that is allowed.
func (n *Notifications) check(endpoint string) error {
	if err := n.CheckEndpoint(endpoint); err != nil {
		return err
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	return deliver.CheckHost(u.Hostname(), n.Hosts)
}

func viewOfDevice(d deliver.Device) object {
	return object{
		{memberDeviceID, d.ID}, {memberName, d.Name}, {entity.AttrCreatedAt, item.FormatInstant(d.CreatedAt)},
		{memberSeenOn, item.FormatDate(d.SeenOn)},
	}
}

func deviceIDSchema() object {
	return object{
		{"type", "string"}, {"pattern", "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
		{"description", "A device: a UUID in lower case."},
	}
}

func deviceSchema() object {
	return record([]string{memberDeviceID, memberName, entity.AttrCreatedAt, memberSeenOn}, object{
		{memberDeviceID, deviceIDSchema()},
		{memberName, textSchema("How the user knows the device.")},
		{entity.AttrCreatedAt, instantSchema("When it was first registered.")},
		{memberSeenOn, object{{"type", "string"}, {"format", "date"}, {"description", "When it was last registered."}}},
	})
}

// actOperation takes the action that a user chose on a notification.
func actOperation() *operation {
	choice := form(
		entity.Field{Name: memberAction, Kind: entity.Enum, Required: true,
			Enum: []string{deliver.ActSnooze, deliver.ActComplete}, Doc: "What the user chose."},
		entity.Field{Name: memberMinutes, Kind: entity.Integer, Min: 1, Max: maxSnoozeMinutes,
			Doc: "Minutes of a snooze, from now; 10 without."},
	)
	return &operation{
		id: "actOnNotification", method: http.MethodPost, path: deliver.ActPath + "{" + memberAct + "}", tag: "me",
		open: true, writes: true, alone: true, forgets: true, finds: true,
		paths: map[string]object{memberAct: {
			{"type", "string"}, {"pattern", `^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){3}$`},
			{"description", "The part behind /v1/act/ of the member act of a message."},
		}},
		summary: "Take the action that was chosen on a notification",
		detail: "For a service worker, which has no token. The path comes in the message alone. It is good for 24 hours, " +
			"for one action about the item's present occurrence. A repetition of the action is answered alike, also from " +
			"another device.",
		body: &body{
			form: choice, schema: formSchema(choice), required: true, example: map[string]any{memberAction: deliver.ActComplete},
		},
		answers: []documented{{status: http.StatusNoContent, doc: "It is done."}},
		conflicts: "Something else was chosen before, on this device or another; the item has another present occurrence, " +
			"or is done.",
		run: act,
	}
}

func act(ctx context.Context, s *Config, c call) (answer, error) {
	if err := s.mayNotify(); err != nil {
		return answer{}, err
	}
	token, ok := deliver.ParseToken(c.path[memberAct])
	if !ok {
		return answer{}, noAct()
	}
	chosen := deliver.Choice{Action: c.form.Str(memberAction), Minutes: c.form.Int(memberMinutes)}
	if chosen.Action == deliver.ActSnooze && chosen.Minutes == 0 {
		chosen.Minutes = snoozeMinutes
	}
	if chosen.Action != deliver.ActSnooze && chosen.Minutes != 0 {
		return answer{}, refuseFields(entity.FieldError{Pointer: "/" + memberMinutes, Detail: "is for a snooze alone"})
	}
	of, err := s.Notifications.Acts.Choose(ctx, token, chosen, func() error { return s.mayAct(ctx, token.User) })
	switch {
	case errors.Is(err, deliver.ErrNoAct):
		return answer{}, noAct()
	case errors.Is(err, deliver.ErrActed):
		return answer{}, refuse(stateConflict, "Something else was chosen before.")
	case errors.Is(err, deliver.ErrNoSuchAction):
		return answer{}, refuseFields(entity.FieldError{Pointer: "/" + memberAction,
			Detail: "is none of this item: a task can be completed, and a reminder completed or snoozed"})
	case err != nil:
		return answer{}, err
	}
	cmd, err := s.commandOf(ctx, token.User, chosen, of)
	if err != nil {
		return answer{}, err
	}
	_, err = s.Commands.Do(ctx, command.Request{
		User: token.User, Command: cmd, IdempotencyKey: deliver.IdempotencyKey(token.DeliveryID),
	})
	return answer{status: http.StatusNoContent}, err
}

func noAct() *Problem { return refuse(notFound, "There is nothing to act on.") }

// mayAct refuses what the rate of open addresses or the state of the account does not allow.
func (s *Config) mayAct(ctx context.Context, user string) error {
	if s.Fence != nil {
		state, _, err := s.Fence.State(ctx, user)
		if err != nil {
			return err
		}
		if state != account.Present {
			return noAct()
		}
	}
	if s.limiter == nil {
		return nil
	}
	_, err := s.limiter.Take(ctx, user, limit.Feed, 1)
	return err
}

// commandOf returns the command that carries out what was chosen. It is refused unless the occurrence of the
// notification is the present one.
func (s *Config) commandOf(
	ctx context.Context, user string, chosen deliver.Choice, of deliver.Target,
) (command.Command, error) {
	switch {
	case chosen.Action == deliver.ActSnooze:
		return command.SnoozeReminder{ID: of.ItemID, Minutes: &chosen.Minutes, OccurrenceUtc: of.OccurrenceUtc}, nil
	case of.ItemType == product.TypeReminder:
		return command.CompleteReminder{ID: of.ItemID, OccurrenceUtc: of.OccurrenceUtc}, nil
	}
	zone, err := s.Notifications.Acts.Zone(ctx, user)
	if err != nil {
		return nil, err
	}
	return completeTask(s.Registry.ByName(product.TypeTask), of, zone), nil
}

// completeTask completes a task whose due time is still the one that was told.
func completeTask(t *entity.Type, of deliver.Target, zone *time.Location) command.Command {
	return command.CustomCommand{
		Name: "completeTold", Type: t, ID: of.ItemID, Arguments: []any{of.OccurrenceUtc},
		Apply: func(before item.Item, _ time.Time) (item.Item, error) {
			switch before.Str(entity.AttrStatus) {
			case product.StatusCompleted, product.StatusArchived:
				return before, nil
			}
			for _, due := range t.Dues(before) {
				at := due.Occurrence
				if due.Floating {
					at = item.Resolve(at, zone)
				}
				if item.FormatInstant(at) == of.OccurrenceUtc {
					after := before.Clone()
					after[entity.AttrStatus] = item.String(product.StatusCompleted)
					return after, nil
				}
			}
			return nil, &command.StateError{
				Ref: entity.Ref{Type: t.Name, ID: of.ItemID}, Reason: "is due at another time now",
			}
		},
	}
}
