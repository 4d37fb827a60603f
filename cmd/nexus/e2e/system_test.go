package e2e_test

import (
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// system is `nexus dev` on one address, through any number of processes one after another.
type system struct {
	t      testing.TB
	binary string // empty for the one under test
	addr   string
	data   string // empty for one that keeps nothing
	args   []string

	mu      sync.Mutex
	current *process

	connects    sync.Once
	connections *http.Client // of [system.anonymous]
}

// onDirectory starts the system on the engine with its data in a directory that the test removes in the end.
func onDirectory(t testing.TB, args ...string) *system {
	t.Helper()
	s := newSystem(t)
	s.data = t.TempDir()
	s.args = append([]string{"--store", "dynamodb", "--data", s.data}, args...)
	s.start()
	return s
}

// ephemeral starts the system on the engine with data of its own.
func ephemeral(t testing.TB, args ...string) *system {
	t.Helper()
	s := newSystem(t)
	s.args = append([]string{"--store", "dynamodb", "--ephemeral"}, args...)
	s.start()
	s.data = s.info().DataDir
	return s
}

func newSystem(t testing.TB) *system {
	t.Helper()
	s := &system{t: t, addr: freeAddress(t)}
	// Registered before any process: runs when all of them have ended.
	t.Cleanup(func() {
		if s.data == "" {
			return
		}
		left := s.engines()
		for _, pid := range left {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Errorf("stop engine %d: %v", pid, err)
			}
		}
		if len(left) > 0 {
			t.Errorf("engines %v were left on %s", left, s.data)
		}
	})
	return s
}

// freeAddress returns a loopback address that stays the same through restarts, so that clients meet refused connections
// rather than nothing.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}

// start starts a process and waits until it serves.
func (s *system) start() {
	s.t.Helper()
	p := begin(s.t, launch{
		binary: s.binary,
		args:   append([]string{"dev", "--addr", s.addr, "--show-endpoint"}, s.args...),
		env:    append(os.Environ(), engineVariable(s.t)),
		dir:    s.t.TempDir(), // nothing may depend on where it is started
	})
	s.mu.Lock()
	s.current = p
	s.mu.Unlock()
	require.Equal(s.t, s.url(), p.address(s.t), "the address of the ready line")
	require.Equal(s.t, "ready "+s.url()+"\n", p.stdout.text(), "standard output")
}

func (s *system) url() string { return "http://" + s.addr }

func (s *system) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// kill ends the process as a crash does.
func (s *system) kill() {
	s.t.Helper()
	p := s.process()
	p.signal(s.t, syscall.SIGKILL)
	require.True(s.t, p.ended(endBound), "a killed process ends")
}

// interrupt ends the process as Ctrl-C does and returns how long that took.
func (s *system) interrupt() (code int, took time.Duration) {
	s.t.Helper()
	p, began := s.process(), time.Now()
	p.signal(s.t, syscall.SIGINT)
	return p.exit(s.t), time.Since(began)
}

// engines returns the engines that run on the system's data.
func (s *system) engines() []int {
	s.t.Helper()
	pids, err := enginesOn(s.data)
	require.NoError(s.t, err)
	return pids
}
