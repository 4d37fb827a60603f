package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/durable"
	"nexus/pkg/entity"
	"nexus/pkg/outbound"
	"nexus/pkg/system"
	"nexus/pkg/webhook"
)

const (
	// masterFile is the name of the file in the data directory with the secret from which those of webhooks follow.
	masterFile = "webhooks"
	// hookCallers is the number of endpoints that are called at a time: an endpoint that hangs holds one of them.
	hookCallers = 64
	// hookCalls is the number of calls that may wait; of more the schedules take care.
	hookCalls = 10_000
)

// hookDriver calls webhooks.
type hookDriver struct {
	p      *Platform
	client *outbound.Client
	may    outbound.Config // be called
	master webhook.Master
	calls  chan string
	busy   atomic.Int64 // calls that wait or run
	ended  atomic.Int64 // since the start

	mu    sync.Mutex
	waits map[string]bool // calls that have not begun
}

func (p *Platform) openWebhooks() error {
	d := &hookDriver{p: p, calls: make(chan string, hookCalls), waits: map[string]bool{}}
	var err error
	if path := p.inData(masterFile); path == "" {
		d.master, err = webhook.NewMaster(rand.Reader)
	} else {
		d.master, err = openMaster(path)
	}
	if err != nil {
		return err
	}
	d.may = outbound.Config{Ports: webhook.Ports(), Timeout: webhook.RequestTime, Loopback: p.options.PrivateWebhooks}
	d.client = outbound.New(d.may)
	p.onStop(func(context.Context) error { d.client.Close(); return nil })
	p.hooks = d
	return nil
}

func openMaster(path string) (webhook.Master, error) {
	text, err := durable.ReadOrWrite(path, func() ([]byte, error) {
		made, err := webhook.NewMaster(rand.Reader)
		return []byte(made.Text() + "\n"), err
	})
	if err != nil {
		return webhook.Master{}, fmt.Errorf("secret of the webhooks: %w", err)
	}
	master, err := webhook.ParseMaster(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return webhook.Master{}, fmt.Errorf("%s: %w", path, err)
	}
	return master, nil
}

func (d *hookDriver) ports() *system.Webhooks {
	return &system.Webhooks{
		Client: d.client, Master: d.master, CheckURL: d.may.Check, Draw: mathrand.Float64, Invoke: d.invoke,
		AtOnce: webhook.AtOnce, Happened: d.happened, Stamp: time.Now,
	}
}

// happened returns the platform's time of a record. A record has the second of the machine's clock, in which the
// platform's may have moved: the time at which its item was written is exact. A removal has none.
func (d *hookDriver) happened(of change.Change) time.Time {
	if at, ok := of.New.Time(entity.AttrUpdatedAt); ok {
		return at.Truncate(time.Second)
	}
	return d.p.clock.recorded(of.Created)
}

// invoke has a call made soon, unless the same one has not begun yet.
func (d *hookDriver) invoke(_ context.Context, payload []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := string(payload)
	if d.waits[one] {
		return nil
	}
	select {
	case d.calls <- one:
		d.waits[one] = true
		d.busy.Add(1)
	default: // a schedule takes care
	}
	return nil
}

// run makes calls until the context ends.
func (d *hookDriver) run(ctx context.Context) {
	var callers sync.WaitGroup
	defer callers.Wait()
	for range hookCallers {
		callers.Go(func() {
			for {
				select {
				case one := <-d.calls:
					d.call(ctx, one)
				case <-ctx.Done():
					return
				}
			}
		})
	}
}

func (d *hookDriver) call(ctx context.Context, payload string) {
	defer d.busy.Add(-1)
	d.mu.Lock()
	delete(d.waits, payload)
	d.mu.Unlock()
	if err := d.work(ctx, []byte(payload)); err != nil && ctx.Err() == nil {
		d.p.log.Warn("a webhook was not called; a schedule calls it", "error", err)
	}
}

// work makes one call. A payload that this platform has not written is passed over.
func (d *hookDriver) work(ctx context.Context, payload []byte) error {
	defer d.p.others.begin()()
	err := d.p.system.Hooks.Work(ctx, payload)
	var malformed *webhook.CallError
	if errors.As(err, &malformed) {
		d.p.log.Error("call of a webhook passed over", "error", malformed)
		err = nil
	}
	if err == nil {
		d.ended.Add(1)
	}
	return err
}

// drain waits until no call waits or runs.
func (d *hookDriver) drain(ctx context.Context) error {
	for d.busy.Load() > 0 {
		waitFor(ctx, settlePause, nil, nil, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
