package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the commit that the program was built from, set by "make build".
var release string

// version says what program this is, in one line.
func version() string {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
		revision = cmp.Or(revision, info.Main.Version)
	}
	return fmt.Sprintf("nexus %s (%s, %s/%s)", cmp.Or(release, revision, "of an unknown commit"),
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
