// Package bundle turns functions into deployable archives: a program for Lambda's machines, and an archive with only
// that program.
//
// It promises that the same source, built by the same version of Go, gives the same bytes in every checkout and
// environment. So a deployment replaces only what has changed. It must never put anything else into an archive: a
// function is configured by its environment alone.
package bundle

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"nexus/pkg/deploy/env"
)

// Machine is the target of a build, in Go's names.
type Machine struct{ OS, Arch string }

// Lambda returns the machine that the functions are deployed to.
func Lambda() Machine { return Machine{"linux", "arm64"} }

// Here returns this machine, for programs that run on it.
func Here() Machine { return Machine{runtime.GOOS, runtime.GOARCH} }

// Packages returns the main packages of all functions.
func Packages() []string {
	var out []string
	for _, f := range env.Functions() {
		out = append(out, "nexus/functions/"+string(f))
	}
	return out
}

// flags returns the flags of every build: no path, no revision and no build id of this checkout, and no symbols.
func flags() []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-tags", Tags}
}

// Tags leave out code that no function needs: of the Lambda library the server of a retired runtime, of net/http the
// implementation of HTTP/2. All services that a function calls support HTTP/1.1; DynamoDB and S3 support nothing else.
const Tags = "lambda.norpc,nethttpomithttp2"

// Environment returns the builder's environment, without variables that would change a program.
func (m Machine) Environment() []string {
	return append(os.Environ(),
		"GOOS="+m.OS, "GOARCH="+m.Arch, "GOARM64=v8.0", "GOAMD64=v1", "CGO_ENABLED=0",
		"GOFLAGS=-mod=readonly -buildvcs=false", "GOEXPERIMENT=", "GOWORK=off")
}

// Go returns the go command with these arguments, in the directory of a module, as a build for the machine runs it.
func (m Machine) Go(ctx context.Context, module string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = module, m.Environment()
	return command
}

// Build compiles main packages of the module in the directory for the machine; "" is the working directory. It puts
// each program into the folder, under the last element of its package's path.
func Build(ctx context.Context, module string, m Machine, folder string, packages ...string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("build into %s: %w", folder, err)
	}
	args := slices.Concat([]string{"build"}, flags(), []string{"-o", folder + string(filepath.Separator)}, packages)
	if out, err := m.Go(ctx, module, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", packages, err, bytes.TrimSpace(out))
	}
	return nil
}
