package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine describes where the figures come from, in one line: they mean nothing elsewhere.
func machine() string {
	line := fmt.Sprintf("%s, %d cores, %s", processorModel(), runtime.NumCPU(), runtime.Version())
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		if minute, _, ok := strings.Cut(string(load), " "); ok {
			line += ", load average of the last minute " + minute
		}
	}
	return line
}

func processorModel() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH + " processor, not named"
	}
	for line := range strings.Lines(string(info)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return runtime.GOARCH + " processor, not named"
}
