package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// errPortTaken says that the engine ended because its port was in use.
var errPortTaken = errors.New("port taken by another process")

// child is one process of the engine. One goroutine owns it from its start to its end.
type child struct {
	process *os.Process
	ready   chan struct{} // closed when the engine says that it listens
	done    chan struct{} // closed when the process has ended and its output was read

	mu      sync.Mutex
	asked   bool   // its end was requested
	last    string // the last line it wrote
	exit    error
	readied sync.Once
}

// startChild starts the binary in a separate process group, so that an interrupt at the terminal reaches only its
// owner, which then stops it in order.
func startChild(binary string, args []string, log *slog.Logger) (*child, error) {
	c := &child{ready: make(chan struct{}), done: make(chan struct{})}
	started := make(chan error, 1)
	go c.own(binary, args, log, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// own starts the process and waits for its end on one system thread. Linux sends a child a signal when the thread that
// made it ends, and that must not happen while the process runs.
func (c *child) own(binary string, args []string, log *slog.Logger, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	command := exec.Command(binary, args...)
	command.SysProcAttr = processAttributes()
	stdout, errOut := command.StdoutPipe()
	stderr, errErr := command.StderrPipe()
	err := errors.Join(errOut, errErr)
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		started <- fmt.Errorf("run %s: %w", binary, err)
		return
	}
	c.process = command.Process
	started <- nil

	var readers sync.WaitGroup
	readers.Go(func() { c.read(stdout, log) })
	readers.Go(func() { c.read(stderr, log) })
	readers.Wait() // before Wait, which closes the pipes
	exit := command.Wait()
	c.mu.Lock()
	c.exit = exit
	c.mu.Unlock()
	close(c.done)
}

// read follows one of the process's outputs. The engine writes its messages, including the one that it listens, to
// either.
func (c *child) read(from io.Reader, log *slog.Logger) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		if strings.Contains(text, "listening on") {
			c.readied.Do(func() { close(c.ready) })
		}
		c.mu.Lock()
		c.last = text
		c.mu.Unlock()
		log.Debug("engine", "line", text)
	}
	// A line too long for the scanner must not leave the engine waiting for a reader.
	_, _ = io.Copy(io.Discard, from)
}

// awaitReady waits until the process reports that it listens, and calls it once. The report comes first: on the port
// alone another engine might answer.
func (c *child) awaitReady(ctx context.Context, where address) error {
	select {
	case <-c.ready:
	case <-c.done:
		return c.failure()
	case <-ctx.Done():
		return fmt.Errorf("wait for the engine to listen: %w", ctx.Err())
	}
	version, err := probe(ctx, where)
	if err != nil {
		return err
	}
	if version == "" {
		return fmt.Errorf("port %d of %s does not answer as the engine does", where.port, where.host)
	}
	return nil
}

// probe asks the process at the address for the engine's version; it is empty if it is no engine.
func probe(ctx context.Context, where address) (version string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+where.String()+"/", nil)
	if err != nil {
		return "", err
	}
	transport := &http.Transport{DisableKeepAlives: true} // no proxy: it is this machine
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return "", fmt.Errorf("probe engine on port %d: %w", where.port, err)
	}
	defer func() { _ = answer.Body.Close() }() // nothing is read from it
	return answer.Header.Get("X-Dynoxide-Version"), nil
}

// failure says why the process ended, nil if its end was requested. It must only be called once done is closed.
func (c *child) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.asked:
		return nil
	case strings.Contains(c.last, "already in use"):
		return fmt.Errorf("%w: %s", errPortTaken, c.last)
	case c.exit == nil:
		return errors.New("engine ended by itself")
	case c.last == "":
		return fmt.Errorf("engine ended: %w", c.exit)
	}
	return fmt.Errorf("engine ended: %w: %s", c.exit, c.last)
}

// end asks the process to end, kills it after the bound, and waits. If the process had already ended by itself, its
// failure remains.
func (c *child) end(bound time.Duration) error {
	select {
	case <-c.done:
		return nil
	default:
	}
	c.mu.Lock()
	c.asked = true
	c.mu.Unlock()
	if err := c.signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-c.done:
		return nil
	case <-timer.C:
	}
	if err := c.signal(os.Kill); err != nil {
		return err
	}
	<-c.done
	return nil
}

func (c *child) signal(signal os.Signal) error {
	if err := c.process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s to engine %d: %w", signal, c.process.Pid, err)
	}
	return nil
}
