package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/blob"
	buslocal "nexus/pkg/bus/local"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/fault"
	"nexus/pkg/mask"
	"nexus/pkg/pepper"
	"nexus/pkg/port"
	"nexus/pkg/product"
	schedulelocal "nexus/pkg/schedule/local"
	"nexus/pkg/system"
)

const (
	// finishBound bounds how long running requests may take to finish when the platform stops.
	finishBound = 5 * time.Second
	// headerBound bounds how long a client may take to send a request's header.
	headerBound = 10 * time.Second
	// idleBound bounds how long a connection may wait for its next request.
	idleBound = 2 * time.Minute
	// maxHeaderBytes bounds a request's header.
	maxHeaderBytes = 64 << 10
)

// Platform is a running system. Its methods are safe for concurrent use.
type Platform struct {
	options  Options
	registry *entity.Registry
	log      *slog.Logger
	started  time.Time

	pepper    pepper.Pepper
	clock     *clock
	backend   *backend
	stream    *eventsource.Shared // of all readers
	rows      *expiries
	bus       *buslocal.Bus
	blobs     blob.Streamer
	exports   exportDriver
	retention retention
	exporter  sync.Mutex // held while exports are carried out
	scheduler *schedulelocal.Scheduler
	hub       *hub
	seen      *seen // nil without the console
	users     users
	faults    *fault.Box // nil without the console
	hints     *hints
	others    others // requests, batches and calls that have begun
	readers   []*reader
	isWaking  atomic.Bool // the readers, within wakeWithin
	schedules *schedulerDriver
	walks     *walkDriver
	pushes    *pushDriver
	hooks     *hookDriver
	sweeps    *sweepDriver
	reminded  *remindersTally
	appended  atomic.Int64 // entries of change logs
	meters    meters
	system    *system.System
	// writeBehind writes checkpoints; nil if none are stored on disk.
	writeBehind func(context.Context)

	server  *http.Server
	address string
	// the secret that bearers need in addition to their id; empty if only this machine reaches the platform
	token  string
	moving sync.Mutex // one move of the clock at a time
	// erasures is held while accounts are erased.
	erasures   sync.Mutex
	wasSetBack bool           // the table, to an earlier state, before this start
	atStart    *account.Again // what the start erased again, until POST /dev/erase has told it
	walked     chan struct{}  // closed when the walk for rows that will expire is done

	closers []func(context.Context) error // run from the last to the first
	cancel  context.CancelFunc
	work    sync.WaitGroup

	ending   sync.Once
	ended    chan struct{}
	failure  error // before ended is closed
	stopping sync.Once
	stopped  error
}

// Start starts the platform and returns when it serves. The context bounds the start alone.
//
// Errors on which callers decide: ErrOptions; ErrInUse and engine.ErrInUse if another process has the data directory;
// engine.ErrNotInstalled; engine.ErrDamaged for a file of the data directory that cannot be read; and for an address in
// use the system's error.
func Start(ctx context.Context, options Options) (*Platform, error) {
	options, err := options.normal()
	if err != nil {
		return nil, err
	}
	registry, err := product.RegistryWith(options.Types...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	p := &Platform{
		options: options, registry: registry, started: time.Now(),
		log:  slog.New(mask.New(options.Log.Handler(), pepper.Pepper{})), // until the pepper is known
		rows: newExpiries(registry.Types()), hub: newHub(), reminded: newRemindersTally(),
		walked: make(chan struct{}), ended: make(chan struct{}),
	}
	if !options.NoConsole {
		p.seen = newSeen(p.hub)
		p.faults = fault.New(time.Now, port.Sleep, func(a fault.Armed) {
			p.hub.broadcast("fault", func() []byte { return line(a) })
		})
	}
	if options.Expose {
		p.token = exposedToken()
	}
	p.hints, p.exports = p.newHints(), p.newExports()
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the local platform: %w", err), p.Stop(context.WithoutCancel(ctx)))
	}
	return p, nil
}

func (p *Platform) start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.options.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s (choose another address with --addr): %w", p.options.Addr, err)
	}
	p.onStop(func(context.Context) error {
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil // the server closed it
	})
	p.address = listener.Addr().String()
	if err := p.open(ctx); err != nil {
		return err
	}
	handler, err := p.assemble(ctx)
	if err != nil {
		return err
	}
	if err := p.eraseBroughtBack(ctx); err != nil {
		return err
	}
	p.server = &http.Server{
		Handler: handler, ReadHeaderTimeout: headerBound, IdleTimeout: idleBound, MaxHeaderBytes: maxHeaderBytes,
		ConnState: (&idlers{}).changed,
		ErrorLog:  slog.NewLogLogger(p.log.With("part", "http").Handler(), slog.LevelWarn),
	}
	p.run(listener)
	return nil
}

