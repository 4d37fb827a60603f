package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	// startBound bounds the time until an engine answers, once its file was checked; it takes milliseconds.
	startBound = 15 * time.Second
	// stopBound bounds the time for an engine to end before it is killed. Its file survives that.
	stopBound = 5 * time.Second
	// portAttempts bounds how often a start picks another port because a process took the one just found free.
	portAttempts = 8

	dataFile = "dynamodb.sqlite"
	// compactBound bounds how long a start or a stop works on a file that has free pages. A later one does it again.
	compactBound = time.Minute
)

// Config says which engine to start and on what.
type Config struct {
	// Binary is the path of the engine, as [Find] returns it.
	Binary string
	// DataDir contains the engine's file; it is made if it is missing. Empty means data that end with the engine: a
	// temporary directory that [Engine.Stop] removes. The engine's own memory mode is not used: its stream cannot be
	// given the index without which each write is slower than the last.
	DataDir string
	// Log receives what the engine prints. Nil discards it.
	Log *slog.Logger
}

// Engine is a running engine.
type Engine struct {
	child     *child
	where     address
	lock      *dataLock
	dir       string
	ephemeral string // the directory to remove at the end; empty if the data stay
	direct    *http.Transport
	log       *slog.Logger
	heads     struct {
		sync.Mutex
		seen map[string]headSeen // by stream
	}

	stopping sync.Once
	stopped  error
}

// Start starts the engine and returns when it answers. The context bounds the start alone, not the engine's life. It
// first stops an engine that a killed owner left on the same data. [ErrInUse] means that another live process owns the
// data, [ErrDamaged] that its file cannot be read.
func Start(ctx context.Context, config Config) (*Engine, error) {
	log := config.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{log: log}
	dir := config.DataDir
	if dir == "" {
		temporary, err := os.MkdirTemp("", "nexus-engine-")
		if err != nil {
			return nil, fmt.Errorf("directory for the engine's data: %w", err)
		}
		dir, e.ephemeral = temporary, temporary
	}
	if err := e.start(ctx, config.Binary, dir, log); err != nil {
		return nil, errors.Join(fmt.Errorf("start engine on %s: %w", dir, err), e.release())
	}
	return e, nil
}

func (e *Engine) start(ctx context.Context, binary, dir string, log *slog.Logger) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if e.lock, err = lockData(ctx, dir); err != nil {
		return err
	}
	e.dir = dir
	file := filepath.Join(dir, dataFile)
	if err := checkFile(ctx, file); err != nil {
		return err
	}
	e.compact(ctx)
	if err := hideFile(file); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := e.launch(ctx, binary, file, log)
		if err == nil {
			break
		}
		if !errors.Is(err, errPortTaken) || attempt == portAttempts {
			return err
		}
	}
	if err := addStreamIndexes(ctx, file); err != nil {
		return errors.Join(err, e.child.end(stopBound))
	}
	return nil
}

// launch makes one attempt, at one address.
func (e *Engine) launch(ctx context.Context, binary, file string, log *slog.Logger) error {
	where, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	if err := e.lock.announce(where); err != nil {
		return err
	}
	started, err := startChild(binary, []string{
		"--host", where.host, "--port", strconv.Itoa(where.port), "--db-path", file,
	}, log)
	if err != nil {
		return err
	}
	if err := e.lock.record(ctx, started.process.Pid); err != nil {
		return errors.Join(err, started.end(stopBound))
	}
	if err := started.awaitReady(ctx, where); err != nil {
		return errors.Join(err, started.end(stopBound))
	}
	e.child, e.where, e.direct = started, where, directTo(where)
	return nil
}

// Endpoint returns the base URL for other tools on this machine. It must stay secret from pages in a browser (see
// [Secluded]): put it into no answer and no log.
func (e *Engine) Endpoint() string { return "http://" + e.where.String() }

// Transport returns a new transport that connects to the engine alone, for clients that address [Internal]. Its owner
// closes its idle connections.
func (e *Engine) Transport() *http.Transport { return directTo(e.where) }

// DataDir returns the absolute path of the directory of the engine's data. Files that belong to the data, such as a
// sweeper's, go there.
func (e *Engine) DataDir() string { return e.dir }

// Done is closed when the engine has ended, for any reason.
func (e *Engine) Done() <-chan struct{} { return e.child.done }

// Err returns nil while the engine runs and after [Engine.Stop]; otherwise why it ended.
func (e *Engine) Err() error {
	select {
	case <-e.child.done:
		return e.child.failure()
	default:
		return nil
	}
}

// Stop ends the engine, waits for its end, and releases the data. When the context ends first, or after a few seconds,
// the engine is killed, which its file survives. Stopping again returns the first answer.
func (e *Engine) Stop(ctx context.Context) error {
	e.stopping.Do(func() {
		bound := stopBound
		if deadline, ok := ctx.Deadline(); ok {
			bound = min(bound, time.Until(deadline))
		}
		e.direct.CloseIdleConnections()
		ended := e.child.end(bound)
		if ended == nil && e.ephemeral == "" {
			e.compact(ctx)
		}
		e.stopped = errors.Join(ended, e.release())
	})
	return e.stopped
}

// hideFile lets no other user of the machine read the engine's file, which the engine would make for all to read. The
// files beside it get its mode.
func hideFile(file string) error {
	made, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = made.Close()
	for _, name := range []string{file, file + "-wal", file + "-shm"} {
		if errMode := os.Chmod(name, 0o600); !errors.Is(errMode, os.ErrNotExist) {
			err = errors.Join(err, errMode)
		}
	}
	return err
}

// compact compacts the file if an erasure has left something in its free pages.
func (e *Engine) compact(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, compactBound)
	defer cancel()
	if err := compact(ctx, e.dir); err != nil {
		e.log.Warn("the engine's file keeps its free pages until a later start", "error", err)
	}
}

func (e *Engine) release() error {
	var errs []error
	if e.lock != nil {
		errs = append(errs, e.lock.release())
	}
	if e.ephemeral != "" {
		errs = append(errs, os.RemoveAll(e.ephemeral))
	}
	return errors.Join(errs...)
}

// Kill ends the engine at once, as a crash would: [Engine.Err] then reports it. It is for tests of the consequences.
func (e *Engine) Kill() error { return e.child.signal(os.Kill) }
