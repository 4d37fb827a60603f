package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/deliver"
	"nexus/pkg/deliver/webpush"
	"nexus/pkg/durable"
	"nexus/pkg/local/pushservice"
	"nexus/pkg/outbound"
	"nexus/pkg/schedule"
	schedulelocal "nexus/pkg/schedule/local"
	"nexus/pkg/system"
	"nexus/pkg/webhook"
)

const (
	// vapidFile and pushedFile are the names of files in the data directory: the key by which push services know the
	// system, and how many events of the bus were handled.
	vapidFile  = "vapid"
	pushedFile = "pushed"
	// pushBatch is how many events are read at a time.
	pushBatch = 100
	// pushContact is where a push service's operators would reach those of a local system.
	pushContact = "https://localhost"
)

// pushDriver tells devices of the reminders on the bus, one event after another, from a checkpoint of its own.
type pushDriver struct {
	p       *Platform
	path    string // of the checkpoint; empty for memory only
	service *pushservice.Service
	client  *outbound.Client
	own     netip.AddrPort // at which the platform reaches itself
	key     webpush.Key
	poked   chan struct{}
	handled atomic.Int64 // events since the start

	mu   sync.Mutex
	next int // the number of the next event
}

// openPushes opens the checkpoint. A system without one begins behind the events that there are.
func (p *Platform) openPushes() (err error) {
	d := &pushDriver{p: p, path: p.inData(pushedFile), poked: make(chan struct{}, 1), next: p.bus.Published()}
	if p.inData(vapidFile) == "" {
		d.key, err = webpush.NewKey(rand.Reader)
	} else {
		d.key, err = webpush.OpenFile(p.inData(vapidFile), rand.Reader)
	}
	if err != nil {
		return err
	}
	if d.path != "" {
		text, err := os.ReadFile(d.path)
		if err == nil {
			d.next, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = d.keep()
		}
		if err != nil {
			return fmt.Errorf("checkpoint of the devices: %w", err)
		}
	}
	if d.own, err = ownAddress(p.address); err != nil {
		return err
	}
	d.service = pushservice.New(pushservice.Config{Secret: []byte(d.key.Text()), Now: p.clock.Now})
	called := d.own
	if p.options.PushService.IsValid() {
		called = p.options.PushService
	}
	d.client = outbound.New(outbound.Config{Own: called})
	p.onStop(func(context.Context) error { d.client.Close(); return nil })
	p.pushes = d
	return nil
}

// ownAddress returns the address at which the platform reaches itself.
func ownAddress(address string) (netip.AddrPort, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	own, err := netip.ParseAddrPort(address)
	if err == nil && own.Addr().IsLoopback() {
		return own, nil
	}
	return netip.ParseAddrPort(net.JoinHostPort("127.0.0.1", port))
}

// ports returns what the system needs to tell devices.
func (d *pushDriver) ports() *system.Pushes {
	return &system.Pushes{
		Sender: webpush.New(webpush.Config{Client: d.client, Key: d.key, Contact: pushContact, Now: d.p.clock.Now}),
		Key:    d.key.Public(), CheckEndpoint: d.client.Check,
	}
}

// wake makes the driver read the bus again.
func (d *pushDriver) wake() {
	select {
	case d.poked <- struct{}{}:
	default: // a read is already pending
	}
}

// run drives until the context ends.
func (d *pushDriver) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := time.Duration(-1) // for news alone
		if err := d.drain(ctx); err != nil && ctx.Err() == nil {
			d.p.log.Warn("devices were not told of a reminder; it is tried again", "error", err)
			wait = driverPause
		}
		waitFor(ctx, wait, d.poked, nil, nil)
	}
}

// drain handles the events that the bus has.
func (d *pushDriver) drain(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		events, err := d.p.bus.From(d.next, pushBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		done := 0
		for _, e := range events {
			if e.Type == deliver.EventType {
				if err = d.handle(ctx, e.Detail); err != nil {
					break
				}
				d.handled.Add(1)
			}
			done++
		}
		d.next += done
		if kept := d.keep(); kept != nil || err != nil {
			return errors.Join(err, kept)
		}
	}
}