// run starts everything that goes on until the platform stops.
func (p *Platform) run(listener net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.work.Go(func() {
		if err := p.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			p.fail(fmt.Errorf("serve HTTP: %w", err))
		}
	})
	if p.backend.done != nil {
		p.work.Go(func() {
			select {
			case <-p.backend.done:
				p.fail(fmt.Errorf("the engine has ended: %w", p.backend.err()))
			case <-ctx.Done():
			}
		})
	}
	if p.seen != nil {
		p.work.Go(func() { p.runRates(ctx) })
	}
	if p.options.Collector != "" {
		p.work.Go(func() { p.exportSpans(ctx) })
	}
	if p.options.EraseAgain || p.options.Despite {
		return
	}
	for _, r := range p.readers {
		p.work.Go(func() {
			if err := r.mapping.Run(ctx); err != nil {
				p.fail(err)
			}
		})
	}
	if p.writeBehind != nil {
		p.work.Go(func() { p.writeBehind(ctx) })
	}
	p.work.Go(func() { p.schedules.run(ctx) })
	p.work.Go(func() { p.tendAccounts(ctx) })
	p.work.Go(func() { p.walks.run(ctx) })
	p.work.Go(func() { p.pushes.run(ctx) })
	p.work.Go(func() { p.hooks.run(ctx) })
	p.work.Go(func() { p.runExports(ctx) })
	if p.backend.sweep != nil {
		p.work.Go(func() { p.sweeps.run(ctx) })
		p.work.Go(func() { p.walkRows(ctx) })
	} else {
		close(p.walked)
	}
}

func (p *Platform) walkRows(ctx context.Context) {
	if err := p.rows.walk(ctx, p.backend.walker); err != nil {
		if ctx.Err() == nil {
			p.fail(fmt.Errorf(
				"read the rows that will expire: %w. Start again: a start says whether the table's file is damaged", err))
		}
		return
	}
	close(p.walked)
}

// URL returns the base URL of the HTTP API for clients on this machine.
func (p *Platform) URL() string {
	host, port, err := net.SplitHostPort(p.address)
	// it listens on every address, and none of them is in the URL
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return "http://" + net.JoinHostPort("localhost", port)
	}
	return "http://" + p.address
}

// Token returns the secret of this start that a bearer token needs, as <user>.<secret>; empty if only this machine
// reaches the platform, where the bearer token is the user id.
func (p *Platform) Token() string { return p.token }

// Done is closed when the platform has ended, because it was stopped or because a part of it ended by itself. Stop is
// required in either case.
func (p *Platform) Done() <-chan struct{} { return p.ended }

// Err returns nil while the platform runs and after it was stopped; otherwise what ended it.
func (p *Platform) Err() error {
	select {
	case <-p.ended:
		return p.failure
	default:
		return nil
	}
}

// fail ends the platform's work with the reason.
func (p *Platform) fail(err error) { p.end(err) }

func (p *Platform) end(err error) {
	p.ending.Do(func() {
		p.failure = err
		if p.cancel != nil {
			p.cancel()
		}
		close(p.ended)
	})
}

// onStop registers a function for the platform's stop; the last registered runs first.
func (p *Platform) onStop(f func(context.Context) error) { p.closers = append(p.closers, f) }

// Stop accepts no more requests and lets running ones finish for as long as the context and a few seconds allow. It
// then stops the background work and releases all resources. Stopping again returns the first answer.
func (p *Platform) Stop(ctx context.Context) error {
	p.stopping.Do(func() {
		p.hub.close()
		p.hints.service.Close()
		var errs []error
		if p.server != nil {
			errs = append(errs, p.shutServer(ctx))
		}
		p.end(nil)
		p.work.Wait()
		for _, f := range slices.Backward(p.closers) {
			errs = append(errs, f(ctx))
		}
		if err := errors.Join(errs...); err != nil {
			p.stopped = fmt.Errorf("stop the local platform: %w", err)
		}
	})
	return p.stopped
}

// shutServer cuts off the requests that do not finish in time: a slow client is no error of the platform.
func (p *Platform) shutServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, finishBound)
	defer cancel()
	err := p.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return p.server.Close()
	}
	return err
}
