package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process identifies one process for good. A pid alone does not: the system reuses it.
type process struct {
	PID int `json:"pid"`
	// Started is the system's own notation of the process's start, compared as text.
	Started string `json:"started"`
	// Command is the command line with its arguments.
	Command string `json:"command"`
}

// errNoProcess says that no process has the pid.
var errNoProcess = errors.New("no such process")

// identify describes the process that has the pid now.
func identify(ctx context.Context, pid int) (process, error) {
	if runtime.GOOS == "linux" {
		return identifyInProc(pid)
	}
	return identifyByPS(ctx, pid)
}

// identifyStarted describes a process that was just started. For a moment the kernel has not set up its command line
// and shows an empty one, which would not match later.
func identifyStarted(ctx context.Context, pid int) (process, error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		p, err := identify(ctx, pid)
		if err != nil || p.Command != "" {
			return p, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return process{}, fmt.Errorf("identify process %d: %w", pid, ctx.Err())
		}
	}
}

// identifyInProc reads proc(5). The start is field 22 of stat, in clock ticks since the boot, so the boot's id belongs
// to it.
func identifyInProc(pid int) (process, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := readOf(pid, dir+"/stat")
	if err != nil {
		return process{}, err
	}
	// The second field, the name, is in parentheses and may hold anything, also blanks and parentheses.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const state, start = 0, 22 - 3 // of the fields after the name, which begin with the third
	if len(fields) <= start {
		return process{}, fmt.Errorf("identify process %d: stat has %d fields after the name", pid, len(fields))
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return process{}, fmt.Errorf("%w: %d has ended", errNoProcess, pid)
	}
	command, err := readOf(pid, dir+"/cmdline")
	if err != nil {
		return process{}, err
	}
	boot, err := readOf(pid, "/proc/sys/kernel/random/boot_id")
	if err != nil {
		return process{}, err
	}
	return process{
		PID:     pid,
		Started: strings.TrimSpace(string(boot)) + "/" + fields[start],
		Command: strings.ReplaceAll(strings.TrimRight(string(command), "\x00"), "\x00", " "),
	}, nil
}

// readOf reads a file about a process. One that ends between opening and reading answers ESRCH.
func readOf(pid int, path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil, fmt.Errorf("%w: %d", errNoProcess, pid)
	}
	if err != nil {
		return nil, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return content, nil
}

// identifyByPS asks ps(1), which answers with status 1 if there is no such process.
func identifyByPS(ctx context.Context, pid int) (process, error) {
	column := func(name string) (string, error) {
		command := exec.CommandContext(ctx, "ps", "-ww", "-p", strconv.Itoa(pid), "-o", name+"=")
		command.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
		out, err := command.Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
			return "", fmt.Errorf("%w: %d", errNoProcess, pid)
		}
		if err != nil {
			return "", fmt.Errorf("identify process %d: %w", pid, err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	started, err := column("lstart")
	if err != nil {
		return process{}, err
	}
	command, err := column("command")
	if err != nil {
		return process{}, err
	}
	return process{PID: pid, Started: started, Command: command}, nil
}
