package e2e_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
)

// patience bounds every wait for a program; timeLimit is an invocation's.
const (
	patience  = 30 * time.Second
	timeLimit = 20 * time.Second
)

// runtime is Lambda's runtime API (AWS Lambda Developer Guide, "Runtime API") for one program.
type runtime struct {
	invocations chan invocation
	failed      chan failure // start of the program
	done        chan struct{}

	mu      sync.Mutex
	waiting map[string]chan<- outcome
}

type invocation struct {
	id      string
	payload []byte
	limit   time.Duration
	alias   string
}

// outcome is how an invocation ended: with a body, or with a failure.
type outcome struct {
	body    []byte
	failure *failure
}

// failure is an error as Lambda shows it to an invoker.
type failure struct {
	ErrorMessage string `json:"errorMessage"`
	ErrorType    string `json:"errorType"`
}

func newRuntime(t *testing.T) (*runtime, string) {
	t.Helper()
	r := &runtime{
		invocations: make(chan invocation), failed: make(chan failure, 1), done: make(chan struct{}),
		waiting: map[string]chan<- outcome{},
	}
	server := httptest.NewServer(r)
	t.Cleanup(func() {
		close(r.done)
		server.Close()
	})
	return r, strings.TrimPrefix(server.URL, "http://")
}

func (r *runtime) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path, ok := strings.CutPrefix(req.URL.Path, "/2018-06-01/runtime/")
	parts := strings.Split(path, "/")
	switch {
	case !ok:
		http.NotFound(w, req)
	case req.Method == http.MethodGet && path == "invocation/next":
		r.next(w, req)
	case req.Method == http.MethodPost && path == "init/error":
		f, err := readFailure(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.failed <- f
		w.WriteHeader(http.StatusAccepted)
	case req.Method == http.MethodPost && len(parts) == 3 && parts[0] == "invocation":
		r.answer(w, req, parts[1], parts[2])
	default:
		http.NotFound(w, req)
	}
}

func (r *runtime) next(w http.ResponseWriter, req *http.Request) {
	select {
	case i := <-r.invocations:
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", i.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(i.limit).UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:123456789012:function:nexus:"+i.alias)
		h.Set("Lambda-Runtime-Trace-Id", "Root=1-69a54f10-5a3c2d1e0f4b6a7988776655;Parent=0a1b2c3d4e5f6071;Sampled=0")
		h.Set("Content-Type", "application/json")
		_, _ = w.Write(i.payload) // the program may have gone
	case <-req.Context().Done(): // the program has gone
	case <-r.done:
	}
}

func (r *runtime) answer(w http.ResponseWriter, req *http.Request, id, kind string) {
	var o outcome
	switch kind {
	case "response":
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // broken off: the program has gone
		}
		o.body = body
	case "error":
		f, err := readFailure(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		o.failure = &f
	default:
		http.NotFound(w, req)
		return
	}
	r.mu.Lock()
	waiting := r.waiting[id]
	delete(r.waiting, id)
	r.mu.Unlock()
	if waiting == nil {
		http.Error(w, "no such invocation", http.StatusForbidden)
		return
	}
	waiting <- o
	w.WriteHeader(http.StatusAccepted)
}

func readFailure(body io.Reader) (failure, error) {
	var f failure
	err := json.NewDecoder(body).Decode(&f)
	return f, err
}

// function is a running program.
type function struct {
	*testing.T
	runtime *runtime
	command *exec.Cmd
	ended   chan error // what Wait returned
	out     *output    // standard output: the metrics
	log     *output    // standard error
	count   int
	limit   time.Duration // of its invocations; timeLimit if it is not set
	alias   string        // by which it is called; live if it is not set
}

// output collects the text that a program has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start runs the program with exactly this environment, and ends it with the test.
func start(t *testing.T, f env.Function, environment map[string]string) *function {
	t.Helper()
	r, address := newRuntime(t)
	fn := &function{T: t, runtime: r, ended: make(chan error, 1), out: &output{}, log: &output{}}
	fn.command = exec.Command(filepath.Join(bin, string(f)))
	fn.command.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + address}
	for name, value := range environment {
		fn.command.Env = append(fn.command.Env, name+"="+value)
	}
	fn.command.Stdout, fn.command.Stderr = fn.out, fn.log
	require.NoError(t, fn.command.Start())
	go func() { fn.ended <- fn.command.Wait() }()
	t.Cleanup(func() {
		fn.kill()
		fn.requireDiscreet()
	})
	return fn
}

// kill ends the program with SIGKILL and waits until it has gone and all it wrote has been read.
func (f *function) kill() {
	_ = f.command.Process.Kill() // it may have ended by itself
	f.ended <- <-f.ended
}

// send hands the program an invocation; the outcome comes later, or never.
func (f *function) send(payload []byte) <-chan outcome {
	f.Helper()
	answered, err := f.offer(payload)
	if err != nil {
		f.Fatalf("%v:\n%s", err, f.log)
	}
	return answered
}

// offer is send for a program that may have ended.
func (f *function) offer(payload []byte) (<-chan outcome, error) {
	f.count++
	id := fmt.Sprintf("8476a536-e9f4-11e8-9739-%012d", f.count)
	answered := make(chan outcome, 1)
	f.runtime.mu.Lock()
	f.runtime.waiting[id] = answered
	f.runtime.mu.Unlock()
	select {
	case f.runtime.invocations <- invocation{id, payload, cmp.Or(f.limit, timeLimit), cmp.Or(f.alias, "live")}:
		return answered, nil
	case err := <-f.ended:
		f.ended <- err
		return nil, fmt.Errorf("the program has ended (%w)", err)
	case <-time.After(patience):
		return nil, errors.New("the program does not ask for an invocation")
	}
}

func (f *function) invoke(payload []byte) outcome {
	f.Helper()
	select {
	case o := <-f.send(payload):
		return o
	case <-time.After(patience):
		f.Fatalf("the program does not answer:\n%s", f.log)
		return outcome{}
	}
}

// succeed invokes and returns the body.
func (f *function) succeed(payload []byte) []byte {
	f.Helper()
	o := f.invoke(payload)
	require.Nil(f, o.failure, "%+v\n%s", o.failure, f.log)
	return o.body
}

// requireCounted ends the program and requires that it counted under the metric.
func (f *function) requireCounted(name string, count int) {
	f.Helper()
	f.kill()
	require.Contains(f, f.out.String(), fmt.Sprintf("%q:%d", name, count))
}

// handled invokes a function that reads the stream and requires that every record was finished.
func (f *function) handled(payload []byte) {
	f.Helper()
	require.JSONEq(f, `{"batchItemFailures":[]}`, string(f.succeed(payload)), "%s", f.log)
}
