package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// readyBound is how long a start may take on a machine that is busy with other tests; it takes tens of milliseconds.
	readyBound = 30 * time.Second
	// endBound is how long a process may take to end once it was asked to.
	endBound = 15 * time.Second
)

// launch says how to start the binary.
type launch struct {
	binary string // empty for the one under test
	args   []string
	env    []string // the whole environment
	dir    string   // working directory
}

// process is one process of the binary under test. One goroutine owns it from its start to its end.
type process struct {
	pid    int
	ready  chan string   // gets the address once
	done   chan struct{} // closed when the process has ended
	state  *os.ProcessState
	stdout journal
	stderr journal
}

// begin starts the process and ends it at the latest when the test ends.
func begin(t testing.TB, l launch) *process {
	t.Helper()
	p := &process{ready: make(chan string, 1), done: make(chan struct{})}
	started := make(chan error, 1)
	if l.binary == "" {
		l.binary = binary(t)
	}
	go p.own(l.binary, l, started)
	if err := <-started; err != nil {
		t.Fatalf("start nexus %s: %v", strings.Join(l.args, " "), err)
	}
	t.Cleanup(func() {
		defer p.complain(t)
		select {
		case <-p.done:
			return
		default:
		}
		began := time.Now()
		p.signal(t, syscall.SIGINT)
		if p.ended(endBound) {
			t.Logf("process %d ended %s after the interrupt", p.pid, time.Since(began).Round(time.Millisecond))
		} else {
			p.signal(t, syscall.SIGQUIT) // it writes what it was doing
			p.ended(endBound)
			p.signal(t, syscall.SIGKILL)
			p.ended(endBound)
			t.Errorf("process %d did not end within %s of an interrupt:\n%s", p.pid, endBound, p.stderr.ending(dumpLimit))
		}
		if t.Failed() {
			t.Logf("standard error of process %d, without level INFO:\n%s", p.pid, p.stderr.notable())
		}
	})
	return p
}

// complain fails the test if the process wrote what no process may, whatever was done to it.
func (p *process) complain(t testing.TB) {
	for _, sign := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if strings.Contains(p.stderr.text(), sign) {
			t.Errorf("%s in the standard error of process %d:\n%s", sign, p.pid, p.stderr.notable())
		}
	}
}

// errors are the lines that the process logged as errors.
func (p *process) errors() []string {
	var out []string
	for line := range strings.Lines(p.stderr.text()) {
		if strings.Contains(line, " level=ERROR ") {
			out = append(out, line)
		}
	}
	return out
}

// own starts the process and waits for its end on one system thread: the kernel takes the death of that
// thread for the death of the parent.
func (p *process) own(path string, l launch, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command := exec.Command(path, l.args...)
	command.Env, command.Dir, command.SysProcAttr = l.env, l.dir, dieWithParent()
	command.Stderr = &p.stderr
	command.WaitDelay = endBound // an output that a child of the process still holds
	stdout, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		started <- err
		return
	}
	p.pid = command.Process.Pid
	started <- nil
	p.read(stdout)
	_ = command.Wait() // how it ended is in its state
	p.state = command.ProcessState
	close(p.done)
}

func (p *process) read(stdout io.Reader) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		p.stdout.add(lines.Text() + "\n")
		if url, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			select {
			case p.ready <- url:
			default: // a second line is for the tests to complain about
			}
		}
	}
}

// address waits for the line that says where the process serves.
func (p *process) address(t testing.TB) string {
	t.Helper()
	bound := time.NewTimer(readyBound)
	defer bound.Stop()
	select {
	case url := <-p.ready:
		return url
	case <-p.done:
		t.Fatalf("process ended (%s) before it was ready:\n%s", p.state, p.stderr.text())
	case <-bound.C:
		t.Fatalf("process not ready within %s:\n%s", readyBound, p.stderr.text())
	}
	return ""
}

func (p *process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	select {
	case <-p.done:
		return // its id may be another's by now
	default:
	}
	if err := syscall.Kill(p.pid, s); err != nil && err != syscall.ESRCH {
		t.Errorf("send %s to process %d: %v", s, p.pid, err)
	}
}

// ended waits for the end and reports whether it came in time.
func (p *process) ended(bound time.Duration) bool {
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

// exit waits for the end and returns the exit code, -1 after a signal.
func (p *process) exit(t testing.TB) int {
	t.Helper()
	if !p.ended(endBound) {
		t.Fatalf("process %d still runs after %s:\n%s", p.pid, endBound, p.stderr.text())
	}
	return p.state.ExitCode()
}

// journalLimit is how much of an output is kept, in bytes.
const journalLimit = 256 << 10

// dumpLimit bounds what is printed of a process that had to be made to tell what it was doing, in bytes.
const dumpLimit = 64 << 10

// journalLines bounds the lines of it that a failed test prints.
const journalLines = 60

// journal keeps the end of what a process wrote.
type journal struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept.Write(p)
	if over := j.kept.Len() - journalLimit; over > 0 {
		j.kept.Next(over)
	}
	return len(p), nil
}

func (j *journal) add(s string) { _, _ = j.Write([]byte(s)) } // which never fails

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.kept.String()
}

// ending is the last of what was written, in at most so many bytes.
func (j *journal) ending(limit int) string {
	text := j.text()
	return text[max(0, len(text)-limit):]
}

// notable is the last of what was written, without the log of what went well.
func (j *journal) notable() string {
	var kept []string
	for line := range strings.Lines(j.text()) {
		if !strings.Contains(line, " level=INFO ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-journalLines):], "")
}

// await asks until the answer is yes, and reports whether it was before the bound.
func await(ctx context.Context, bound, every time.Duration, ask func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !ask() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ask()
		}
	}
	return true
}
