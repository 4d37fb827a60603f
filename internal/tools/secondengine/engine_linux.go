package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const (
	// inside is the argument with which the program runs as the engine's keeper.
	inside = "inside"
	// port is the engine's port in its own network; every other number would do.
	port = 8000
	// startBound bounds the engine's start.
	startBound = time.Minute
	ready      = "ready"
)

// unfit says why this machine cannot run the engine, or nothing.
func unfit(find func(string) (string, error)) string {
	if runtime.GOARCH != "amd64" {
		return "its library for Linux is for x86-64, this machine is " + runtime.GOARCH
	}
	if _, err := find("java"); err != nil {
		return "there is no java (17 or later)"
	}
	return ""
}

// engine is a running DynamoDB Local. It listens on all interfaces and cannot be told otherwise, so it runs in a
// network namespace that has the loopback interface alone. A socket in a folder of this user leads to it.
type engine struct {
	keeper *exec.Cmd
	hold   io.Closer // the keeper ends when this is closed
	socket string
	folder string
}

// startEngine starts the engine that is installed in a folder.
func startEngine(ctx context.Context, folder string, log io.Writer) (*engine, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	own, err := os.MkdirTemp("", "nexus-second-engine-")
	if err != nil {
		return nil, err
	}
	e := &engine{folder: own, socket: filepath.Join(own, "socket")}
	e.keeper = exec.CommandContext(ctx, self, inside, e.socket, folder)
	e.keeper.Stderr = log
	flags := uintptr(syscall.CLONE_NEWNET | syscall.CLONE_NEWPID)
	attributes := &syscall.SysProcAttr{}
	if os.Getuid() != 0 {
		flags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	attributes.Cloneflags = flags
	e.keeper.SysProcAttr = attributes
	if e.hold, err = e.keeper.StdinPipe(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(own))
	}
	out, err := e.keeper.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(own))
	}
	if err := e.keeper.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: no namespace for its network: %w", errCannotRun, err), os.RemoveAll(own))
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if strings.TrimSpace(line) != ready {
		return nil, errors.Join(fmt.Errorf("the engine does not start: %q, %w", line, err), e.stop())
	}
	return e, nil
}

// transport returns a transport whose connections lead to the engine, whatever the address.
func (e *engine) transport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", e.socket)
		},
		MaxIdleConnsPerHost: 64,
	}
}

// stop ends the engine with everything in its namespace.
func (e *engine) stop() error {
	err := e.hold.Close()
	_ = e.keeper.Wait() // it was killed, or says how the engine ended; neither matters any more
	return errors.Join(err, os.RemoveAll(e.folder))
}

// keep runs in the namespace as its first process: it starts the engine, leads connections from the socket to it, and
// ends when its input does. The namespace, and the engine with it, end with this process.
func keep(socket, folder string) error {
	if err := raiseLoopback(); err != nil {
		return fmt.Errorf("loopback interface: %w", err)
	}
	java := exec.Command("java", "-XX:-UsePerfData", "-Xmx1g",
		"-Djava.library.path="+filepath.Join(folder, "DynamoDBLocal_lib"), "-jar", filepath.Join(folder, "DynamoDBLocal.jar"),
		"-inMemory", "-sharedDb", "-port", strconv.Itoa(port))
	java.Stdout, java.Stderr = os.Stderr, os.Stderr
	if err := java.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- java.Wait() }()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := await(address, ended); err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	go serve(listener, address)
	fmt.Println(ready)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		ended <- nil
	}()
	return <-ended
}

// await returns when the engine takes connections.
func await(address string, ended <-chan error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	over := time.After(startBound)
	for {
		if connection, err := net.Dial("tcp", address); err == nil {
			return connection.Close()
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the engine ended: %w", err)
		case <-over:
			return fmt.Errorf("the engine takes no connection within %s", startBound)
		case <-tick.C:
		}
	}
}

func serve(listener net.Listener, address string) {
	for {
		outer, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			inner, err := net.Dial("tcp", address)
			if err != nil {
				_ = outer.Close()
				return
			}
			var both sync.WaitGroup
			for _, way := range [][2]net.Conn{{outer, inner}, {inner, outer}} {
				both.Go(func() {
					_, _ = io.Copy(way[0], way[1])
					_ = way[0].Close()
				})
			}
			both.Wait()
		}()
	}
}

// raiseLoopback sets the interface up, as netdevice(7) says.
func raiseLoopback() error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(socket) }()
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP}
	copy(request.name[:], "lo")
	_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS,
		uintptr(unsafe.Pointer(&request)))
	if failed != 0 {
		return failed
	}
	return nil
}
