package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrInUse says that another live process owns the data directory.
var ErrInUse = errors.New("data directory in use")

const (
	lockFile = "engine.lock"
	// leftBehindBound bounds how long a remaining engine may take to end once it was killed.
	leftBehindBound = 5 * time.Second
	pollInterval    = 5 * time.Millisecond
)

// dataLock is the right to run an engine on a data directory. The system's lock on the file shows whether an owner is
// alive, and ends with the owner in any case. The file's content says which engine the owner ran, because the engine
// may still run.
type dataLock struct {
	file *os.File
	held holding
}

// holding is the content of the lock file.
type holding struct {
	Owner process `json:"owner"`
	// Host and Port are the engine's address; no port if none was started. They are written before the engine starts. An
	// earlier release wrote no host: see formerHost.
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
	// Engine is written once the engine has started.
	Engine *process `json:"engine,omitempty"`
}

// lockData takes the data directory and stops the engine that a killed owner left on it.
func lockData(ctx context.Context, dir string) (*dataLock, error) {
	path := filepath.Join(dir, lockFile)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &dataLock{file: file}
	if err := l.take(ctx, dir); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

func (l *dataLock) take(ctx context.Context, dir string) error {
	err := syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	before, errRead := readHolding(l.file)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%w: %s belongs to process %d (%s)", ErrInUse, dir, before.Owner.PID, before.Owner.Command)
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", l.file.Name(), err)
	}
	if errRead != nil {
		return errRead
	}
	if err := stopLeftBehind(ctx, before); err != nil {
		return err
	}
	self, err := identify(ctx, os.Getpid())
	if err != nil {
		return err
	}
	l.held = holding{Owner: self}
	return l.write()
}

// formerHost is the host of engines of a release whose lock file names none.
const formerHost = "127.0.0.1"

// announced returns the address of the holding's engine, and whether one was started.
func (h holding) announced() (address, bool) {
	return address{cmp.Or(h.Host, formerHost), h.Port}, h.Port != 0
}

// announce records the address of an engine before its start. If the owner is killed before it could record the
// process, the next owner at least has the address.
func (l *dataLock) announce(where address) error {
	l.held.Host, l.held.Port, l.held.Engine = where.host, where.port, nil
	return l.write()
}

// record records the engine's process.
func (l *dataLock) record(ctx context.Context, pid int) error {
	engine, err := identifyStarted(ctx, pid)
	if errors.Is(err, errNoProcess) {
		return nil // it has ended already; the waiting caller gets the reason
	}
	if err != nil {
		return err
	}
	l.held.Engine = &engine
	return l.write()
}

// release records that no engine is left and releases the directory. The file stays: removing it would let two owners
// hold locks on two files of the same name. Closing alone would not unlock at once: a process that is just being
// started holds a copy of every open file until it runs its own program.
func (l *dataLock) release() error {
	return errors.Join(l.file.Truncate(0), syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}

func (l *dataLock) write() error {
	content, err := json.Marshal(l.held)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	if _, err := l.file.WriteAt(content, 0); err != nil {
		return err
	}
	return l.file.Sync()
}

func readHolding(file *os.File) (holding, error) {
	content, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<16))
	if err != nil {
		return holding{}, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	var h holding
	if len(content) == 0 {
		return h, nil
	}
	if err := json.Unmarshal(content, &h); err != nil {
		// Written by halves when the machine stopped; no engine survived that.
		return holding{}, nil //nolint:nilerr // see above
	}
	return h, nil
}

// stopLeftBehind ends the engine of an owner that is dead.
func stopLeftBehind(ctx context.Context, before holding) error {
	if before.Engine == nil {
		return refuseUnknown(ctx, before)
	}
	alive, err := isRunning(ctx, *before.Engine)
	if err != nil || !alive {
		return err
	}
	found, err := os.FindProcess(before.Engine.PID)
	if err != nil {
		return fmt.Errorf("find engine left behind as process %d: %w", before.Engine.PID, err)
	}
	if err := found.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop engine left behind as process %d: %w", before.Engine.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, leftBehindBound)
	defer cancel()
	for tick := time.NewTicker(pollInterval); ; {
		if alive, err := isRunning(ctx, *before.Engine); err != nil || !alive {
			tick.Stop()
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return fmt.Errorf("engine left behind as process %d does not end: %w", before.Engine.PID, ctx.Err())
		}
	}
}

// refuseUnknown looks for an engine whose owner was killed between starting it and recording its process.
func refuseUnknown(ctx context.Context, before holding) error {
	where, any := before.announced()
	if !any {
		return nil
	}
	version, err := probe(ctx, where)
	if err != nil || version == "" {
		return nil //nolint:nilerr // nobody answers there, or no engine does: nothing was left behind
	}
	return fmt.Errorf("%w: an engine left behind listens on port %d of %s and its process is not known: stop it",
		ErrInUse, where.port, where.host)
}

// isRunning reports whether exactly this process still runs: pid, start and command line agree.
func isRunning(ctx context.Context, p process) (bool, error) {
	now, err := identify(ctx, p.PID)
	if errors.Is(err, errNoProcess) {
		return false, nil
	}
	return err == nil && now == p, err
}