// handle handles one event. One that can never be handled is passed over.
func (d *pushDriver) handle(ctx context.Context, detail []byte) error {
	defer d.p.others.begin()()
	errPut, errTell := d.p.system.Hooks.HandleReminder(ctx, detail), d.p.system.Deliverer.Handle(ctx, detail)
	if malformed := (*webhook.CallError)(nil); errors.As(errPut, &malformed) {
		errPut = nil // the other one says so, too
	}
	if malformed := (*deliver.EventError)(nil); errors.As(errTell, &malformed) {
		d.p.log.Error("event passed over", "error", malformed)
		errTell = nil
	}
	return errors.Join(errPut, errTell)
}

// keep writes the checkpoint.
func (d *pushDriver) keep() error {
	if d.path == "" {
		return nil
	}
	return durable.WriteFile(d.path, []byte(strconv.Itoa(d.next)+"\n"))
}

// forget removes a user's events from the bus. Those behind them get other numbers, so the checkpoint moves first: what
// is handled twice after a crash is told once.
func (d *pushDriver) forget(user string) (removed int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, err := d.p.bus.CountBefore(user, d.next)
	if err != nil {
		return 0, err
	}
	if d.next -= before; before > 0 {
		if err := d.keep(); err != nil {
			return 0, err
		}
	}
	return d.p.bus.Forget(user)
}

// getPushes lists what the local push service has for its subscriptions.
func (p *Platform) getPushes(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := listParams(r, maxList); err != nil {
		return err
	}
	return answer(w, listed[pushservice.Message]{Items: append([]pushservice.Message{}, p.pushes.service.Messages()...)})
}

// subscribed is a subscription as PUT /v1/me/devices/{deviceId} takes it.
type subscribed struct {
	ID       string            `json:"id"`
	Endpoint string            `json:"endpoint"`
	Keys     map[string]string `json:"keys"`
}

// postPushes makes a subscription at the local push service or, with an id, has the service answer for it from now on.
func (p *Platform) postPushes(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		ID     string              `json:"id"`
		Answer *pushservice.Answer `json:"answer"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	if (body.ID == "") != (body.Answer == nil) {
		return refusal(http.StatusUnprocessableEntity, "id and answer come together, or neither does")
	}
	if body.Answer != nil {
		if s := body.Answer.Status; s != 0 && (s < 200 || s > 599) {
			return refusal(http.StatusUnprocessableEntity, "status is 0 for no answer, or 200 to 599")
		}
		p.pushes.service.SetAnswer(body.ID, *body.Answer)
	} else {
		body.ID = uuid.NewString()
	}
	s := p.pushes.service.Subscribe(body.ID)
	return answer(w, subscribed{
		ID: s.ID, Endpoint: "http://" + p.pushes.own.String() + pushservice.Path + s.ID,
		Keys: map[string]string{"p256dh": s.P256dh, "auth": s.Auth},
	})
}

// undated is a context without a deadline, which ends all the same: a deadline is of the machine's clock, and a call
// compares it with the platform's.
type undated struct{ context.Context }

func (undated) Deadline() (time.Time, bool) { return time.Time{}, false }

// targetOf makes the deliverer the target of its schedules, the worker of webhooks that of its own, and another one
// that of all others.
func (p *Platform) targetOf(others schedulelocal.Target) schedulelocal.Target {
	return func(ctx context.Context, s schedule.Schedule) error {
		ctx = undated{ctx}
		var err error
		switch {
		case strings.HasPrefix(s.Name, deliver.SchedulePrefix):
			defer p.others.begin()()
			err = p.system.Deliverer.Wake(ctx, s.Payload)
		case strings.HasPrefix(s.Name, webhook.SchedulePrefix):
			err = p.hooks.work(ctx, s.Payload)
		default:
			return others(ctx, s)
		}
		if err == nil {
			p.schedules.calls.Add(1)
		}
		return err
	}
}
