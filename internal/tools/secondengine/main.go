// Command secondengine runs tests on Amazon's DynamoDB Local instead of the local engine: make second-engine. A bridge
// makes good the differences that are known (see [differences]); one that is not known fails the run. Its arguments are
// those of go test; without a package it tests those of [packages].
//
// It promises that the engine is reachable from this program alone, and ends with it. Where it cannot run, it says
// SKIPPED and why, and its exit code is 0. It must never be part of make test: it needs Java, and the engine's license
// asks for an account with AWS.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"nexus/internal/wiretest"
	"nexus/pkg/table"
)

// packages are those whose tests are run: the built functions, the adapter of the table with the suite of its port, and
// the reader of streams.
var packages = []string{"./functions/e2e", "./pkg/table/dynamo", "./pkg/eventsource/streams"}

const (
	installer = "internal/tools/secondengine/install.sh"
	folder    = "bin/dynamodb-local"
	// endpointVariable names the endpoint to the tests: see pkg/local/engine/enginetest.
	endpointVariable = "NEXUS_TEST_ENDPOINT"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == inside {
		if err := keep(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "second-engine:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, errCannotRun) {
		fmt.Fprintln(os.Stderr, "SKIPPED: make second-engine:", err)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "second-engine:", err)
		os.Exit(1)
	}
}

// errCannotRun says that this machine does not run the engine.
var errCannotRun = errors.New("this machine cannot run DynamoDB Local")

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	if reason := unfit(exec.LookPath); reason != "" {
		return fmt.Errorf("%w: %s", errCannotRun, reason)
	}
	install := exec.CommandContext(ctx, installer)
	install.Stdout, install.Stderr = out, os.Stderr
	if err := install.Run(); err != nil {
		return fmt.Errorf("install the engine: %w", err)
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	log, err := os.CreateTemp("", "second-engine-*.log")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close(), os.Remove(log.Name())) }()
	running, err := startEngine(ctx, absolute, log)
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%w\n%s", err, text)
	}
	defer func() { err = errors.Join(err, running.stop()) }()
	return testOn(ctx, newBridge(running.transport(), service()), args, out)
}

// testOn runs the tests on what is behind the bridge, and says what that showed.
func testOn(ctx context.Context, b *bridge, args []string, out io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until it is closed
	defer func() { _ = server.Close() }()
	var printed strings.Builder
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "./") }) {
		args = append(args, packages...)
	}
	tests := exec.CommandContext(ctx, "go", append([]string{"run", "./internal/testreport", "-count=1"}, args...)...)
	tests.Env = append(os.Environ(), endpointVariable+"=http://"+listener.Addr().String())
	tests.Stdout, tests.Stderr = io.MultiWriter(out, &printed), os.Stderr
	failed := tests.Run()
	if err := ctx.Err(); err != nil {
		return err
	}
	return conclude(b, printed.String(), failed, out)
}

var countOfTests = regexp.MustCompile(`(?m)^tests: (\d+) passed, (\d+) failed, (\d+) skipped$`)

// conclude prints what the run showed. A failed test is a difference, and so is an answer that the service does not
// document.
func conclude(b *bridge, printed string, failed error, out io.Writer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := countOfTests.FindStringSubmatch(printed)
	if counts == nil {
		return errors.Join(errors.New("the tests did not report how many ran"), failed)
	}
	number := func(i int) int { n, _ := strconv.Atoi(counts[i]); return n } // digits
	found := number(2) + len(b.unknown)
	fmt.Fprintf(out, "\nDynamoDB Local\ntests run: %d, skipped: %s\ndifferences found: %d\n",
		number(1)+number(2), counts[3], found)
	for _, text := range b.unknown {
		fmt.Fprintln(out, "  not in the table of differences:", text)
	}
	fmt.Fprintln(out, "known differences, and how many requests the bridge made good:")
	for _, d := range differences() {
		times := "nothing depends on it"
		if d.bridged {
			times = strconv.Itoa(b.counts[d.name])
		}
		fmt.Fprintf(out, "  %-34s %s\n", d.name, times)
	}
	fmt.Fprintln(out, "what this engine cannot show:")
	for _, text := range hidden {
		fmt.Fprintln(out, "  "+text)
	}
	switch {
	case found > 0:
		return fmt.Errorf("%d differences that are not in the table", found)
	case number(1) == 0:
		return errors.New("no test ran")
	}
	return failed
}

// service returns the rules of the service for requests to the product's table.
func service() wiretest.Service {
	schema := table.ProductSchema()
	keys := wiretest.Table{
		KeySchema: wiretest.KeySchema{Partition: schema.PK, Sort: schema.SK}, Indexes: map[string]wiretest.KeySchema{},
	}
	for _, index := range schema.Indexes {
		keys.Indexes[string(index.Name)] = wiretest.KeySchema{Partition: index.PK, Sort: index.SK}
	}
	return wiretest.DynamoDB(keys)
}
