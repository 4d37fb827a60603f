// Command testreport runs go test with its arguments and adds up the result: one line for each package, the whole
// output of each failure, and the numbers of packages and tests at the end. Its exit code is that of go test.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
	}
	os.Exit(code)
}

func run(args []string, stdout, stderr io.Writer) (code int, err error) {
	command := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	command.Stderr = stderr
	events, err := command.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := command.Start(); err != nil {
		return 1, err
	}
	r := newReport(stdout)
	errRead := r.read(events)
	err = command.Wait()
	r.finish()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), errRead
	}
	if err = errors.Join(errRead, err); err != nil {
		return 1, err
	}
	return 0, nil
}
