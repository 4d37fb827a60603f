package coldstart_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"time"
)

// poll is how a program asks for its first invocation: it has started then (AWS Lambda Developer Guide, "Runtime API").
const poll = "GET /2018-06-01/runtime/invocation/next "

// patience bounds one start.
const patience = 10 * time.Second

// began is the time that one start took: on the clock, and of processors.
type began struct{ clock, processor time.Duration }

// start runs the program until it asks for an invocation, and ends it there.
func start(ctx context.Context, program string, environment []string) (began, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return began{}, err
	}
	defer func() { _ = listener.Close() }() // it may be closed already
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var log bytes.Buffer
	command := exec.CommandContext(ctx, program)
	command.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + listener.Addr().String()}, environment...)
	command.Stderr = &log
	asked := make(chan asking, 1)
	at := time.Now()
	if err := command.Start(); err != nil {
		return began{}, err
	}
	go func() { asked <- firstRequest(listener) }()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait()   // it was killed, or its log says why it ended
		_ = listener.Close() // no further invocation is asked for
	}()
	request := <-asked
	_ = command.Process.Kill() // it may have ended by itself
	<-ended
	if request.conn != nil {
		defer func() { _ = request.conn.Close() }() // only now: a program whose question breaks off says so, at length
	}
	if request.err != nil || request.text != poll {
		return began{}, fmt.Errorf("start of %s: asked %q (%w):\n%s", program, request.text, request.err, &log)
	}
	return began{request.at.Sub(at), command.ProcessState.UserTime() + command.ProcessState.SystemTime()}, nil
}

// asking is the beginning of the first request.
type asking struct {
	conn net.Conn
	text string
	at   time.Time
	err  error
}

func firstRequest(listener net.Listener) asking {
	conn, err := listener.Accept()
	if err != nil {
		return asking{err: err}
	}
	text := make([]byte, len(poll))
	n, err := io.ReadFull(conn, text)
	return asking{conn, string(text[:n]), time.Now(), err}
}
